"""What an index is known to be a multiple of."""

from __future__ import annotations

from typing import Any

from tilec.mlir import ir

from .emit import constant_of

UNKNOWN = 1
"""Nothing is known: every integer is a multiple of 1."""
ANY = 1 << 30
"""Zero is a multiple of every power of two; more than any extent."""


def multiple_of(value: Any, depth: int = 16) -> int:
    """The largest power of two, up to `ANY`, that is known to divide an index value."""
    constant = constant_of(value)
    if constant is not None:
        return min(constant & -constant, ANY) if constant else ANY
    if depth == 0:
        return UNKNOWN
    owner = value.owner
    if isinstance(owner, ir.Block):
        return _of_argument(value, owner, depth)
    operands = list(owner.operands)

    def of(i: int) -> int:
        return multiple_of(operands[i], depth - 1)

    match owner.name:
        case "arith.addi" | "arith.subi" | "arith.ori" | "arith.xori":
            return min(of(0), of(1))
        case "arith.muli":
            return min(of(0) * of(1), ANY)
        case "arith.andi":
            return max(of(0), of(1))
        case "arith.shli":
            shift = constant_of(operands[1])
            return min(of(0) << shift, ANY) if shift is not None else of(0)
        case "arith.shrui":
            shift = constant_of(operands[1])
            return max(of(0) >> shift, 1) if shift is not None else UNKNOWN
        case "arith.index_cast" | "arith.index_castui" | "arith.extui" | "arith.extsi":
            return of(0)
        case "arith.select":
            return min(of(1), of(2))
    return UNKNOWN


def _of_argument(value: Any, block: Any, depth: int) -> int:
    """Of a loop's induction variable: what divides both its start and its step."""
    parent = block.owner
    if parent.operation.name == "scf.for" and value.arg_number == 0:
        lower, _, step = list(parent.operation.operands)[:3]
        return min(multiple_of(lower, depth - 1), multiple_of(step, depth - 1))
    return UNKNOWN

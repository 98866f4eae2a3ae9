"""What an index is known to be a multiple of."""

from __future__ import annotations

from collections.abc import Mapping

from tilec.dialects.semantics.control import last_of
from tilec.ir.aliases import Value
from tilec.ir.mlir import ir, scf

from ..emit import constant_in, constant_of
from .memory_facts import ANY, memory_facts

__all__ = ["ANY", "UNKNOWN", "multiple_of"]

UNKNOWN = 1
"""Nothing is known: every integer is a multiple of 1."""


def multiple_of(value: Value, depth: int = 16, assumed: Mapping[Value, int] | None = None) -> int:
    """The largest power of two, up to `ANY`, that is known to divide an index value.

    Args:
        value: of type index.
        depth: how many ops to look back.
        assumed: what divides values that a loop carries, for now.
    """
    owner = value.owner
    if isinstance(owner, ir.Block):
        return _of_argument(ir.BlockArgument(value), depth, assumed or {}) if depth else UNKNOWN
    constant = constant_in(owner)
    if constant is not None:
        return min(constant & -constant, ANY) if constant else ANY
    if depth == 0:
        return UNKNOWN
    operands = owner.operands

    def of(i: int) -> int:
        return multiple_of(operands[i], depth - 1, assumed)

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
        case "arith.divui" | "arith.divsi" | "arith.floordivsi" | "arith.ceildivui":
            by = constant_of(operands[1])
            return _quotient(of(0), by) if by else UNKNOWN
        case "arith.remui" | "arith.remsi" | "arith.minsi" | "arith.maxsi" | "arith.minui":
            return min(of(0), of(1))
        case "arith.select":
            return min(of(1), of(2))
        case "memref.dim":
            dim = constant_of(operands[1])
            if dim is not None and 0 <= dim < ir.ShapedType(operands[0].type).rank:
                return memory_facts(operands[0]).sizes[dim]
    return UNKNOWN


def _quotient(multiple: int, by: int) -> int:
    """Of a multiple of `multiple` by a constant, if that leaves nothing over."""
    power = by & -by
    return multiple // power if abs(by) == power and multiple >= power else UNKNOWN


def _of_argument(value: ir.BlockArgument, depth: int, assumed: Mapping[Value, int]) -> int:
    """Of what a loop counts or carries."""
    loop = value.owner.owner
    if not isinstance(loop, scf.ForOp):
        return UNKNOWN
    if value in assumed:
        return assumed[value]
    number = value.arg_number
    if number == 0:  # a multiple of what divides both its start and its step
        return min(multiple_of(n, depth - 1, assumed) for n in (loop.lowerBound, loop.step))
    known = multiple_of(loop.initArgs[number - 1], depth - 1, assumed)
    last = last_of(loop.body) if len(loop.body.operations) else None
    if last is None or not isinstance(last.opview, scf.YieldOp):
        return UNKNOWN  # the loop is still being built
    carried = last.operands[number - 1]
    while True:  # as long as a round does not leave less than it began with
        left = multiple_of(carried, depth - 1, {**assumed, value: known})
        if left >= known:
            return known
        known = left

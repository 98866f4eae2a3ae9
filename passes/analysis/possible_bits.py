"""Which bits of an index may be set."""

from __future__ import annotations

from tilec.ir.aliases import Value
from tilec.ir.dimensions import dimension_of
from tilec.ir.mlir import ir

from ..emit import constant_of
from ..functions import block_size, function_around
from .multiples import multiple_of

ALL = (1 << 31) - 1
"""Bits of an index that anything asks about."""


def possible_bits(value: Value, depth: int = 16) -> int:
    """The bits, as a mask within `ALL`, that may be set in an index value that is not negative."""
    constant = constant_of(value)
    if constant is not None:
        return constant & ALL
    owner = value.owner
    if depth == 0 or isinstance(owner, ir.Block):
        return ALL & -multiple_of(value)
    operands = list(owner.operands)

    def of(i: int) -> int:
        return possible_bits(operands[i], depth - 1)

    match owner.name:
        case "gpu.thread_id":
            return _of_thread(owner)
        case "arith.andi":
            return of(0) & of(1)
        case "arith.ori" | "arith.xori":
            return of(0) | of(1)
        case "arith.addi":
            return _sum(of(0), of(1))
        case "arith.select":
            return of(1) | of(2)
        case "arith.index_cast" | "arith.index_castui" | "arith.extui":
            return of(0)
        case "arith.shli" | "arith.shrui":
            by = constant_of(operands[1])
            if by is not None:
                return (of(0) << by if owner.name == "arith.shli" else of(0) >> by) & ALL
        case "arith.muli":
            by = constant_of(operands[1])
            if by is not None and by > 0 and by & (by - 1) == 0:
                return of(0) * by & ALL
    return ALL & -multiple_of(value)


def _sum(left: int, right: int) -> int:
    """Of a sum: what carries may reach, too."""
    if not left & right:
        return left | right
    lowest = min(left & -left, right & -right)
    return (1 << (left + right).bit_length()) - lowest & ALL


def _of_thread(op: ir.OpView) -> int:
    function = function_around(op)
    size = None if function is None else block_size(function)
    if size is None:
        return ALL
    along = size[dimension_of(op)]
    return (1 << (along - 1).bit_length()) - 1

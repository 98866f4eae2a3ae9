"""What each warpgroup makes of its registers by `setmaxnreg`, as far as roles are plain.

A warpgroup is followed through the branches that its number decides; what else decides a way is not
known. PTX ISA, "setmaxnreg".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tilec.dialects.semantics import control_flow
from tilec.dialects.semantics.control import Branch
from tilec.dialects.semantics.upstream import constant_of
from tilec.dialects.tile.ops import WarpgroupIdOp
from tilec.ir.aliases import Op, Value
from tilec.ir.mlir import ir

_COMPARE = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")
"""Predicates of `arith.cmpi`, by their numbers."""
_ARITHMETIC = {
    "arith.addi": int.__add__,
    "arith.subi": int.__sub__,
    "arith.muli": int.__mul__,
    "arith.andi": int.__and__,
    "arith.ori": int.__or__,
    "arith.xori": int.__xor__,
}


@dataclass(frozen=True)
class Change:
    """A `setmaxnreg` that a warpgroup comes to.

    Attributes:
        op: it.
        registers: of each thread from there on.
        increases: whether it asks for more.
    """

    op: ir.OpView
    registers: int
    increases: bool


def changes(function: Op, group: int) -> list[Change] | None:
    """What a warpgroup comes to, in order; None where it is not known whether it does."""
    found: list[Change] = []
    known = all(_walk(block, group, found) for block in function.regions[0])
    return found if known else None


def _walk(block: ir.Block, group: int, found: list[Change]) -> bool:
    """Follow a warpgroup through a block; False where its way to a change is not known."""
    for op in block.operations:
        if op.operation.name == "nvvm.setmaxregister":
            found.append(_change(op))
        elif len(op.regions) and not _inside(op, group, found):
            return False
    return True


def _inside(op: ir.OpView, group: int, found: list[Change]) -> bool:
    if not any(_changes_in(op)):
        return True
    if not isinstance(control_flow(op), Branch):
        return False
    way = value_in(op.operands[0], group)
    if way is None:
        return False
    region = op.regions[0 if way else 1]
    return not len(region.blocks) or _walk(region.blocks[0], group, found)


def _changes_in(op: ir.OpView) -> Iterator[bool]:
    for region in op.regions:
        for block in region:
            for one in block.operations:
                yield one.operation.name == "nvvm.setmaxregister"
                yield from _changes_in(one)


def _change(op: ir.OpView) -> Change:
    count = ir.IntegerAttr(op.attributes["regCount"]).value
    return Change(op, count, "increase" in str(op.attributes["action"]))


def value_in(value: Value, group: int) -> int | None:
    """The integer that a value is in the warpgroup of a number; None if it is not known."""
    owner = value.owner
    if isinstance(owner, ir.Block):
        return None
    if isinstance(owner.opview, WarpgroupIdOp):
        return group
    constant = constant_of(value)
    if constant is not None:
        return constant
    if owner.name not in _ARITHMETIC and owner.name != "arith.cmpi":
        return None
    a, b = (value_in(operand, group) for operand in owner.operands)
    if a is None or b is None:
        return None
    if owner.name in _ARITHMETIC:
        return _ARITHMETIC[owner.name](a, b)
    return _compare(_COMPARE[ir.IntegerAttr(owner.attributes["predicate"]).value], a, b)


def _compare(predicate: str, a: int, b: int) -> int | None:
    if predicate[0] == "u" and min(a, b) < 0:
        return None
    match predicate.removeprefix("s").removeprefix("u"):
        case "lt":
            return int(a < b)
        case "le":
            return int(a <= b)
        case "gt":
            return int(a > b)
        case "ge":
            return int(a >= b)
        case "eq":
            return int(a == b)
    return int(a != b)

"""What may be taken out of a program, or made smaller: ops, regions, arguments, attributes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import islice, takewhile
from typing import TypeAlias

from tilec.dialects.tile.dialect import FragType
from tilec.dialects.tile.ops.base import TileOp
from tilec.ir.aliases import Op, Type, Value
from tilec.ir.mlir import ir
from tilec.ir.ops import arith
from tilec.passes.base import walk

Edit: TypeAlias = Callable[[ir.Module], bool]
"""Changes a module; says whether it did."""

_KEPT = frozenset({"gpu.return", "scf.yield", "scf.condition", "func.return"})
_HOLDERS = frozenset({"builtin.module", "gpu.module", "gpu.func", "func.func"})
_OF_FUNCTIONS = frozenset({"known_block_size", "known_cluster_size", "arg_attrs"})


def ops_of(module: ir.Module) -> list[ir.OpView]:
    """The ops that may go, those that use others first."""
    found = [op for op in walk(module.operation) if op.operation.name not in _KEPT]
    return found[::-1]


def without_ops(module: ir.Module, numbers: Sequence[int]) -> bool:
    """Erase ops by their numbers in `ops_of`; what uses their results gets something else."""
    ops, changed = ops_of(module), False
    for at in sorted(set(numbers)):
        if at < len(ops):
            changed |= _erase(ops[at])
    return changed


def _erase(op: ir.OpView) -> bool:
    """Erase an op; False where nothing can stand for its results."""
    if op.operation.name in _HOLDERS and op.operation.name != "gpu.func":
        return False
    if op.operation.name == "gpu.func" and len(_functions(op)) == 1:
        return False
    for result in op.results:
        if not list(result.uses):
            continue
        other = _instead(op, result)
        if other is None:
            return False
        result.replace_all_uses_with(other)
    op.operation.erase()
    return True


def _functions(op: ir.OpView) -> list[Op]:
    block = op.operation.block
    return [one for one in block.operations if one.operation.name == "gpu.func"]


def _instead(op: ir.OpView, result: Value) -> Value | None:
    """What may stand for a result: an operand or an earlier value of its type, or zero."""
    for operand in op.operands:
        if operand.type == result.type:
            return operand
    if not isinstance(result.type, (ir.MemRefType, FragType)):
        made = _zero(op, result.type)
        if made is not None:
            return made
    return next((value for value in _before(op) if value.type == result.type), None)


def _before(op: Op) -> Iterator[Value]:
    """Values that are known at an op, those of the ops around it first."""
    parent = op.operation.parent
    if parent is not None and op.operation.name not in _HOLDERS:
        yield from _before(parent.operation)
    block = op.operation.block
    if block is None:
        return
    yield from block.arguments
    for other in block.operations:
        if other.operation == op.operation:
            return
        yield from other.results


def _zero(op: ir.OpView, type_: Type) -> Value | None:
    """A constant zero before an op; None of what has none."""
    element = type_.element_type if isinstance(type_, ir.RankedTensorType) else type_
    if not isinstance(element, (ir.IntegerType, ir.IndexType, ir.FloatType)):
        return None
    with op.operation.context, ir.Location.unknown(), suppress(ValueError, ir.MLIRError):
        zero: ir.Attribute
        if isinstance(element, ir.FloatType):
            zero = ir.FloatAttr.get(element, 0.0)
        else:
            zero = ir.IntegerAttr.get(element, 0)
        if isinstance(type_, ir.RankedTensorType):
            zero = ir.DenseElementsAttr.get_splat(type_, zero)
        with ir.InsertionPoint(op.operation):
            return arith.constant(type_, zero)
    return None


def opened(module: ir.Module, number: int) -> bool:
    """Put what the loop or branch of a number holds in its place.

    Even numbers take the first region of `scf.if` and odd ones the second; of `scf.for` the round
    at the lower bound, and one that counts as the step does; of `scf.while` both regions.
    """
    found = [op for op in walk(module.operation) if op.operation.name in _OPENED]
    at, side = divmod(number, 2)
    if at >= len(found):
        return False
    op = found[at]
    regions, operands = list(op.regions), list(op.operands)
    if op.operation.name == "scf.while":
        handed = _moved_out(op, regions[0].blocks[0], operands)[1:]
        _moved_out(op, regions[1].blocks[0], handed)
    elif op.operation.name == "scf.for":
        handed = _moved_out(op, regions[0].blocks[0], [operands[2 * side], *operands[3:]])
    elif list(regions[side].blocks):
        handed = _moved_out(op, regions[side].blocks[0], [])
    else:
        return False
    if len(handed) != len(op.results):
        return False
    for result, value in zip(op.results, handed, strict=True):
        result.replace_all_uses_with(value)
    op.operation.erase()
    return True


_OPENED = ("scf.for", "scf.if", "scf.while")


def _moved_out(op: ir.OpView, block: ir.Block, given: Sequence[Value]) -> list[Value]:
    """Put the ops of a block before an op that holds it; what its last op has as operands."""
    for argument, value in zip(block.arguments, given, strict=True):
        argument.replace_all_uses_with(value)
    *inside, last = list(block.operations)
    for one in inside:
        one.operation.move_before(op.operation)
    return list(last.operands)


def without_attribute(module: ir.Module, number: int) -> bool:
    """Take off the attribute of a number, of those that an op may do without."""
    at = 0
    for op in walk(module.operation):
        for name in sorted(op.operation.attributes):
            if not _may_go(op, name):
                continue
            if at == number:
                del op.operation.attributes[name]
                return True
            at += 1
    return False


def _may_go(op: ir.OpView, name: str) -> bool:
    """Whether an op may do without an attribute; others' inherent ones are not asked about."""
    if isinstance(op, TileOp):
        return name in op.UNITS | op.OPTIONAL or "." in name
    return "." in name or (op.operation.name == "gpu.func" and name in _OF_FUNCTIONS)


def without_argument(module: ir.Module, number: int) -> bool:
    """Take the unused argument of a number off its kernel."""
    at = 0
    for op in walk(module.operation):
        if op.operation.name != "gpu.func":
            continue
        block = op.regions[0].blocks[0]
        for argument in list(block.arguments):
            if at == number:
                return _drop(op, argument)
            at += 1
    return False


def _drop(function: Op, argument: Value) -> bool:
    """Take an argument off a function, if nothing uses it."""
    if list(argument.uses):
        return False
    number = ir.BlockArgument(argument).arg_number
    attributes = function.operation.attributes
    type_ = ir.FunctionType(ir.TypeAttr(attributes["function_type"]).value)
    with function.operation.context:
        inputs = [one for at, one in enumerate(type_.inputs) if at != number]
        attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(inputs, type_.results))
        if "arg_attrs" in attributes:
            given = list(ir.ArrayAttr(attributes["arg_attrs"]))
            del given[number]
            attributes["arg_attrs"] = ir.ArrayAttr.get(given)
    function.regions[0].blocks[0].erase_argument(number)
    return True


def earlier_operand(module: ir.Module, number: int) -> bool:
    """Give an operand an earlier value of its type, so that nothing uses the later one.

    Numbers count the operands, and for each the first values that there are.
    """
    at = 0
    for op in walk(module.operation):
        for place, operand in enumerate(op.operands):
            alike = (value for value in _before(op) if value.type == operand.type)
            for first in islice(takewhile(lambda v, own=operand: v != own, alike), _TRIED):  # type: ignore[misc]
                if at == number:
                    op.operation.operands[place] = first
                    return True
                at += 1
    return False


_TRIED = 3
"""Values that are tried in place of an operand."""


def zero_operand(module: ir.Module, number: int) -> bool:
    """Give the op of a number constant zeros for its indices and other integers."""
    at = 0
    for op in walk(module.operation):
        for place, operand in enumerate(op.operands):
            if not isinstance(operand.type, (ir.IndexType, ir.IntegerType)) or _is_zero(operand):
                continue
            if at == number:
                zero = _zero(op, operand.type)
                if zero is not None:
                    op.operation.operands[place] = zero
                return zero is not None
            at += 1
    return False


def _is_zero(value: Value) -> bool:
    owner = value.owner
    if isinstance(owner, ir.Block) or owner.name != "arith.constant":
        return False
    found = owner.attributes["value"]
    # MLIR has a class of its own for integers of one bit.
    return isinstance(found, (ir.IntegerAttr, ir.BoolAttr)) and int(found.value) == 0

"""Operands and results of an op by the names that its class declares."""

from functools import partial

from tilec.ir.assembly.signature import OPERAND_SIZES, RESULT_SIZES
from tilec.ir.mlir import ext, ir


def define_operands(cls: type[ext.Operation]) -> None:
    """Let each operand be found by its place, and all results where they are a group.

    The bindings look for the sizes of groups where one of the operands stands for several, and
    an op that has but one such group carries no sizes. Where it has more, each is a tuple, too.
    """
    operands, _, results, _ = ext.partition_fields(cls._fields)
    several = [r.variadicity is not ext.Variadicity.single for r in results]
    if several == [True]:
        setattr(cls, results[0].name, property(_results))
    if sum(several) > 1:
        for number, result in enumerate(results):
            read = _sized_results if several[number] else _sized_result
            setattr(cls, result.name, property(partial(read, number=number)))
    groups = [o.variadicity is not ext.Variadicity.single for o in operands]
    if sum(groups) > 1:
        for number, operand in enumerate(operands):
            find = _sized_group if groups[number] else _sized_operand
            setattr(cls, operand.name, property(partial(find, number=number)))
        return
    if not any(groups):
        return
    first, behind = groups.index(True), len(groups) - groups.index(True) - 1
    for number, operand in enumerate(operands):
        if number == first:
            found = property(partial(_group, first=first, behind=behind))
        else:
            at = number if number < first else number - len(operands)
            found = property(partial(_operand, at=at))
        setattr(cls, operand.name, found)


def _results(op: ext.Operation) -> tuple[ir.Value, ...]:
    return tuple(op.results)


def _operand(op: ext.Operation, at: int) -> ir.Value:
    return op.operands[at]


def _part(op: ext.Operation, sizes: str, number: int) -> slice:
    """Where the values of a group are, by the attribute with the sizes of all."""
    held = list(ir.DenseI32ArrayAttr(op.attributes[sizes]))
    first = sum(held[:number])
    return slice(first, first + held[number])


def _sized_results(op: ext.Operation, number: int) -> tuple[ir.Value, ...]:
    return tuple(op.results[_part(op, RESULT_SIZES, number)])


def _sized_result(op: ext.Operation, number: int) -> ir.Value:
    (found,) = _sized_results(op, number)
    return found


def _sized_group(op: ext.Operation, number: int) -> tuple[ir.Value, ...]:
    return tuple(op.operands[_part(op, OPERAND_SIZES, number)])


def _sized_operand(op: ext.Operation, number: int) -> ir.Value:
    (found,) = _sized_group(op, number)
    return found


def _group(op: ext.Operation, first: int, behind: int) -> tuple[ir.Value, ...]:
    operands = op.operands
    return tuple(operands[first : len(operands) - behind])

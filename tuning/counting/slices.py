"""What must be computed of a kernel to know where its threads go and which addresses they use."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import tilec.sim.instructions  # noqa: F401 (declares what all are)
from tilec.sim.ptx.module import (
    Address,
    Instruction,
    Name,
    Operand,
    Pair,
    Vector,
    operand_names,
)
from tilec.sim.traits import First, Flow, Unit, traits, unit


def ends_block(instruction: Instruction) -> bool:
    """Whether threads go elsewhere from an instruction than to the next."""
    return traits(instruction).flow in (Flow.BRANCH, Flow.END)


def branches(instruction: Instruction) -> bool:
    """Whether threads go to a label from an instruction."""
    return traits(instruction).flow is Flow.BRANCH


def is_described(instruction: Instruction) -> bool:
    """Whether it is a product whose shape stands in a register, as `tcgen05.mma` has it."""
    return unit(instruction) is Unit.TENSOR and not traits(instruction).matrix


def is_settled(instruction: Instruction) -> bool:
    """Whether it is answered without a look at what it asks.

    Waits are over, and requests for the work of others are in vain.
    """
    what = traits(instruction)
    return what.waits or what.response


def written(instruction: Instruction) -> Iterator[str]:
    """Registers that an instruction writes."""
    if not instruction.operands or traits(instruction).first is First.SOURCE:
        return
    if ends_block(instruction):
        return
    first = instruction.operands[0]
    if isinstance(first, Address):
        return
    yield from operand_names((first,))


def addresses(instruction: Instruction) -> Iterator[Operand]:
    """Operands in brackets."""
    for operand in instruction.operands:
        if isinstance(operand, Address):
            yield operand


def read_to_count(instruction: Instruction) -> Iterator[str]:
    """Registers that decide where threads go from an instruction, or what it touches."""
    if instruction.guard is not None:
        yield instruction.guard
    if ends_block(instruction):
        return
    for operand in addresses(instruction):
        assert isinstance(operand, Address)
        if operand.base is not None:
            yield operand.base.text
    if is_described(instruction):
        yield from operand_names(instruction.operands[3:5])  # what its descriptor says
    if unit(instruction) is Unit.COPY and len(instruction.operands) > 2:
        yield from operand_names(instruction.operands[2:])  # bytes that are there, and who for


def sources(instruction: Instruction) -> Iterator[str]:
    """Registers that an instruction computes from."""
    yield from operand_names(instruction.operands[1:])
    if instruction.guard is not None:
        yield instruction.guard
        yield from written(instruction)  # what it leaves where the guard does not hold


def needed(
    body: Sequence[Instruction], *, to_branch: bool = False, coordinates: bool = False
) -> set[str]:
    """Registers whose values must be known: what is read to count, and all that it comes from.

    Args:
        body: the instructions of a kernel.
        to_branch: only what branches read, not what accesses do.
        coordinates: also those of boxes in tensors.
    """
    by_result: dict[str, list[Instruction]] = {}
    for one in body:
        for name in written(one):
            by_result.setdefault(name, []).append(one)
    found: set[str] = set()
    asking = [one for one in body if not to_branch or ends_block(one)]
    waiting = list(dict.fromkeys(name for one in asking for name in read_to_count(one)))
    if coordinates:
        waiting += [name for one in asking for name in operand_names(addresses(one))]
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        found.add(name)
        for one in by_result.get(name, ()):
            if not is_settled(one):
                waiting.extend(other for other in sources(one) if other not in found)
    return found


def spelling(instruction: Instruction) -> tuple[str, tuple[str, ...], int, int]:
    """What `tilec.sim.alu` knows an instruction by that has operands."""
    first, *rest = instruction.operands
    return instruction.opcode, instruction.modifiers, len(results(first)), len(rest)


def results(operand: Operand) -> list[Operand]:
    """The registers that a destination consists of."""
    match operand:
        case Pair(first=first, second=second):
            return [first, second]
        case Vector(items=items):
            return list(items)
    return [operand]


def plain_name(operand: Operand) -> str | None:
    """The register that an operand is, without a component."""
    return operand.text if isinstance(operand, Name) and not operand.component else None

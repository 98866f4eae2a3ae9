"""What must be computed of a kernel to know where its threads go and which addresses they use."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tilec.sim.ptx.module import (
    Address,
    Instruction,
    Name,
    Operand,
    Pair,
    Vector,
    operand_names,
)

LEAVING = ("ret", "exit", "trap")
TRANSFERS = ("bra", *LEAVING)
WITHOUT_RESULT = ("st", "bar", "barrier", "red", "membar", "fence", "cp", "stmatrix", "nanosleep",
                  "prefetch", "griddepcontrol", "setmaxnreg", *TRANSFERS)  # fmt: skip

SETTLED = "mbarrier"
"""What is answered without a look at what it asks: waits are over."""


def written(instruction: Instruction) -> Iterator[str]:
    """Registers that an instruction writes."""
    if instruction.opcode in WITHOUT_RESULT or not instruction.operands:
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
    if instruction.opcode in TRANSFERS:
        return
    for operand in addresses(instruction):
        assert isinstance(operand, Address)
        if operand.base is not None:
            yield operand.base.text
    if instruction.opcode == "tcgen05" and "mma" in instruction.modifiers:
        yield from operand_names(instruction.operands[3:5])  # what its descriptor says
    if instruction.opcode == "cp" and len(instruction.operands) > 2:
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
    asking = [one for one in body if not to_branch or one.opcode in TRANSFERS]
    waiting = list(dict.fromkeys(name for one in asking for name in read_to_count(one)))
    if coordinates:
        waiting += [name for one in asking for name in operand_names(addresses(one))]
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        found.add(name)
        for one in by_result.get(name, ()):
            if one.opcode != SETTLED:
                waiting.extend(other for other in sources(one) if other not in found)
    return found


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

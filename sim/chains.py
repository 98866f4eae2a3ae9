"""Chains of products: results that only the next product reads, as its addend; and runs of them.

A result of a chain need not be spread over the registers of its warps, which takes about as
long as the product itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from .ptx.module import Instruction, Name, Operand, Vector, operand_names
from .traits import Sync, traits


def chained(body: Sequence[Instruction], uses: Mapping[str, int]) -> frozenset[int]:
    """Which instructions of a block are products whose result a later one alone reads.

    Nothing else in the function names it, or the later product overwrites it, and nothing names it
    in between. Threads that come to the first together come to the second together: neither has a
    guard, and no barrier of the CTA, which lets threads go on one after the other, stands between
    them.

    Args:
        body: the block's instructions.
        uses: how often each name stands in an operand of the function.
    """
    found: set[int] = set()
    results: dict[tuple[int, tuple[str, ...]], int] = {}
    for index, instruction in enumerate(body):
        what = traits(instruction)
        if what.sync in (Sync.CTA, Sync.CLUSTER, Sync.UNKNOWN):
            results.clear()
        adds = what.product and not instruction.guard and len(instruction.operands) >= 4
        scope = id(instruction.scope)
        names = _names(instruction.operands[0]) if adds else ()
        if adds:
            addend = _names(instruction.operands[3])
            before = results.pop((scope, addend), None)
            if before is not None and (names == addend or _once(addend, uses)):
                found.add(before)
        if results:
            touched = set(operand_names(instruction.operands))
            results = {key: at for key, at in results.items() if touched.isdisjoint(key[1])}
        if names:
            results[scope, names] = index
    return frozenset(found)


def _once(names: Sequence[str], uses: Mapping[str, int]) -> bool:
    """Whether registers are written once, and read once."""
    return all(uses[name] == 2 for name in names)


AT_ONCE = 8
"""Products that several threads compute in less time than one."""


class Runs(NamedTuple):
    """Products of a block that others may compute while the block goes on.

    Attributes:
        queued: which instructions they are.
        settled: instructions after which the results of all before have to be there.
    """

    queued: frozenset[int]
    settled: frozenset[int]


NO_RUNS = Runs(frozenset(), frozenset())


def runs(body: Sequence[Instruction]) -> Runs:
    """Products that follow each other, with copies to shared memory and loads of matrices between.

    None of these touches what a product of the run writes, but for products that add to all of a
    result; and no product has a guard.

    Args:
        body: the block's instructions.
    """
    queued, settled = set[int](), set[int]()
    run: list[int] = []
    results: set[tuple[str, ...]] = set()
    written: set[str] = set()

    def close(index: int) -> None:
        if len(run) >= AT_ONCE:
            queued.update(run)
            settled.add(index - 1)
        run.clear()
        results.clear()
        written.clear()

    for index, instruction in enumerate(body):
        operands = instruction.operands
        if traits(instruction).product and not instruction.guard and len(operands) >= 4:
            touched = {*operand_names((*operands[1:3], *operands[4:]))}
            for operand in (operands[0], operands[3]):
                if _names(operand) not in results:
                    touched.update(operand_names((operand,)))
            if not written.isdisjoint(touched):
                close(index)
            run.append(index)
            if result := _names(operands[0]):
                results.add(result)
            written.update(operand_names(operands[:1]))
        elif not _passes(instruction) or not written.isdisjoint(operand_names(operands)):
            close(index)
    close(len(body))
    return Runs(frozenset(queued), frozenset(settled))


def _passes(instruction: Instruction) -> bool:
    """Whether an instruction touches no registers but those that its operands name."""
    words = instruction.modifiers
    if instruction.opcode == "cp":
        return words[:1] == ("async",) and not {"bulk", "mbarrier"} & set(words)
    return instruction.opcode == "ldmatrix"


def _names(operand: Operand) -> tuple[str, ...]:
    """The registers of an operand; none if it has anything else."""
    items = operand.items if isinstance(operand, Vector) else (operand,)
    names = tuple(item.text for item in items if isinstance(item, Name) and not item.component)
    return names if len(names) == len(items) else ()

"""Chains of products: results that only the next product reads, as its addend; and runs of them.

A result of a chain need not be spread over the registers of its warps, which takes about as
long as the product itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .ptx.module import Instruction, Name, Operand, Vector, operand_names
from .traits import Sync, traits


def chained(body: Sequence[Instruction], uses: Mapping[str, int]) -> frozenset[int]:
    """Which instructions of a block are products whose result a later one alone reads.

    Threads that come to the first together come to the second together: neither has a guard, and
    no barrier of the CTA, which lets threads go on one after the other, stands between them.

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
        if not what.product or instruction.guard or len(instruction.operands) < 4:
            continue
        scope = id(instruction.scope)
        before = results.pop((scope, _names(instruction.operands[3])), None)
        if before is not None:
            found.add(before)
        names = _names(instruction.operands[0])
        if names and all(uses[name] == 2 for name in names):
            results[scope, names] = index
    return frozenset(found)


AT_ONCE = 8
"""Products that several threads compute in less time than one."""


def together(body: Sequence[Instruction]) -> frozenset[int]:
    """Which instructions of a block are products that another follows, in runs of `AT_ONCE`.

    None of a run reads what another of it writes, and none has a guard.

    Args:
        body: the block's instructions.
    """
    found: set[int] = set()
    run: list[int] = []
    written: set[str] = set()

    def close() -> None:
        if len(run) >= AT_ONCE:
            found.update(run[:-1])
        run.clear()
        written.clear()

    for index, instruction in enumerate(body):
        if not traits(instruction).product or instruction.guard or not instruction.operands:
            close()
            continue
        if not written.isdisjoint(operand_names(instruction.operands[1:])):
            close()
        run.append(index)
        written.update(operand_names(instruction.operands[:1]))
    close()
    return frozenset(found)


def _names(operand: Operand) -> tuple[str, ...]:
    """The registers of an operand; none if it has anything else."""
    items = operand.items if isinstance(operand, Vector) else (operand,)
    names = tuple(item.text for item in items if isinstance(item, Name) and not item.component)
    return names if len(names) == len(items) else ()

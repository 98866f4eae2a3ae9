"""How many registers a thread takes, estimated from PTX: the most that live at one place.

ptxas decides. It loads fragments from shared memory shortly before they are used, and keeps
addresses as offsets of few registers; so fragments count from their first use on, and addresses not
at all, but for a number of registers that they take in most kernels. What is found here is an
estimate, for where nobody asks ptxas: `pytest -m slow test/unit/tuning/test_registers.py`
compares both.
"""

from __future__ import annotations

from collections.abc import Sequence

from tilec.isa import Target
from tilec.isa.types import TYPE_BITS
from tilec.sim.ptx.module import Function, Instruction, operand_names
from tilec.sim.traits import First, Flow, Unit, traits, unit

from .counting.slices import sources, written

MOST = 255
"""Registers of a thread, at most (CUDA Programming Guide, "Compute Capabilities")."""
_UNIT = 8
"""Registers are given to a thread by so many (cuda_occupancy.h)."""
_RESERVED = 34
"""For addresses, counters and what PTX does not show: about the mean of what ptxas takes beyond the
most that lives, for candidates of `benchmarks/tuned_gemm.py`. Nothing else was fitted."""

_NOT_DATA = frozenset(("pred", "b64", "s64", "u64"))
"""Types of registers that hold conditions and addresses; f64 is data."""


def estimate_registers(function: Function, threads: int, target: Target) -> int:
    """Registers that ptxas is likely to give to a thread of a kernel; more than 255 if it spills.

    Args:
        function: the kernel.
        threads: of a CTA, which ptxas knows.
        target: the GPU.
    """
    body = function.body or ()
    if any(one.opcode == "setmaxnreg" for one in body):
        return most_registers(threads, target)  # which roles then deal out
    needed = _most_alive(body) + _RESERVED
    return -(-needed // _UNIT) * _UNIT


def most_registers(threads: int, target: Target) -> int:
    """Registers that a thread can have in a CTA of so many threads."""
    return min(MOST, target.registers_per_sm // threads // _UNIT * _UNIT)


def _most_alive(body: Sequence[Instruction]) -> int:
    """The most 32-bit registers that hold at one place what is still read."""
    numbers: dict[tuple[int, str], int] = {}
    weights: list[int] = []
    uses: list[int] = []
    kills: list[int] = []
    for one in body:
        uses.append(_bits(_read(one), one, numbers, weights))
        sure = () if one.guard is not None else tuple(written(one))
        kills.append(_bits(sure, one, numbers, weights))
    starts = _starts(body)
    ends = [*starts[1:], len(body)]
    _load_late(body, starts, ends, uses, kills)
    inputs = dict.fromkeys(starts, 0)
    outputs = dict.fromkeys(starts, 0)
    after = {start: _after(body, end) for start, end in zip(starts, ends, strict=True)}
    changed = True
    while changed:
        changed = False
        for start, end in zip(reversed(starts), reversed(ends), strict=True):
            alive = 0
            for at in after[start]:
                alive |= inputs.get(at, 0)
            outputs[start] = alive
            for at in range(end - 1, start - 1, -1):
                alive = (alive & ~kills[at]) | uses[at]
            if alive != inputs[start]:
                inputs[start], changed = alive, True
    of_weight = {
        weight: sum(1 << n for n, one in enumerate(weights) if one == weight)
        for weight in set(weights)
    }
    most = 0
    for start, end in zip(starts, ends, strict=True):
        alive = outputs[start]
        for at in range(end - 1, start - 1, -1):
            alive = (alive & ~kills[at]) | uses[at]
            held = sum(w * (alive & bits).bit_count() for w, bits in of_weight.items())
            most = max(most, held)
    return most


def _load_late(
    body: Sequence[Instruction],
    starts: Sequence[int],
    ends: Sequence[int],
    uses: list[int],
    kills: list[int],
) -> None:
    """Let what is loaded from shared memory live from its first use in the block on."""
    for start, end in zip(starts, ends, strict=True):
        loaded = 0
        for at in range(start, end):
            first = loaded & uses[at]
            if first:  # as if the instruction loaded it itself
                uses[at] &= ~first
                kills[at] |= first
                loaded &= ~first
            if unit(body[at]) is Unit.SHARED and body[at].guard is None:
                loaded |= kills[at]
            else:
                loaded &= ~kills[at]


def _read(one: Instruction) -> tuple[str, ...]:
    """Registers that an instruction reads."""
    first = traits(one).first
    names = () if first is First.RESULT and tuple(written(one)) else operand_names(one.operands[:1])
    return (*names, *sources(one))


def _bits(
    names: Sequence[str],
    one: Instruction,
    numbers: dict[tuple[int, str], int],
    weights: list[int],
) -> int:
    """Registers among names, as bits of a number."""
    found = 0
    for name in names:
        declared = one.scope.register(name)
        if declared is None or declared[1].type in _NOT_DATA:
            continue
        key = id(declared[0]), name
        if key not in numbers:
            numbers[key] = len(weights)
            weights.append(-(-TYPE_BITS[declared[1].type] * declared[1].vector // 32))
        found |= 1 << numbers[key]
    return found


def _starts(body: Sequence[Instruction]) -> list[int]:
    """First instructions of the blocks."""
    found = {0}
    for at, one in enumerate(body):
        if traits(one).flow in {Flow.BRANCH, Flow.END}:
            found.update((at + 1, *_labelled(one)))
    return sorted(at for at in found if at < len(body))


def _after(body: Sequence[Instruction], end: int) -> list[int]:
    """Blocks that may come after one."""
    last = body[end - 1]
    ends = traits(last).flow in {Flow.BRANCH, Flow.END} and last.guard is None
    return [*_labelled(last), *(() if ends else (end,))]


def _labelled(one: Instruction) -> list[int]:
    """Where a branch may lead."""
    found = (one.scope.label(label) for label in traits(one).labels)
    return [at for at in found if at is not None]

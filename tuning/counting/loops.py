"""Rounds of a loop that need not be walked, since they go as those before them went.

A period is some rounds of a loop after which all that decides where threads go has changed by as
much as in the period before. Threads then go the same way until a comparison comes out otherwise;
how many periods that takes follows from how far its operands are apart, and how fast they move. A
number that is neither added to nor compared, such as a remainder, must not change from period to
period, nor what it is computed from.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from tilec.isa.types import TYPE_BITS
from tilec.sim import alu
from tilec.sim.alu import Moves
from tilec.sim.ptx.module import Instruction, Name, Operand

from .slices import sources, spelling, written
from .values import Registers, Value

_LONGEST = 8
"""Rounds of a period, at most: of a ring of so many buffers."""
_BEFORE = 2
"""Periods before a comparison comes out otherwise that are walked again: an operand may be of the
round before."""
Groups = Mapping[int, "Value | None"]


class _Visit(NamedTuple):
    """The beginning of a round.

    Attributes:
        path: a hash of the blocks that were walked since the last.
        groups: threads by place.
        values: of registers that decide.
        counted: what the walk has counted.
    """

    path: int
    groups: Groups
    values: dict[str, Value | None]
    counted: Any


class Skip(NamedTuple):
    """Periods to leave out.

    Attributes:
        times: how many.
        before: what was counted where the last period began.
        now: whether they were left out, or will be after a round that stands for them.
    """

    times: int
    before: Any
    now: bool


class Loops:
    """The loops that threads are in.

    Args:
        registers: of the walked threads.
        body: the instructions.
        decide: registers that decide where threads go.
        tally: gives what is counted so far.
    """

    def __init__(
        self,
        registers: Registers,
        body: Sequence[Instruction],
        decide: set[str],
        tally: Callable[[], Any],
    ) -> None:
        self._registers, self._tally = registers, tally
        steps = [one for one in body if not decide.isdisjoint(written(one))]
        self._names = sorted(decide)
        self._compared = [one for one in steps if _moves(one) is Moves.BY_COMPARISON]
        exact = [one for one in steps if _moves(one) is Moves.FREELY]
        self._exact = {name for one in exact for name in sources(one)}
        self._visits: dict[int, list[_Visit]] = {}
        self._paths: dict[int, int] = {}
        self._announced: set[int] = set()

    def follow(self, *what: float) -> None:
        """Note that a block was walked, or left out, and by how many."""
        for header, path in self._paths.items():
            self._paths[header] = hash((path, what))

    def returned(self, header: int, groups: Groups, known: bool) -> Skip | None:
        """Threads are at the beginning of a loop again; the periods that can be left out.

        Args:
            header: the place of its first block in the order of blocks.
            groups: all threads by place.
            known: whether what a round does was seen often enough.
        """
        for inner in [one for one in self._visits if one > header]:
            del self._visits[inner], self._paths[inner]
            self._announced.discard(inner)
        if not known:
            return None
        values = {name: self._registers.known.get(name) for name in self._names}
        visits = self._visits.setdefault(header, [])
        visits.append(_Visit(self._paths.get(header, 0), groups, values, self._tally()))
        self._paths[header] = 0
        del visits[: -2 * _LONGEST - 1]
        for length in range(1, (len(visits) - 1) // 2 + 1):
            moved = self._moved(visits, length)
            times = 0 if moved is None else self._times(moved)
            if moved is None or times < 1:
                continue
            before = visits[-1 - length].counted
            if header not in self._announced:
                self._announced.add(header)
                return Skip(times, before, now=False)
            self._move(moved, times)
            visits.clear()
            self._announced.discard(header)
            return Skip(times, before, now=True)
        return None

    def _moved(self, visits: Sequence[_Visit], length: int) -> dict[str, Value] | None:
        """What a period of a length adds to registers; None if it is none."""
        paths = [one.path for one in visits[-2 * length :]]
        if paths[:length] != paths[length:]:
            return None
        first, middle, last = (visits[-1 - back * length] for back in (2, 1, 0))
        if not all(_same_groups(one.groups, last.groups) for one in (first, middle)):
            return None
        moved: dict[str, Value] = {}
        for name, value in last.values.items():
            before, earlier = middle.values[name], first.values[name]
            if value is before and before is earlier:
                continue
            if value is None or before is None or earlier is None:
                return None
            if value.dtype.kind in "bf" or name in self._exact:
                if not (_equal(value, before) and _equal(before, earlier)):
                    return None
                continue
            step = value - before
            if not _equal(step, before - earlier):
                return None
            if step.any():
                moved[name] = step
        return moved

    def _times(self, moved: Mapping[str, Value]) -> int:
        """Periods in which all comparisons come out as they do now; 0 if that is for ever."""
        times = min((self._until(one, moved) for one in self._compared), default=_NEVER)
        return 0 if times >= _NEVER else times

    def _move(self, moved: Mapping[str, Value], times: int) -> None:
        """Let registers be as they are after so many periods."""
        known = self._registers.known
        for name, step in moved.items():
            known[name] = known[name] + step * np.array(times).astype(step.dtype)

    def _until(self, one: Instruction, moved: Mapping[str, Value]) -> int:
        """Periods in which a comparison comes out as it does now."""
        rest = [_name(operand) for operand in one.operands[1:]]
        if not any(name in moved for name in rest):
            return _NEVER
        kind = one.modifiers[-1]
        if kind[0] not in "bsu" or not kind[1:].isdigit():
            return 0
        bits = TYPE_BITS[kind]
        a, b = (self._registers.reader(operand, bits)() for operand in one.operands[1:3])
        if a is None or b is None:
            return 0
        steps = [_signed(moved[name]) if name in moved else 0 for name in rest[:2]]
        signed = kind[0] == "s"
        values = [_wide(value, bits, signed) for value in (a, b)]
        least, most = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
        times = _NEVER
        for value, step in zip(values, steps, strict=True):
            times = min(times, _reach(np.float64(most) - value, step))
            times = min(times, _reach(value - np.float64(least), -step))
        apart, faster = np.broadcast_arrays(values[0] - values[1], steps[0] - steps[1])
        if (np.sign(apart) != np.sign(apart - faster)).any():
            return 0  # it came out otherwise in the last period, or may have
        return min(times, _reach(np.abs(apart), np.where(apart > 0, -faster, faster)))


_NEVER = 1 << 40


def _moves(one: Instruction) -> Moves:
    """How results move.

    What is not arithmetic on a lane's own registers is unknown, the same in all rounds, as what a
    wait answers, or taken over as it is.
    """
    try:
        return alu.moves(*spelling(one))
    except alu.Unsupported:
        return Moves.EVENLY


def _reach(far: Any, step: Any) -> int:
    """Periods until a distance is gone, by the least of all threads."""
    far, step = np.broadcast_arrays(np.asarray(far, np.float64), np.asarray(step, np.float64))
    nearing = step > 0
    if not nearing.any():
        return _NEVER
    return max(int(np.ceil((far[nearing] / step[nearing]).min())) - _BEFORE, 0)


def _wide(value: Value, bits: int, signed: bool) -> Value:
    """Values as numbers that can be subtracted."""
    if signed:
        value = value.view(np.dtype(f"i{bits // 8}"))
    return value.astype(np.float64)


def _signed(step: Value) -> Value:
    return step.view(np.dtype(f"i{step.dtype.itemsize}")).astype(np.float64)


def _name(operand: Operand) -> str:
    return operand.text if isinstance(operand, Name) else ""


def _equal(a: Value, b: Value) -> bool:
    return bool((a == b).all())


def _same_groups(a: Groups, b: Groups) -> bool:
    if a.keys() != b.keys():
        return False
    for at, mask in a.items():
        other = b[at]
        if mask is None or other is None:
            if mask is not other:
                return False
        elif mask.shape != other.shape or not (mask == other).all():
            return False
    return True

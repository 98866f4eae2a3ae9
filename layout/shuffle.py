"""Conversions within a warp by `shfl`: which words go in which round.

Each register of the result in each lane comes from a register in some lane; the map is linear.
In a round every lane can read one lane, and every lane sends but one word, so lanes that read
the same lane must want the same word. Which register a lane fills in a round may depend on the
lane, and so can be chosen such that each round reads a permutation of the lanes; that this can
always be done is a matter of dimensions. ("Linear Layouts", arXiv 2505.23819, "Warp Shuffles".)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from .access import WORD_BITS
from .gf2 import Echelon, combine
from .linear import LinearLayout
from .plans import Shuffles


class _Source(NamedTuple):
    """Where something comes from, as sums of bits.

    Attributes:
        lane: the lane it is read from.
        register: the register of that lane.
        filled: the register of the result it goes to.
    """

    lane: int
    register: int
    filled: int = 0

    def __xor__(self, other: _Source) -> _Source:
        return _Source(
            self.lane ^ other.lane, self.register ^ other.register, self.filled ^ other.filled
        )

    def changed(self, selector: int, free: Sequence[_Source]) -> _Source:
        """The sum with the selected ones of `free`."""
        total = self
        for i, change in enumerate(free):
            if selector >> i & 1:
                total ^= change
        return total


class _Within:
    """Indices of the source within one warp that hold given places."""

    def __init__(self, source: LinearLayout) -> None:
        self.registers = source.columns_of("register")
        self.low = len(self.registers)
        self.here = Echelon(self.registers)
        self.anywhere = Echelon([*self.registers, *source.columns_of("lane")])

    def find(self, place: int) -> _Source | None:
        """Who holds a place: the same lane if it does, else another."""
        found = self.here.solve(place)
        if found is None:
            found = self.anywhere.solve(place)
        return None if found is None else self.split(found)

    def split(self, index: int) -> _Source:
        """An index in the order (register, lane)."""
        return _Source(index >> self.low, index % (1 << self.low))


def copies_of(result: LinearLayout, filled: Sequence[int]) -> LinearLayout:
    """Register of the result -> the one among those spanned by `filled` that holds the same."""
    registers = result.columns_of("register")
    echelon = Echelon(combine(f, registers) for f in filled)
    columns = tuple(combine(echelon.solve(c) or 0, filled) for c in registers)
    dims = (("register", len(registers)),)
    return LinearLayout(dims, dims, columns)


def shuffles(source: LinearLayout, result: LinearLayout, bits: int) -> list[Shuffles]:
    """The ways found to convert by shuffles; none if a warp wants what another holds.

    Args:
        source: (register, lane, …) -> place.
        result: the same inputs but for the number of registers, the same outputs.
        bits: bits of an element.
    """
    within = _Within(source)
    wanted = result.columns_of("register")
    distinct = Echelon()
    filled = [1 << bit for bit, column in enumerate(wanted) if distinct.add(column)]

    # Elements that a lane can pack into one word, because they come from one lane.
    unit: list[_Source] = []
    while len(unit) < len(filled) and bits << len(unit) < WORD_BITS:
        here = within.here.solve(wanted[len(unit)])
        if filled[len(unit)] != 1 << len(unit) or here is None:
            break
        unit.append(_Source(0, here))
    rounds = filled[len(unit) :]

    others = [name for name, _ in source.ins if name not in ("register", "lane")]
    by_round = [within.find(combine(f, wanted)) for f in rounds]
    by_lane = [within.find(place) for place in result.columns_of("lane")]
    by_warp = [
        within.find(mine ^ its)
        for name in others
        for mine, its in zip(result.columns_of(name), source.columns_of(name), strict=True)
    ]
    words = [w for w in by_round if w]
    lanes = [lane for lane in by_lane if lane]
    warps = [w for w in by_warp if w]
    if len(words) + len(lanes) + len(warps) < len(by_round) + len(by_lane) + len(by_warp):
        return []
    words = [_Source(w.lane, w.register, f) for w, f in zip(words, rounds, strict=True)]
    free = [*words, *(within.split(index) for index in within.anywhere.kernel)]

    dims = tuple((name, bit) for name, bit in source.ins if name in others)
    inputs = (("round", len(rounds)), ("lane", len(lanes)), *dims)
    elements = (("element", len(unit)), *inputs)
    plans = []
    for chosen in _permutations(lanes, free):
        # From the lane that sends to what the lane that reads it adds to the register.
        units = [1 << bit for bit in range(len(lanes))]
        reading = Echelon([*(c.lane for c in chosen), *units])
        extra = [combine(reading.solve(u) or 0, [c.register for c in chosen]) for u in units]
        sending = [w.register ^ combine(w.lane, extra) for w in (*words, *warps)]
        send = [u.register for u in unit]
        send += [*sending[: len(words)], *extra, *sending[len(words) :]]
        receive = [1 << bit for bit in range(len(unit))]
        receive += [*rounds, *(c.filled for c in chosen), *(0 for _ in warps)]
        read = [s.lane for s in (*words, *chosen, *warps)]
        plans.append(
            Shuffles(
                bits=bits,
                send=LinearLayout(elements, (("register", within.low),), tuple(send)),
                read=LinearLayout(inputs, (("lane", len(lanes)),), tuple(read)),
                receive=LinearLayout(elements, (("register", len(wanted)),), tuple(receive)),
                copies=copies_of(result, filled),
            )
        )
    return plans


def _permutations(lanes: Sequence[_Source], free: Sequence[_Source]) -> Iterator[list[_Source]]:
    """For each bit of the lane a source, so that lanes read a permutation of the lanes.

    Sources may be changed by any sum of the free ones: by going to another register of the
    result, or by taking a copy. First the identity, so that rounds are butterflies, if there
    is one; then a permutation that changes as few as possible, if that is another.
    """
    spanned = Echelon(f.lane for f in free)

    changes = [spanned.solve(source.lane ^ 1 << bit) for bit, source in enumerate(lanes)]
    complete = [
        source.changed(change, free)
        for source, change in zip(lanes, changes, strict=True)
        if change is not None
    ]
    if len(complete) == len(lanes):
        yield complete

    outside = Echelon(source.lane for source in lanes)
    spread = [f for f in free if outside.add(f.lane)]
    reached = Echelon()
    least: list[_Source] = []
    for source in lanes:
        if reached.add(source.lane):
            least.append(source)
        elif spread:
            least.append(source ^ spread.pop(0))
        elif agreed := _agreeing(source, least, free):
            least.append(agreed)
        else:
            return
    if least != complete:
        yield least


def _agreeing(
    source: _Source, others: Sequence[_Source], free: Sequence[_Source]
) -> _Source | None:
    """The source changed to want of its lane the register that others already want of it."""
    selector = Echelon(o.lane for o in others).solve(source.lane) or 0
    wanted = combine(selector, [o.register for o in others]) ^ source.register
    width = max([0, *(f.lane.bit_length() for f in free)])
    changes = Echelon(f.register << width | f.lane for f in free).solve(wanted << width)
    return None if changes is None else source.changed(changes, free)

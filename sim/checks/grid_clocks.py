"""What CTAs know of each other's progress: by release and acquire, at places of global memory.

PTX ISA, "Memory Consistency Model": a release at a place, or a fence and then a strong write there,
synchronises with an acquire, or a strong read and then a fence, that finds it. What is published is
a clock: of every warp of the grid the time up to which what it did comes before. A warp learns a
clock at an acquire, and others of its CTA know it once they have seen that moment (`clocks`).

More is taken for ordered than strictly is, and nothing less: a fence of one warp serves others that
have synchronised with it, a place keeps what was ever published there, and who meet at a place in
one instruction see each other's. So a race may be missed; none is made up.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..access import Access
from ..alu import Array
from ..memory import Allocation
from ..ptx.module import Instruction
from ..wave import Wave
from .progress import Progress
from .semantics import Reach, semantics

PLACES_BYTES = 64 << 20
"""Bytes of what is published; beyond them, and for more places at once than `_AT_ONCE`, an
allocation counts as one place."""
_AT_ONCE = 4096
_LESSONS = 32
"""Clocks that the warps of a CTA have learned and that are told apart."""
_EVERYONE = -1


@dataclass(slots=True, eq=False)
class Lesson:
    """A clock that a warp has learned.

    Attributes:
        warp: the warp within its CTA; `_EVERYONE` if it no longer matters.
        time: when.
        known: of each warp of the grid the time up to which it is seen, (warps of the grid,).
    """

    warp: int
    time: int
    known: Array


@dataclass(frozen=True, slots=True)
class Moment:
    """When something happens.

    Attributes:
        now: the time of each CTA, or of all, (CTAs,) or (1,).
        seen: what each warp has seen of those of its CTA, (CTAs or 1, warps, warps).
    """

    now: Array
    seen: Array


class GridClocks:
    """What the CTAs of a launch have published, and those of a wave have learned."""

    def __init__(self, wave: Wave, progress: Progress) -> None:
        self.wave = wave
        self.progress = progress
        self._warps = wave.geometry.ctas * wave.geometry.warps
        self._places: dict[int, Array] = {}

    def begin(self) -> None:
        """Begin a wave."""
        ctas, warps, _ = self.wave.shape
        self._fenced = np.zeros((ctas, warps), np.int64)
        self._learned: dict[int, list[Lesson]] = {}
        self._read: dict[int, list[Lesson]] = {}

    def forget(self) -> None:
        """Forget what was published."""
        self._places.clear()

    @property
    def told(self) -> bool:
        """Whether any CTA has published anything."""
        return bool(self._places)

    @property
    def silent(self) -> bool:
        """Whether no CTA of the wave has learned anything."""
        return not self._learned

    @property
    def bytes(self) -> int:
        """What is kept of it."""
        lessons = sum(map(len, (*self._learned.values(), *self._read.values())))
        return 8 * self._warps * (len(self._places) + lessons)

    def moment(self) -> Moment:
        """The present."""
        clocks, past = self.progress.clocks, self.progress.past
        return Moment(clocks.now + past, clocks.seen + past)

    def of_clusters(self) -> Array:
        """What each warp has seen of those of its cluster, (CTAs, warps, warps of a cluster)."""
        return np.asarray(self.progress.clocks.known + self.progress.past)

    # What the instructions do

    def fence(self) -> None:
        """The active threads execute a fence that reaches other CTAs."""
        active = self._active_warps(self.wave.mask)
        moment = self.moment()
        done = _own(moment, active.shape)
        self._fenced = np.maximum(self._fenced, np.where(active[:, :, None], done, 0).max(axis=1))
        for cta, lessons in self._read.items():
            for warp in np.flatnonzero(active[cta]).tolist():
                for lesson in _known_to(lessons, warp, moment, cta):
                    self._learn(self._learned, cta, warp, moment, lesson.known)

    def access(
        self,
        instruction: Instruction,
        allocation: Allocation | None,
        offsets: Array,
        mask: Array | None,
        kind: Access,
    ) -> None:
        """Threads take part in synchronisation at places of global memory."""
        means = semantics(instruction)
        publishes = kind.writes and (means.releases or bool(self._fenced.any()))
        if means.reach is not Reach.GRID or not (publishes or (kind.reads and self._places)):
            return
        meetings = self._meetings(allocation, offsets, mask)
        moment = self.moment()
        if publishes:
            self._publish(meetings, moment, released=means.releases)
        if kind.reads:
            to = self._learned if means.acquires else self._read
            for place, cta, warp in meetings:
                known = self._places.get(place)
                if known is not None:
                    self._learn(to, cta, warp, moment, known)

    def _meetings(
        self, allocation: Allocation | None, offsets: Array, mask: Array | None
    ) -> list[tuple[int, int, int]]:
        """Places, and the CTAs of the wave and their warps that come there."""
        active = self.wave.active() if mask is None else np.broadcast_to(mask, self.wave.shape)
        ctas, warps, _ = np.nonzero(active)
        places = np.broadcast_to(offsets, self.wave.shape)[active]
        found = np.unique(np.stack([places, ctas, warps]), axis=1)
        start = 0 if allocation is None else allocation.start
        full = len(self._places) * self._warps * 8 > PLACES_BYTES
        if found.shape[1] > _AT_ONCE or full or ~start in self._places:
            # The allocation as a whole; what was published at one place of it counts for all.
            for place in [p for p in self._places if p >= start and self._within(p, allocation)]:
                known = self._places.pop(place)
                before = self._places.get(~start)
                self._places[~start] = known if before is None else np.maximum(known, before)
            self._places.setdefault(~start, np.zeros(self._warps, np.int64))
            found[0] = ~start
            found = np.unique(found, axis=1)
        return [(int(p), int(c), int(w)) for p, c, w in found.T.tolist()]

    @staticmethod
    def _within(place: int, allocation: Allocation | None) -> bool:
        return allocation is None or allocation.start <= place < allocation.end

    def _publish(
        self, meetings: list[tuple[int, int, int]], moment: Moment, *, released: bool
    ) -> None:
        """Let places tell what warps have done, or only what a fence has covered of it."""
        ctas, warps, _ = self.wave.shape
        done = _own(moment, (ctas, warps))
        if not released:
            done = np.minimum(done, self._fenced[:, None])
        changed: dict[int, Array] = {}
        passed: dict[int, dict[int, Array]] = {}
        for place, cta, warp in meetings:
            own = done[cta, warp]
            lessons = self._learned.get(cta, [])
            if not (lessons or own.any()):
                continue
            if place not in changed:
                before = self._places.get(place)
                changed[place] = (
                    np.zeros(self._warps, np.int64) if before is None else before.copy()
                )
                passed[place] = {}
            at = (self.wave.first_cta + cta) * warps
            row = changed[place][at : at + warps]
            np.maximum(row, own, out=row)
            for lesson in _known_to(lessons, warp, moment, cta):
                passed[place][id(lesson.known)] = lesson.known
        for place, known in changed.items():
            for other in passed[place].values():
                np.maximum(known, other, out=known)
            self._places[place] = known

    @staticmethod
    def _learn(
        to: dict[int, list[Lesson]], cta: int, warp: int, moment: Moment, known: Array
    ) -> None:
        """A warp learns a clock; of what has been learned long ago all its CTA knows."""
        lessons = to.setdefault(cta, [])
        if any(one.known is known and one.warp in (warp, _EVERYONE) for one in lessons):
            return
        lessons.append(Lesson(warp, int(_of(moment.now, cta)), known))
        if len(lessons) > _LESSONS:
            first, second = lessons[0], lessons[1]
            lessons[:2] = [Lesson(_EVERYONE, 0, np.maximum(first.known, second.known))]

    def _active_warps(self, mask: Array | None) -> Array:
        ctas, warps, _ = self.wave.shape
        if mask is None:
            return np.ones((ctas, warps), np.bool_)
        return np.asarray(np.broadcast_to(mask, self.wave.shape).any(axis=2))

    # What it orders

    def ordered(self, moment: Moment, cta: Array, warp: Array, other: Array, time: Array) -> Array:
        """Whether what warps of other CTAs did comes before what warps of the wave do.

        Args:
            moment: when these do it.
            cta: theirs, in the wave, (n,).
            warp: which of it they are, (n,).
            other: which the others are, in the grid, (n,).
            time: when they did it, (n,).
        """
        found = np.zeros(len(cta), np.bool_)
        if self.silent:
            return found
        who = cta * self.wave.shape[1] + warp
        for one in np.unique(who).tolist():
            c, w = divmod(one, self.wave.shape[1])
            at = np.flatnonzero(who == one)
            for lesson in _known_to(self._learned.get(c, []), w, moment, c):
                found[at] |= lesson.known[other[at]] >= time[at]
        return found


def _of(values: Array, cta: int) -> Array:
    """What holds for a CTA, where one may stand for all."""
    found: Array = values[cta if len(values) > 1 else 0]
    return found


def _own(moment: Moment, shape: tuple[int, ...]) -> Array:
    """What each warp has seen and done of its CTA, (CTAs, warps, warps)."""
    ctas, warps = shape
    done = np.broadcast_to(moment.seen, (ctas, warps, warps)).copy()
    np.einsum("cww->cw", done)[...] = moment.now[:, None]
    return done


def _known_to(lessons: list[Lesson], warp: int, moment: Moment, cta: int) -> Iterator[Lesson]:
    """The lessons that a warp of a CTA has learned, or seen another learn."""
    now, seen = int(_of(moment.now, cta)), _of(moment.seen, cta)[warp]
    for lesson in lessons:
        until = now - 1 if lesson.warp == warp else seen[lesson.warp]
        if lesson.warp == _EVERYONE or lesson.time <= until:
            yield lesson

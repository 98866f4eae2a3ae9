"""Global memory that threads of two CTAs touch, one of them writing, in no order.

Each access is held against the last epochs of what it touches (`owners`), over all waves of a
launch: which wave a CTA is in is no order. Lanes that touch a segment together count once; only
where CTAs meet there is each of them looked at.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from tilec.isa import LANES

from ..access import Access
from ..alu import Array
from ..findings import Findings
from ..memory import Allocation
from ..ptx.module import Instruction
from ..wave import Wave
from .copied_places import whole_segments
from .encounters import Copied, Encounters, Lanes
from .grid_clocks import GridClocks
from .late_offsets import LateOffsets, Offsets, offsets_of
from .owners import CTA, CTAS, INSTRUCTION, INSTRUCTIONS, REACH, TIME, TIMES, Owners, foreign
from .progress import Progress
from .semantics import Reach, semantics

EPOCHS_BYTES = 1 << 30
"""Bytes that epochs may take; allocations beyond are left out."""
PUT_OFF = 1 << 15
"""Reads by threads that are put off, at most and within a wave, since nobody has written what they
read."""


_WHO = (1 << TIME) - 1
"""The CTA and warp of an epoch."""


@dataclass(frozen=True, slots=True, eq=False)
class WarpAccess:
    """An access of threads of a wave, which may be put off if it reads.

    Attributes:
        instruction: the instruction.
        kind: what they do.
        allocation: what they touch.
        offsets: where each thread's bytes begin.
        size: bytes of each thread.
        mask: which threads; None for all.
        stamps: the epochs of the wave's warps, (CTAs, warps).
    """

    instruction: Instruction
    kind: Access
    allocation: Allocation
    offsets: Offsets
    size: int
    mask: Array | None
    stamps: Array


@dataclass(frozen=True, slots=True, eq=False)
class CopyAccess:
    """What a bulk or tensor copy of a thread does, which may be put off if it reads.

    Attributes:
        instruction: the instruction.
        kind: what it does.
        allocation: what it touches.
        offsets: where each of its parts begins, (n,).
        size: bytes of each part.
        thread: who issued it, numbered in the wave from 0.
        stamp: its epoch, (1,).
    """

    instruction: Instruction
    kind: Access
    allocation: Allocation
    offsets: Array
    size: int
    thread: int
    stamp: Array


class GridRaces:
    """The epochs of a launch's allocations.

    Attributes:
        wave: the threads.
        findings: where races go.
        progress: time.
        clocks: what CTAs know of each other.
        on: whether there are CTAs that might race.
        left_out: the allocations that are not looked at, since epochs would take too much.
    """

    def __init__(self, wave: Wave, findings: Findings, progress: Progress) -> None:
        self.wave = wave
        self.findings = findings
        self.progress = progress
        self.clocks = GridClocks(wave, progress)
        self.on = 1 < wave.geometry.ctas < CTAS
        self.left_out = ["every array"] if wave.geometry.ctas >= CTAS else []
        self._owners: dict[int, Owners] = {}
        self._sizes: dict[int, int] = {}
        self._unwritten: dict[int, list[WarpAccess | CopyAccess]] = {}
        self._waiting = 0
        self._known: dict[int, tuple[Array, Array]] = {}
        self._instructions: list[Instruction] = []
        self._numbers: dict[int, int] = {}
        self._encounters = Encounters(wave, findings, self.clocks, self._instructions)

    @property
    def bytes(self) -> int:
        """What epochs and clocks take."""
        return sum(owners.bytes for owners in self._owners.values()) + self.clocks.bytes

    def begin(self) -> None:
        """Begin a wave."""
        self.clocks.begin()
        ctas, warps, _ = self.wave.shape
        first = np.arange(ctas, dtype=np.uint64)[:, None] + np.uint64(1 + self.wave.first_cta)
        self._who = first << np.uint64(CTA) | np.arange(warps, dtype=np.uint64)
        self._known.clear()

    def end(self) -> None:
        """End a wave. What is put off is remembered, if others follow."""
        if self.on and self.wave.shape[0] < self.wave.geometry.ctas:
            self._take_put_off()

    def restart(self, granules: Mapping[int, tuple[int, int]]) -> None:
        """Forget who has touched what, as if nobody had.

        Args:
            granules: bytes of segments and of granules in the beginning, of some allocations by
                where they begin.
        """
        self._owners.clear()
        self._sizes.clear()
        for start, (segment, granule) in granules.items():
            allocation = self.wave.memory.allocation(start)
            assert allocation is not None
            owners = self._owners[start] = Owners(allocation, granule, segment)
            self._sizes[start] = owners.bytes
        self._unwritten.clear()
        self._waiting = 0
        self.clocks.forget()

    @property
    def known(self) -> Mapping[int, Owners]:
        """The epochs of allocations, by where they begin."""
        return self._owners

    @property
    def names_lines(self) -> bool:
        """Whether the instructions of all epochs are told apart."""
        return len(self._instructions) < INSTRUCTIONS

    def access(
        self,
        instruction: Instruction,
        allocation: Allocation,
        offsets: Offsets,
        size: int,
        mask: Array | None,
        kind: Access,
        values: Sequence[Array] | None,
    ) -> None:
        """Hold an access inside the bounds against what other CTAs have done, and remember it.

        Args:
            instruction: the instruction.
            allocation: what it touches.
            offsets: where each thread's bytes begin.
            size: bytes of each thread.
            mask: which threads; None for all.
            kind: what they do.
            values: the chunks, low to high, that each thread is about to write, if known.
        """
        stamps = self.stamps(instruction, kind)
        self._hold(WarpAccess(instruction, kind, allocation, offsets, size, mask, stamps), values)

    def copied(
        self,
        instruction: Instruction,
        thread: tuple[int, int, int],
        allocation: Allocation,
        offsets: Array,
        size: int,
        kind: Access,
        values: Array | None,
    ) -> None:
        """Hold a bulk or tensor copy against what other CTAs have done, and remember it.

        What a copy reads is taken for read at the time up to which all warps have seen everything:
        that is the least that whoever waits for the copy knows, so that no race is made up.

        Args:
            instruction: the instruction.
            thread: who issued it, (CTA of the wave, warp, lane).
            allocation: what it touches.
            offsets: where each of its parts begins, (n,).
            size: bytes of each part.
            kind: what it does.
            values: the bytes that it is about to write, (n, size), if known.
        """
        cta, warp, lane = thread
        now = self.progress.clocks.now
        seen = np.asarray(now[cta if len(now) > 1 else 0])
        if not kind.writes:
            seen = np.asarray(self.progress.seen_by_all(cta))
        reach = semantics(instruction).reach if kind.synchronises else Reach.CTA
        stamp = self._who[cta, warp] | self._what(instruction, reach, seen)
        number = (cta * self.wave.shape[1] + warp) * LANES + lane
        one = CopyAccess(instruction, kind, allocation, offsets, size, number, stamp.reshape(1))
        self._hold(one, None if values is None else [values])

    def _hold(self, one: WarpAccess | CopyAccess, values: Sequence[Array] | None) -> None:
        """Hold an access against what was before, or put it off while nobody has written."""
        allocation = one.allocation
        owners = self._owners.get(allocation.start)
        if owners is None or owners.allocation is not allocation:
            if not one.kind.writes:
                self._put_off(one)
                return
            before = self._unwritten.pop(allocation.start, [])
            self._take_all([other for other in before if other.allocation is allocation])
        self._take(one, values)

    def _take_all(self, reads: Sequence[WarpAccess | CopyAccess]) -> None:
        """Take reads that have been put off."""
        for first in reads[:1]:
            # Segments are as the first read asks for, whether it is repeated or not.
            self._of(first.allocation, first.size)
        for one in _without_repeats(reads):
            self._take(one, None)

    def _put_off(self, read: WarpAccess | CopyAccess) -> None:
        """Remember a read of what nobody has written."""
        self._unwritten.setdefault(read.allocation.start, []).append(read)
        if isinstance(read, CopyAccess):
            self._waiting += read.offsets.size
        else:  # as many whether all CTAs are known to read the same or not
            self._waiting += read.stamps.size * LANES
        if self._waiting > PUT_OFF:
            self._take_put_off()

    def _take_put_off(self) -> None:
        """Hold all reads that were put off against epochs, and remember them."""
        for reads in self._unwritten.values():
            self._take_all(reads)
        self._unwritten.clear()
        self._waiting = 0

    def owners(self, allocation: Allocation) -> Owners | None:
        """The epochs of an allocation, if there are any yet."""
        found = self._owners.get(allocation.start)
        return None if found is None or found.allocation is not allocation else found

    def written(self, allocation: Allocation, size: int) -> Owners | None:
        """The epochs that an access of so many bytes is held against, if there are any yet."""
        return None if self.owners(allocation) is None else self._of(allocation, size)

    def _take(self, one: WarpAccess | CopyAccess, values: Sequence[Array] | None) -> None:
        """Hold an access against the epochs of what it touches, and remember it."""
        owners = self._of(one.allocation, one.size)
        if owners is None:
            return
        if isinstance(one, CopyAccess):
            self._take_copy(owners, one, values)
            return
        shape = (*one.stamps.shape, LANES)
        places = offsets_of(one.offsets) - one.allocation.start
        if places.shape != shape:
            places = np.broadcast_to(places, shape)
        mask = one.mask
        lanes = owners.segment // one.size
        if lanes <= LANES:
            rest = self._whole(owners, one, places, lanes)
            if rest is None:
                return
            mask = rest
        threads = np.arange(places.size)
        if mask is not None:
            mask = np.broadcast_to(mask, shape)
            places, threads = places[mask], threads.reshape(shape)[mask]
        if not places.size:
            return
        places = places.reshape(-1)
        given = one.stamps.reshape(-1)[threads // LANES]
        self._encounters.take(
            owners, Lanes(one.instruction, one.kind, one.size, threads, places, given, values)
        )

    def _take_copy(self, owners: Owners, one: CopyAccess, values: Sequence[Array] | None) -> None:
        """The same of a copy: whole segments at once, then the parts that are left."""
        places = one.offsets - one.allocation.start
        segments, rest = whole_segments(places, one.size, owners.segment)
        if segments.size:
            done = self._quiet(owners, segments, one.stamp, writes=one.kind.writes)
            if done is not None:
                rest |= np.isin(places // owners.segment, segments[~done])
        if not rest.any():
            return
        places = places[rest]
        threads, stamps = np.full(places.shape, one.thread), np.repeat(one.stamp, places.size)
        kept = None if values is None else [values[0][rest]]
        self._encounters.take(
            owners, Copied(one.instruction, one.kind, one.size, threads, places, stamps, kept)
        )

    def _whole(self, owners: Owners, one: WarpAccess, places: Array, lanes: int) -> Array | None:
        """Lanes that touch a whole segment together, where no CTA meets another in no order.

        Returns:
            The threads that are left; None if there are none.
        """
        grouped = places.reshape(*places.shape[:2], -1, lanes)
        first = grouped[..., 0]
        following = grouped == first[..., None] + np.arange(lanes) * one.size
        aligned = first & (owners.segment - 1) == 0
        complete = one.mask is None and bool(following.all()) and bool(aligned.all())
        segments = first >> (owners.segment.bit_length() - 1)
        stamps = one.stamps[..., None]
        if complete:
            done = self._quiet(owners, segments, stamps, writes=one.kind.writes)
            return None if done is None else np.repeat(~done, lanes, axis=2)
        even = following.all(axis=3) & aligned
        if one.mask is not None:
            active = np.broadcast_to(one.mask, places.shape)
            even &= active.reshape(grouped.shape).all(axis=3)
        if one.kind.writes and not even.all():
            # What other CTAs write in the same instruction is not in memory to compare with.
            others = np.broadcast_to(~even[..., None], grouped.shape)
            if one.mask is not None:
                others = others & active.reshape(grouped.shape)
            starts = grouped[others]
            touched = np.concatenate([starts, starts + (one.size - 1)]) // owners.segment
            even &= ~np.isin(segments, touched)
        given = np.broadcast_to(stamps, segments.shape)
        done = self._quiet(owners, segments[even], given[even], writes=one.kind.writes)
        left = ~even
        if done is not None:
            left[even] = ~done
        elif not left.any():
            return None
        rest = np.repeat(left, lanes, axis=2)
        return rest if one.mask is None else rest & one.mask

    def _quiet(
        self, owners: Owners, segments: Array, stamps: Array, *, writes: bool
    ) -> Array | None:
        """Remember accesses to whole segments where that makes no race.

        Returns:
            Where it was done, of the shape of `segments`; None for everywhere. Other segments are
            split.
        """
        epochs = owners.segments
        bad = owners.split[segments] if owners.any_split else np.zeros((), np.bool_)
        writer = epochs.writer[segments]
        for before in (writer, *(epochs.readers(segments) if writes else ())):
            others = foreign(before, stamps)
            if others.any():
                bad = bad | (others & (before != 0))
        if writes:
            # Several CTAs at once: who is not the last finds another there.
            epochs.writer[segments] = stamps
            at_once = foreign(epochs.writer[segments], stamps)
            if at_once.any():
                bad = bad | np.isin(segments, segments[at_once])
        if not bad.any():
            if not writes:
                epochs.read_by(segments, stamps)
            elif epochs.read:
                epochs.forget_readers(segments)
            return None
        done = ~bad
        if writes:
            epochs.writer[segments[bad]] = writer[bad]
        owners.split_up(segments[bad])
        given = np.broadcast_to(stamps, segments.shape)[done]
        if writes:
            epochs.write_by(segments[done], given)
        else:
            epochs.read_by(segments[done], given)
        return np.asarray(done)

    def _of(self, allocation: Allocation, size: int) -> Owners | None:
        """The epochs of an allocation, told apart by so many bytes; None if that is too much."""
        owners = self._owners.get(allocation.start)
        if owners is None or owners.allocation is not allocation:
            # What the heap has given anew begins afresh: the allocator orders that.
            if allocation.name in self.left_out:
                return None
            owners = self._owners[allocation.start] = Owners(allocation, size)
        owners.refine(size)
        if owners.bytes != self._sizes.get(allocation.start):
            self._sizes[allocation.start] = owners.bytes
        if sum(self._sizes.values()) > EPOCHS_BYTES:
            self.left_out.append(allocation.name)
            del self._owners[allocation.start], self._sizes[allocation.start]
            return None
        return owners

    def stamps(self, instruction: Instruction, kind: Access) -> Array:
        """The epochs of all warps of the wave at an instruction, (CTAs, warps)."""
        now = self.progress.clocks.now
        known = self._known.get(instruction.position)
        if known is not None and known[0] is now:
            return known[1]
        reach = semantics(instruction).reach if kind.synchronises else Reach.CTA
        found: Array = self._who | self._what(instruction, reach, now)[:, None]
        self._known[instruction.position] = now, found
        return found

    def epoch(self, instruction: Instruction) -> int:
        """What a plain access by an instruction adds to epochs of warps and times."""
        return int(self._what(instruction, Reach.CTA, np.zeros(1, np.int64))[0])

    @property
    def warps(self) -> Array:
        """The warps of the wave as epochs have them, (CTAs, warps)."""
        return self._who

    @property
    def times(self) -> Array:
        """The present times of the CTAs as epochs have them, one each or one for all."""
        time = np.minimum(self.progress.clocks.now + self.progress.past, TIMES).astype(np.uint64)
        return np.asarray(time << np.uint64(TIME))

    def _what(self, instruction: Instruction, reach: Reach, now: Array) -> Array:
        """The epochs of an instruction at some times, but for the warps."""
        number = self._numbers.get(instruction.position)
        if number is None:
            self._instructions.append(instruction)
            number = self._numbers[instruction.position] = len(self._instructions)
        time = np.minimum(now + self.progress.past, TIMES).astype(np.uint64)
        what = np.uint64(reach << REACH | min(number, INSTRUCTIONS) << INSTRUCTION)
        return np.asarray(time << np.uint64(TIME) | what)


def _without_repeats(reads: Sequence[WarpAccess | CopyAccess]) -> list[WarpAccess | CopyAccess]:
    """Reads that follow each other, without those that the same threads do again later.

    Of what reads a granule only the last is known, and the last before it that was of another CTA:
    who reads it again later is neither.
    """
    kept: list[WarpAccess | CopyAccess] = []
    known: set[tuple[int, ...]] = set()
    for one in reversed(reads):
        offsets = one.offsets
        if isinstance(one, WarpAccess) and isinstance(offsets, LateOffsets) and one.mask is None:
            position = one.instruction.position
            # All reads hold their registers, so that these have numbers of their own.
            first = int(one.stamps.flat[0]) & _WHO
            key = (position, id(offsets.register), offsets.added, one.size, first)
            if key in known:
                continue
            known.add(key)
        kept.append(one)
    return kept[::-1]

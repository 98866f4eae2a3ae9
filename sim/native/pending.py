"""What machine code has noted of accesses to global memory, until somebody has to look at it.

Records lie one after the other in pieces of memory. Where no two threads can have touched the same
bytes they are dropped at the next barrier of all threads; else they become what numpy would have
remembered (`checks.touches`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from tilec.isa import LANES

from ..access import Access
from ..alu import Array
from ..checks.global_memory import REMEMBERED, GlobalChecks
from ..checks.touches import Touches
from ..memory import Allocation
from ..ptx.module import Instruction
from ..widths import dtype_of
from .global_tables import LOG, RECORD, ROW

if TYPE_CHECKING:
    from ..machine import Machine

_PIECE = 1 << 20
_SPARE_BYTES = 1 << 26
_spare: list[Array] = []
"""Pieces that nobody uses, for the next launch: to get fresh memory takes as long as to fill it."""

_AT = {name: n for n, name in enumerate(LOG)}
_OF_ROW = {name: n for n, name in enumerate(ROW)}
ROWS = 64
"""Allocations at most that machine code follows."""


class Recorded:
    """What a record is of.

    Attributes:
        instruction: the instruction.
        kind: what it does.
        allocation: what it touches.
        row: the number of the allocation's row.
        bits: of an element.
        count: elements of a thread.
    """

    def __init__(
        self,
        instruction: Instruction,
        kind: Access,
        allocation: Allocation,
        row: int,
        bits: int,
        count: int,
    ) -> None:
        self.instruction = instruction
        self.kind = kind
        self.allocation = allocation
        self.row = row
        self.bits = bits
        self.count = count

    @property
    def size(self) -> int:
        """Bytes of a thread."""
        return self.bits * self.count // 8


class PendingTouches:
    """The records of a machine.

    Attributes:
        log: what machine code reads of it.
        rows: of each allocation, likewise.
    """

    def __init__(self, machine: Machine, checks: GlobalChecks) -> None:
        self._machine = machine
        self._checks = checks
        self.log = np.zeros(len(LOG), np.int64)
        self.rows = np.zeros((ROWS, len(ROW)), np.int64)
        self._recorded: list[Recorded] = []
        self._full: list[tuple[Array, int]] = []
        self._piece: Array | None = None
        self._moment: tuple[Array, Array] | None = None

    def number(self, recorded: Recorded) -> int:
        """The number that records have in their headers."""
        self._recorded.append(recorded)
        return len(self._recorded) - 1

    @property
    def _used(self) -> int:
        """Bytes of the present piece that are used."""
        return int(self.log[_AT["at"]] - self.log[_AT["base"]])

    @property
    def empty(self) -> bool:
        """Whether there are no records."""
        if self.log[_AT["dropped"]]:
            self._release_full()
        return not self._used and not self._full

    @property
    def suspicious(self) -> bool:
        """Whether two threads may have touched the same bytes, one of them writing."""
        return bool((self.rows[:, 0] & self.rows[:, 1]).any())

    def begin(self, period: int) -> None:
        """Records of the present time follow, in some period of marks."""
        progress = self._checks.progress
        moment = progress.stamp, progress.clocks.seen
        before = self._moment
        if before is None or before[0] is not moment[0] or before[1] is not moment[1]:
            if before is not None and not self.empty:
                self.flush()
            self._moment = moment
        self.log[_AT["period"]] = period
        self._limit()

    def _limit(self) -> None:
        self.log[_AT["most"]] = REMEMBERED - self._checks.remembered

    def met(self) -> None:
        """All threads have met, as machine code has noted: records are of the time since."""
        progress = self._checks.progress
        self._moment = progress.stamp, progress.clocks.seen

    def more_room(self, needed: int, threads: int) -> None:
        """Have room for a record of so many bytes, and accesses of threads."""
        if int(self.log[_AT["threads"]]) + threads > int(self.log[_AT["most"]]):
            self.flush()
            self.log[_AT["most"]] = max(int(self.log[_AT["most"]]), threads)
        if int(self.log[_AT["at"]]) + needed <= int(self.log[_AT["end"]]):
            return
        if self._piece is not None and self._used:
            self._full.append((self._piece, self._used))
        size = max(_PIECE, needed, 2 * (0 if self._piece is None else self._piece.size))
        self._put(_taken(min(size, max(needed, _SPARE_BYTES // 4))))

    def _put(self, piece: Array | None) -> None:
        self._piece = piece
        start = 0 if piece is None else piece.ctypes.data
        self.log[_AT["base"]] = self.log[_AT["at"]] = start
        self.log[_AT["end"]] = start + (0 if piece is None else piece.size)

    def _release_full(self) -> None:
        for piece, _ in self._full:
            _give_back(piece)
        self._full.clear()
        self.log[_AT["dropped"]] = 0

    def drop(self) -> None:
        """Nothing that was touched matters any more."""
        self._release_full()
        if self._piece is not None:
            _give_back(self._piece)
        self._put(None)
        self.log[_AT["threads"]] = 0
        self.rows[:, :2] = 0

    def flush(self) -> None:
        """Let numpy's checks remember what has been noted."""
        if self.empty:
            return
        found = list(self._touches())
        suspects = self.rows[:, 0] != 0
        self._release_full()
        self.log[_AT["at"]] = self.log[_AT["base"]]
        self.log[_AT["threads"]] = 0
        self.rows[:, :2] = 0
        for recorded, touches in found:
            self._checks.recall(recorded.allocation, touches, suspect=bool(suspects[recorded.row]))
        self._limit()

    def _touches(self) -> Iterator[tuple[Recorded, Touches]]:
        """What was noted, in order."""
        pieces = list(self._full)
        if self._piece is not None:
            pieces.append((self._piece, self._used))
        for piece, used in pieces:
            at = 0
            while at < used:
                header = piece[at : at + 8 * len(RECORD)].view(np.int64).tolist()
                bytes_, number, rows, whole = header
                body = piece[at + 8 * len(RECORD) : at + bytes_]
                recorded = self._recorded[number]
                yield recorded, self._touch(recorded, body, rows, whole=bool(whole))
                at += bytes_

    def _touch(self, recorded: Recorded, body: Array, rows: int, *, whole: bool) -> Touches:
        ctas, warps, _ = self._machine.shape
        lanes = 1 if whole else LANES
        end = 8 * rows * warps * lanes
        offsets = np.array(body[:end].view(np.int64).reshape(rows, warps, lanes))
        mask = None
        if whole:
            offsets = offsets + recorded.size * np.arange(LANES)
        elif (offsets < 0).any():
            mask = offsets >= 0
        values = self._values(recorded, body[end:], (ctas, warps, LANES))
        assert self._moment is not None
        stamp, seen = self._moment
        kind, shape = recorded.kind, self._machine.shape
        return Touches.of(
            recorded.instruction, kind, recorded.size, offsets, mask, values, stamp, seen, shape
        )

    @staticmethod
    def _values(recorded: Recorded, body: Array, shape: tuple[int, ...]) -> list[Array] | None:
        """The chunks that threads store; None of a load."""
        if not recorded.kind.writes:
            return None
        dtype = dtype_of(recorded.bits)
        parts = np.array(body).view(dtype).reshape(recorded.count, *shape)
        each = max(min(8 * recorded.size, 128) // recorded.bits, 1)
        if each == 1:
            return list(parts)
        chunk = each * recorded.bits
        whole = np.dtype(np.complex128) if chunk == 128 else dtype_of(chunk)
        together = (
            np.ascontiguousarray(np.moveaxis(parts[n : n + each], 0, -1))
            for n in range(0, recorded.count, each)
        )
        return [one.view(whole)[..., 0] for one in together]


def _taken(size: int) -> Array:
    """A piece of so many bytes at least."""
    for number, piece in enumerate(_spare):
        if piece.size >= size:
            return _spare.pop(number)
    return np.empty(size, np.uint8)


def _give_back(piece: Array) -> None:
    if sum(one.size for one in _spare) + piece.size <= _SPARE_BYTES:
        _spare.append(piece)
        _spare.sort(key=len)

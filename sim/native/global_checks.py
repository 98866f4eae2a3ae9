"""Has machine code check accesses to global memory, where whole warps touch it."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from tilec.isa import LANES

from ..access import Access
from ..alu import Array
from ..checks.late_offsets import LateOffsets
from ..checks.owners import Epochs
from ..memory import Allocation
from . import global_forms
from .access_forms import DONE, REFUSED
from .global_forms import BY_NUMPY, EPOCHS, FULL, LOG, NONE, PLAN, RECORD, ROW
from .library import Library
from .pending import ROWS, PendingTouches, Recorded

if TYPE_CHECKING:
    from ..checks.global_memory import GlobalChecks
    from ..machine import Machine
    from ..observer import Observer
    from ..ptx.module import Instruction

_CALL = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)
_AT = {name: n for n, name in enumerate(PLAN)}
_OF_ROW = {name: n for n, name in enumerate(ROW)}
_MOST_SEGMENTS = LANES
"""Segments that a warp touches at most."""


class GlobalWatch:
    """What all accesses of a machine have in common.

    Args:
        machine: the machine.
        library: where the function is, or is loaded to.
        observer: the checks.

    Attributes:
        address: where the function is.
        pending: what has been noted.
        times: of the CTAs, as epochs have them, one for all or one each; machine code changes them.
        warps: of the wave, as epochs have them.
        scratch: room for epochs.
        wholes: of warps, which of their lanes touch segments as a whole.
        rows: the allocations.
    """

    def __init__(self, machine: Machine, library: Library, observer: Observer) -> None:
        self.machine = machine
        if library.address(global_forms.NAME) is None:
            library.load({global_forms.NAME: global_forms.text()}, global_forms.DECLARED)
        address = library.address(global_forms.NAME)
        assert address is not None
        self.address = address
        self.run: Callable[[int], int] = _CALL(address)
        self._checks = observer.global_
        self.pending = self._checks.pending = PendingTouches(machine, self._checks)
        self.rows: list[_Row] = []
        self._of: dict[int, _Row] = {}
        self._now: Array | None = None
        self._who: Array | None = None
        self.times = self.warps = self.scratch = self.wholes = np.zeros(0, np.int64)

    def row(self, allocation: Allocation, size: int) -> _Row | None:
        """What is known of an allocation; None where there are too many."""
        found = self._of.get(allocation.start)
        if found is not None and found.allocation is allocation:
            return found
        if len(self.rows) >= ROWS:
            return None
        number = len(self.rows)
        found = self._of[allocation.start] = _Row(
            allocation, size, self.pending.rows[number], number
        )
        self.rows.append(found)
        return found

    def renew(self) -> None:
        """Take note of the present time, and of all allocations."""
        self.follow()
        for row in self.rows:
            row.renew(self._checks)

    def follow(self) -> None:
        """Take note of the present time."""
        checks = self._checks
        checks.follow()
        self.pending.begin(checks.whole.period)
        if not checks.grid.on or not self.times.size:
            return
        now, warps = checks.progress.clocks.now, checks.grid.warps
        if now is not self._now:
            self._now = now
            times = checks.grid.times.view(np.int64)
            self.times[: times.size] = times
            self.pending.log[LOG.index("step")] = 8 if times.size > 1 else 0
        if warps is not self._who:
            self._who = warps
            self.warps[: warps.size] = warps.view(np.int64).reshape(-1)

    def taken(self) -> None:
        """Take note of what machine code has remembered."""
        for row in self.rows:
            row.taken()

    def room(self) -> None:
        """Have room for what is told of CTAs and warps."""
        ctas, warps, _ = self.machine.shape
        if self.warps.size < ctas * warps or self.times.size < ctas:
            self.times, self.warps = np.zeros(ctas, np.int64), np.zeros(ctas * warps, np.int64)
            # Epochs of all segments that are touched at once, and where they are.
            self.scratch = np.empty(2 * ctas * warps * _MOST_SEGMENTS, np.int64)
            self.wholes = np.zeros(ctas * warps, np.int64)
            self._now = self._who = None
            self.follow()


class _Row:
    """What machine code knows of an allocation.

    Attributes:
        allocation: the allocation.
        number: of the row.
    """

    def __init__(self, allocation: Allocation, size: int, table: Array, number: int) -> None:
        self.allocation = allocation
        self.number = number
        self._size = size
        self.table = table
        table[_OF_ROW["start"]] = allocation.start
        self._marks: object = None
        self._segment = 0
        self._epochs: Epochs | None = None
        self._fine = Epochs(0)
        self._known: list[Array] = []

    def renew(self, checks: GlobalChecks) -> None:
        """Take note of what numpy's checks remember."""
        table = self.table
        marks = checks.whole.of(self.allocation, self._size)
        if marks is not self._marks:
            self._marks, self._segment = marks, marks.segment
            table[_OF_ROW["shift"]] = marks.segment.bit_length() - 1
            table[_OF_ROW["written"]] = marks.written.ctypes.data
            table[_OF_ROW["read"]] = marks.read.ctypes.data
        self._epochs = None
        how = NONE
        if checks.grid.on:
            owners, how = checks.grid.owners(self.allocation), BY_NUMPY
            if owners is not None and owners.segment == marks.segment:
                epochs, how = owners.segments, EPOCHS
                fine = owners.granules
                arrays = [epochs.writer, epochs.reader, epochs.second, owners.split]
                arrays += [fine.writer, fine.reader, fine.second]
                if len(self._known) != len(arrays) or any(
                    a is not b for a, b in zip(arrays, self._known, strict=True)
                ):
                    self._known = arrays
                    first = _OF_ROW["writer"]
                    table[first : first + len(arrays)] = [a.ctypes.data for a in arrays]
                table[_OF_ROW["granule"]] = owners.granule
                table[_OF_ROW["readers"]] = epochs.read
                table[_OF_ROW["fine_readers"]] = fine.read
                self._epochs, self._fine = epochs, fine
        table[_OF_ROW["epochs"]] = how

    def holds(self, size: int) -> bool:
        """Whether a warp's lanes of so many bytes may touch segments as a whole."""
        return self._segment <= LANES * size

    def taken(self) -> None:
        """Let the epochs know of readers that machine code has seen."""
        if self._epochs is not None and self.table[_OF_ROW["readers"]]:
            self._epochs.read = True
        if self._epochs is not None and self.table[_OF_ROW["fine_readers"]]:
            self._fine.read = True


class Watched:
    """An access to global memory that is watched.

    Args:
        watch: what all have in common.
        instruction: the instruction.
        kind: what it does.
        bits: of an element.
        count: elements.

    Attributes:
        plan: what machine code reads of it.
    """

    def __init__(
        self, watch: GlobalWatch, instruction: Instruction, kind: Access, bits: int, count: int
    ) -> None:
        self._watch = watch
        self._instruction = instruction
        self._kind = kind
        self._bits, self._count = bits, count
        self._size = bits * count // 8
        self.plan = np.zeros(len(PLAN), np.int64)
        self._row: _Row | None = None
        self._shape = (0, 0, 0)
        self._numbers: dict[int, int] = {}

    def attach(self, observer: Observer, allocation: Allocation, places: dict[str, int]) -> bool:
        """Watch accesses to an allocation; whether that is possible.

        Args:
            observer: the checks.
            allocation: what is accessed.
            places: where `access_forms` leaves offsets, the first ones, and its plan.
        """
        watch, plan = self._watch, self.plan
        if not allocation.writable:
            return False
        if self._kind.writes and observer.global_.proxies is not None:
            return False
        row, shape = self._row, watch.machine.shape
        if row is not None and row.allocation is allocation and self._shape == shape:
            return row.holds(self._size)
        row = self._row = watch.row(allocation, self._size)
        if row is None:
            return False
        self._shape = shape
        number = self._numbers.get(row.number)
        if number is None:
            recorded = Recorded(
                self._instruction, self._kind, allocation, row.number, self._bits, self._count
            )
            number = self._numbers[row.number] = watch.pending.number(recorded)
        row.renew(observer.global_)
        watch.room()
        ctas, warps, _ = shape
        grid = observer.global_.grid
        epoch = grid.epoch(self._instruction) if grid.on else 0
        given = {
            "log": watch.pending.log.ctypes.data, "row": row.table.ctypes.data, **places,
            "who": watch.warps.ctypes.data, "times": watch.times.ctypes.data, "number": number,
            "scratch": watch.scratch.ctypes.data,
            "wholes": watch.wholes.ctypes.data, "size": self._size, "stores": self._kind.writes,
            "apart": 0, "what": epoch - (epoch >> 63 << 64), "ctas": ctas, "warps": warps,
        }  # fmt: skip
        for name, value in given.items():
            plan[_AT[name]] = value
        return row.holds(self._size)

    def access(
        self,
        observer: Observer,
        late: LateOffsets,
        mask: Array | None,
        values: list[Array] | None,
    ) -> bool:
        """Check an access inside the bounds, and remember it; False if numpy has to.

        Args:
            observer: the checks.
            late: where each thread's bytes begin.
            mask: which threads; None for all.
            values: the chunks that each thread writes.
        """
        watch, plan, row = self._watch, self.plan, self._row
        assert row is not None
        grid, allocation = observer.global_.grid, row.allocation
        watch.follow()
        if grid.on:
            grid.written(allocation, self._size)
        row.renew(observer.global_)
        plan[_AT["apart"]] = 0
        found, apart = self._run(), False
        if found == REFUSED and grid.on:  # CTAs may meet
            plan[_AT["apart"]] = apart = True
            found = self._run()
            plan[_AT["apart"]] = 0
        if found != DONE:
            return False
        row.taken()
        if apart:
            grid.access(self._instruction, allocation, late, self._size, mask, self._kind, values)
        return True

    def _run(self) -> int:
        watch, plan = self._watch, self.plan
        found = watch.run(plan.ctypes.data)
        if found == FULL:
            self.make_room()
            found = watch.run(plan.ctypes.data)
        return found

    def make_room(self) -> None:
        """Have room for a record."""
        ctas, warps, _ = self._watch.machine.shape
        threads = ctas * warps * LANES
        self._watch.pending.more_room(8 * len(RECORD) + threads * (8 + self._size), threads)

    @property
    def values(self) -> int:
        """Where the values that are stored are to be kept; 0 for nowhere."""
        return int(self.plan[_AT["values"]])

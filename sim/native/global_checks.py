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
from ..checks.owners import Owners
from ..memory import Allocation
from ..ptx.module import Instruction
from . import global_forms
from .access_forms import DONE
from .global_forms import PLAN
from .library import Library

if TYPE_CHECKING:
    from ..machine import Machine
    from ..observer import Observer

_CALL = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)
_AT = {name: n for n, name in enumerate(PLAN)}


class GlobalWatch:
    """What all accesses of a machine have in common.

    Args:
        machine: the machine.
        library: where the function is, or is loaded to.
        offsets: where loads and stores leave the offsets of warps.
    """

    def __init__(self, machine: Machine, library: Library) -> None:
        self._machine = machine
        if library.address(global_forms.NAME) is None:
            library.load({global_forms.NAME: global_forms.text()}, global_forms.DECLARED)
        address = library.address(global_forms.NAME)
        assert address is not None
        self._run: Callable[[int], int] = _CALL(address)
        self._plan = np.zeros(len(PLAN), np.int64)
        self._at = self._plan.ctypes.data
        self._scratch = np.zeros(0, np.int64)
        self._stamps: Array | None = None
        self._pointers: dict[int, tuple[Owners, list[Array], list[int]]] = {}
        self._marked: dict[int, tuple[object, int, int, int]] = {}

    def access(
        self,
        observer: Observer,
        instruction: Instruction,
        allocation: Allocation,
        offsets: tuple[int, int, LateOffsets],
        size: int,
        mask: Array | None,
        kind: Access,
        values: list[Array] | None,
    ) -> bool:
        """Check an access inside the bounds, and remember it; False if numpy has to.

        Args:
            observer: the checks.
            instruction: the instruction.
            allocation: what it touches.
            offsets: where the offsets of warps are, of how many CTAs, and the same for later.
            size: bytes of each thread.
            mask: which threads; None for all.
            kind: what they do.
            values: the chunks that each thread writes.
        """
        global_ = observer.global_
        if not allocation.writable or global_.footprint is not None:
            return False
        if kind.writes and global_.proxies is not None:
            return False
        global_.follow()
        grid, plan = global_.grid, self._plan
        marks = global_.whole.of(allocation, size)
        segment, owners = marks.segment, None
        if grid.on:
            owners = grid.written(allocation, size)
            if owners is not None and owners.segment != segment:
                owners = None
        if segment > LANES * size:
            return False
        where, rows, late = offsets
        ctas, warps, _ = self._machine.shape
        marked = self._marked.get(allocation.start)
        if marked is None or marked[0] is not marks:
            pointers = marks.written.ctypes.data, marks.read.ctypes.data
            marked = marks, *pointers, segment.bit_length() - 1
            self._marked[allocation.start] = marked
        plan[_AT["offsets"]] = where
        plan[_AT["written"]], plan[_AT["read"]], plan[_AT["shift"]] = marked[1:]
        plan[_AT["rows"]], plan[_AT["ctas"]], plan[_AT["warps"]] = rows, ctas, warps
        plan[_AT["size"]], plan[_AT["start"]] = size, allocation.start
        plan[_AT["period"]], plan[_AT["stores"]] = global_.whole.period, kind.writes
        plan[_AT["epochs"]], plan[_AT["suspect"]] = owners is not None, 0
        if owners is not None:
            plan[_AT["writer"] : _AT["split"] + 1] = self._of(owners)
            plan[_AT["readers"]] = owners.segments.read
            stamps = grid.stamps(instruction, kind)
            if stamps is not self._stamps:
                self._stamps = stamps = np.ascontiguousarray(stamps)
                plan[_AT["stamps"]] = stamps.ctypes.data
            if kind.writes:
                room = 2 * ctas * warps * max(LANES * size // segment, 1)
                if self._scratch.size < room:
                    self._scratch = np.zeros(room, np.int64)
                    plan[_AT["scratch"]] = self._scratch.ctypes.data
        done = self._run(self._at) == DONE
        if not done and owners is not None:  # CTAs may meet
            plan[_AT["epochs"]], owners = 0, None
            done = self._run(self._at) == DONE
        if not done:
            return False
        if owners is not None:
            owners.segments.read |= not kind.writes
        elif grid.on:
            grid.access(instruction, allocation, late, size, mask, kind, values)
        suspect = bool(plan[_AT["suspect"]])
        global_.remember_whole(
            instruction, allocation, late, size, mask, kind, values, suspect=suspect
        )
        return True

    def _of(self, owners: Owners) -> list[int]:
        """Where the epochs of segments are, and which are split."""
        epochs = owners.segments
        arrays = [epochs.writer, epochs.reader, epochs.second, owners.split]
        known = self._pointers.get(id(owners))
        if (
            known is None
            or known[0] is not owners
            or any(a is not b for a, b in zip(arrays, known[1], strict=True))
        ):
            known = owners, arrays, [array.ctypes.data for array in arrays]
            self._pointers[id(owners)] = known
        return known[2]

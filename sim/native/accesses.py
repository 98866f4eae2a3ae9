"""Loads and stores that machine code executes, checks of shared memory included.

Whatever is not plain, numpy's step executes as it would have: an access that anything is wrong
with, one that has to be looked at closer, and all of them while undefined values are followed,
asynchronous operations watched or orders explored.
"""

from __future__ import annotations

import ctypes
from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from tilec.isa import LANES

from ..access import Access
from ..alu import Array
from ..checks.late_offsets import LateOffsets
from ..memory import GLOBAL_BASE, Allocation
from ..ptx.constants import wrapped
from ..widths import dtype_of
from . import access_forms, choice, driver
from .access_forms import DONE, MOST, MOVE, OUTSIDE, PLAN, PROBE, STATE, Form
from .choice import waiting
from .global_checks import GlobalWatch
from .library import Library, library
from .loads import Moves

if TYPE_CHECKING:
    from ..machine import Machine
    from ..observer import Observer

_CALL = ctypes.PYFUNCTYPE(ctypes.c_int64, *[ctypes.c_void_p] * 5, *[ctypes.c_int64] * 3)
"""A form's function; it is called with the GIL, since it reads Python's objects."""

_AT = {name: n for n, name in enumerate(PLAN)}
_SIZES = {8: 0, 16: 1, 32: 2, 64: 3}
_WORK = 8
"""Instructions that numpy executes in about the time of a load or store with checks."""
_ALL = np.ones((1, 1, LANES), np.bool_)

_asked: Counter[str] = Counter()
"""How often numpy has executed instructions of each form in place of machine code."""


class State:
    """What all accesses of a machine have in common.

    Attributes:
        machine: the machine.
        table: what the functions read of it.
        library: the library; None until it is worth loading.
        absent: whether there is none.
        where: where the offsets of warps are.
    """

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.library: Library | None = None
        self.absent = False
        self.table = np.zeros(len(STATE), np.int64)
        self._kept: list[Array] = []
        self._data: Array | None = None
        self._shape = (0, 0, 0)
        self._room: list[Array] = []
        self.where = 0
        self._watch: GlobalWatch | None = None
        self._stamp: Array | None = None
        self._written: Array | None = None

    def ready(self) -> bool:
        """Whether machine code may be used by now."""
        if self.library is None:
            if self.absent or waiting(_WORK if self.machine.observer is not None else 1):
                return False
            self.library = library()
            if self.library is None:
                self.absent = True
                return False
            self._put("types", self.library.types)
            for name in driver.SHARED:
                self.table[STATE.index(name)] = self.library.address(name) or 0
        machine = self.machine
        if self._shape != machine.shape:
            self._shape = machine.shape
            threads = machine.shape[0] * machine.shape[1] * LANES
            # A thread touches 64 bytes at most, each of which may have a stamp.
            self._room = [np.empty(threads, np.int64), np.empty(threads * 64, np.uint32)]
            self.where = self._room[0].ctypes.data
            self._put("offsets", self._room[0])
            self._put("stamps", self._room[1])
        memory = machine.memory
        if memory.data is not self._data:
            self._data = memory.data
            self._put("memory", memory.data)
            self.table[STATE.index("base")] = memory.shared_base
            self.table[STATE.index("stride")] = memory.shared_stride
        return True

    def _put(self, name: str, array: Array) -> None:
        self.table[STATE.index(name)] = array.ctypes.data

    def has(self, name: str) -> bool:
        """Whether a function has been loaded, in this launch or by an earlier one."""
        if self.library is None and not self.absent and choice.worth():
            self.ready()
        return self.library is not None and self.library.address(name) is not None

    @property
    def watch(self) -> Callable[..., bool]:
        """What checks accesses to global memory: see `GlobalWatch.access`."""
        if self._watch is None:
            assert self.library is not None
            self._watch = GlobalWatch(self.machine, self.library)
        return self._watch.access

    def follow(self, observer: Observer) -> None:
        """Take note of where the checks of shared memory are."""
        progress, shared = observer.progress, observer.shared
        if progress.stamp is not self._stamp:
            self._stamp = progress.stamp
            seen = np.ascontiguousarray(progress.clocks.seen)
            self._kept = [np.ascontiguousarray(progress.stamp), seen]
            self._put("stamp", self._kept[0])
            self._put("seen", seen)
            self.table[STATE.index("floor")] = progress.floor
        if shared.written is not self._written:
            self._written = shared.written
            for name in ("written", "read", "writer", "reader"):
                self._put(name, getattr(shared, name))
            self.table[STATE.index("granules")] = shared.granules
            self.table[STATE.index("shift")] = shared.granule.bit_length() - 1


class Accesses:
    """Gives loads and stores what executes them."""

    def __init__(self, machine: Machine) -> None:
        self._state = State(machine)

    def of(self, moves: Moves) -> NativeAccess | None:
        """What executes a load or store; None if numpy has to."""
        if moves.space not in ("global", "shared") or moves.bits not in _SIZES:
            return None
        if moves.count > MOST:
            return None
        return NativeAccess(self._state, moves)


class NativeAccess:
    """A load or store."""

    def __init__(self, state: State, moves: Moves) -> None:
        self._state = state
        self._machine = machine = state.machine
        self._instruction = moves.instruction
        slot, bits, added = moves.address
        shared, checked = moves.space == "shared", machine.observer is not None
        form = Form(shared, bool(moves.slots), bits, moves.bits, moves.count, checked)
        self._form = form
        self._address = slot
        self._offsets = moves.offsets
        self._values = moves.values
        self._dtype = dtype_of(form.bits)
        self._kind = Access.WRITE if form.store else Access.READ
        self._allocation: Allocation | None = None
        self._counts = (0, 0, 0)
        self._pattern = np.zeros(0, np.int64)
        self._shape = (0, 0, 0)
        self._function: Callable[..., int] | None = None
        plan = self._plan = np.zeros(access_forms.PLAN_BYTES // 8, np.int64)
        plan[_AT["address"]] = slot
        self._added = wrapped(added - (0 if shared else GLOBAL_BASE))
        plan[_AT["added"]] = self._added
        plan[_AT["position"]] = moves.instruction.position
        plan[_AT["slots"] : _AT["slots"] + len(moves.slots)] = moves.slots
        entries = plan[access_forms.ENTRIES // 8 :].reshape(-1, access_forms.ENTRY // 8)
        size = access_forms.SIZE_OF_ENTRY
        entries[0, size] = _SIZES[bits]
        entries[2:, size] = _SIZES[form.bits]
        self._at = plan.ctypes.data, state.table.ctypes.data, id(machine.registers)

    def load(self) -> list[Array] | None:
        """The elements that the active threads load; None if numpy has to load them."""
        if not self._prepare():
            return None
        machine = self._machine
        found = machine.registers[self._address].shape
        mask = machine.mask
        if mask is not None:
            found = np.broadcast_shapes(found, mask.shape)
        if self._form.shared:
            found = (machine.shape[0], *found[1:])
        self._plan[_AT["of_ctas"] : _AT["of_lanes"] + 1] = found
        outs = [np.empty(found, self._dtype) for _ in range(self._form.count)]
        return outs if self._access(mask, outs) else None

    def store(self) -> bool:
        """Store what the active threads have; False if numpy has to."""
        return self._prepare() and self._access(self._machine.mask, [])

    def _prepare(self) -> bool:
        """Whether machine code may be used."""
        state, machine, form = self._state, self._machine, self._form
        if _asked[form.name] < choice.AFTER and not state.has(form.name):
            _asked[form.name] += 1
            return False
        if not state.ready():
            return False
        if self._function is None:
            self._function = _compiled(state, form)
        observer = machine.observer
        if observer is not None:
            taint = observer.taint
            if taint.replaying or taint.active or observer.orders is not None:
                return False
            if form.shared and not self._follow(observer):
                return False
        if self._shape != machine.shape:
            self._begin()
        return True

    def _begin(self) -> None:
        """Begin a wave of another shape, or the first."""
        machine, plan = self._machine, self._plan
        self._shape = machine.shape
        self._pattern = self._pattern[:0]
        memory = machine.memory
        if self._form.shared:
            size = memory.shared_bytes if self._form.checked else memory.shared_stride
            plan[_AT["low"]], plan[_AT["high"]] = 0, size
        elif not self._form.checked:
            plan[_AT["low"]], plan[_AT["high"]] = 0, memory.data.size

    def _follow(self, observer: Observer) -> bool:
        """Whether the checks of shared memory are in a state that machine code knows."""
        if observer.in_flight is not None or observer.peer_races.visitors:
            return False
        if not observer.shared.follows(self._form.size):
            return False
        self._state.follow(observer)
        return True

    def _access(self, mask: Array | None, outs: list[Array]) -> bool:
        """Check and move."""
        machine, form, plan = self._machine, self._form, self._plan
        ctas, warps, _ = machine.shape
        varies = machine.registers[self._address].shape[0] > 1 or (
            mask is not None and mask.shape[0] > 1
        )
        observer = machine.observer
        rows = ctas if varies else 1
        if observer is not None and form.shared:
            if varies and observer.progress.ctas != ctas:
                return False
            rows = observer.progress.ctas
            if self._pattern.size != rows * warps * LANES:
                self._pattern = np.full(rows * warps * LANES, -2, np.int64)
                plan[_AT["pattern"]] = self._pattern.ctypes.data
        plan[_AT["rows"]] = rows
        given = (*self._at, id(outs), id(_ALL if mask is None else mask), ctas, warps)
        if observer is None:
            return self._run(*given, PROBE | MOVE) == DONE
        if form.shared:
            if self._run(*given, PROBE | MOVE) != DONE:
                return False
            if form.store:
                observer.shared.stored_apart()
            self._count(observer, mask)
            return True
        return self._access_global(observer, mask, given)

    def _run(self, *given: int) -> int:
        assert self._function is not None
        return self._function(*given)

    def _count(self, observer: Observer, mask: Array | None) -> None:
        """Count wavefronts of shared memory: those of the last time, if the pattern is the same."""
        position, form = self._instruction.position, self._form
        counts = observer.traffic.accesses[position]
        if self._plan[_AT["same"]]:
            requests, wavefronts, conflicts = self._counts
            counts.requests += requests
            counts.wavefronts += wavefronts
            counts.conflicts += conflicts
            return
        before = counts.requests, counts.wavefronts, counts.conflicts
        observer.traffic.count_shared(
            self._instruction, self._offsets(), form.size, mask, self._kind, None
        )
        self._counts = (
            counts.requests - before[0],
            counts.wavefronts - before[1],
            counts.conflicts - before[2],
        )

    def _access_global(
        self, observer: Observer, mask: Array | None, given: tuple[int, ...]
    ) -> bool:
        """Check by machine code whether it is legal, count and remember it as numpy does."""
        machine, form, plan = self._machine, self._form, self._plan
        if form.store and observer.shared.copies.pending:
            return False
        allocation = self._allocation
        if allocation is None or machine.memory.allocation(allocation.start) is not allocation:
            plan[_AT["low"]], plan[_AT["high"]] = 0, 0
        found = self._run(*given, PROBE)
        if found == OUTSIDE:
            allocation = machine.memory.allocation(int(plan[_AT["lowest"]]))
            if allocation is None or (form.store and not allocation.writable):
                return False
            self._allocation = allocation
            plan[_AT["low"]], plan[_AT["high"]] = allocation.start, allocation.end
            found = self._run(*given, PROBE)
        if found != DONE:
            return False
        counts = observer.traffic.accesses[self._instruction.position]
        times = machine.shape[0] // int(plan[_AT["rows"]])
        counts.requests += int(plan[_AT["requests"]]) * times
        counts.sectors += int(plan[_AT["sectors"]]) * times
        values = self._values() if form.store else None
        late = LateOffsets(machine.registers[self._address], self._added)
        offsets = self._state.where, int(plan[_AT["rows"]]), late
        if allocation is None or not self._state.watch(
            observer, self._instruction, allocation, offsets, form.size, mask, self._kind, values
        ):
            observer.global_.access(
                self._instruction, allocation, self._offsets(), form.size, mask, self._kind, values
            )
        done = self._run(*given, MOVE)
        assert done == DONE
        return True


def _compiled(state: State, form: Form) -> Callable[..., int]:
    """The function of a form."""
    library = state.library
    assert library is not None
    if library.address(form.name) is None:
        from .stamping import function  # noqa: PLC0415 (for machine code only)

        library.load({form.name: function(form)}, access_forms.DECLARED)
    address = library.address(form.name)
    assert address is not None
    return _CALL(address)

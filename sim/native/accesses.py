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

from ..access import Access
from ..alu import Array
from ..checks.late_offsets import LateOffsets
from ..memory import GLOBAL_BASE, Allocation
from ..ptx.constants import wrapped
from ..widths import dtype_of
from . import access_forms, choice, driver
from .access_forms import DONE, MOST, MOVE, OUTSIDE, PLAN, PROBE, Form
from .access_state import State
from .copies import ELEMENTS, NativeCopy, zeros
from .global_checks import Watched
from .loads import Moves, Place

if TYPE_CHECKING:
    from ..machine import Machine
    from ..observer import Observer
    from ..ptx.module import Instruction

_CALL = ctypes.PYFUNCTYPE(ctypes.c_int64, *[ctypes.c_void_p] * 5, *[ctypes.c_int64] * 3)
"""A form's function; it is called with the GIL, since it reads Python's objects."""

_AT = {name: n for n, name in enumerate(PLAN)}
_MODE, _DATA = driver.OUTPUT.index("mode"), driver.OUTPUT.index("data")
_SIZES = {8: 0, 16: 1, 32: 2, 64: 3}
_asked: Counter[str] = Counter()
"""How often numpy has executed instructions of each form in place of machine code."""


class Accesses:
    """Gives loads and stores what executes them."""

    def __init__(self, machine: Machine) -> None:
        self.state = State(machine)
        self._between: dict[int, list[int]] = {}

    def of(self, moves: Moves) -> NativeAccess | None:
        """What executes a load or store; None if numpy has to."""
        if moves.space not in ("global", "shared") or moves.bits not in _SIZES:
            return None
        if moves.count > MOST:
            return None
        return NativeAccess(self.state, moves)

    def copy(
        self, instruction: Instruction, size: int, target: Place, source: Place
    ) -> NativeCopy | None:
        """What executes a copy of so many bytes of each thread; None if numpy has to."""
        bits, count = ELEMENTS[size]
        slots = self._between.get(size)
        if slots is None:
            machine = self.state.machine
            slots = self._between[size] = [machine.slot(zeros(bits)) for _ in range(count)]
        (to, at), (from_, begin) = target, source
        load = self.of(Moves(instruction, "global", from_, bits, count, (), slots, begin, list))
        store = self.of(
            Moves(instruction, "shared", to, bits, count, slots, (), at, list, pending=True)
        )
        if load is None or store is None:
            return None
        return NativeCopy(self.state.machine, slots, load, store)


class NativeAccess:
    """A load or store.

    Attributes:
        form: what is compiled of it.
        plan: what its function reads.
        slots: of the registers that it writes.
        outputs: of a load, the driver's table of these.
        dtypes: the dtypes of these.
        address: the function's address, once it is loaded.
    """

    def __init__(self, state: State, moves: Moves) -> None:
        self._state = state
        self._machine = machine = state.machine
        self._instruction = moves.instruction
        slot, bits, added = moves.address
        shared, checked = moves.space == "shared", machine.observer is not None
        form = self.form = Form(
            shared,
            bool(moves.slots),
            bits,
            moves.bits,
            moves.count,
            checked,
            pending=checked and moves.pending,
        )
        self._address = slot
        self._offsets = moves.offsets
        self._values = moves.values
        self._kind = Access.WRITE if form.store else Access.READ
        if form.pending:
            self._kind = Access.ASYNC_WRITE
        self._counts = (0, 0, 0)
        self.address = 0
        self._function: Callable[..., int] | None = None
        plan = self.plan = np.zeros(access_forms.PLAN_BYTES // 8, np.int64)
        plan[_AT["address"]] = slot
        self._added = wrapped(added - (0 if shared else GLOBAL_BASE))
        plan[_AT["added"]] = self._added
        plan[_AT["position"]] = moves.instruction.position
        plan[_AT["slot0"] : _AT["slot0"] + len(moves.slots)] = moves.slots
        entries = plan[access_forms.ENTRIES // 8 :].reshape(-1, access_forms.ENTRY // 8)
        size = access_forms.SIZE_OF_ENTRY
        entries[0, size] = _SIZES[bits]
        entries[2:, size] = _SIZES[form.bits]
        to = [(slot, n) for n, slot in enumerate(moves.targets) if slot is not None]
        # Of elements that go to one register, the last does.
        to = [(slot, n) for slot, n in to if dict(to)[slot] == n]
        self.slots = [slot for slot, _ in to]
        self.outputs = np.zeros((len(to), len(driver.OUTPUT)), np.int64)
        for row, (slot, number) in zip(self.outputs, to, strict=True):
            row[:4] = slot, 0, number, _SIZES[form.bits]
        self.dtypes = [dtype_of(form.bits)] * len(to)
        plan[_AT["outputs"]] = len(to)
        plan[_AT["table"]] = self.outputs.ctypes.data
        self._at = plan.ctypes.data, state.table.ctypes.data, id(machine.registers)
        machine.forgetting.append(self.forget)
        self.forget()

    def forget(self) -> None:
        """Forget the memory and the checks of a launch."""
        self._shape = (0, 0, 0)
        self._allocation: Allocation | None = None
        self._watched: Watched | None = None
        self._pattern = np.zeros(0, np.int64)
        self.plan[_AT["low"]] = self.plan[_AT["high"]] = self.plan[_AT["known"]] = 0

    def move(self) -> bool:
        """Load or store what the active threads do; False if numpy has to."""
        if not self.prepare():
            return False
        machine = self._machine
        mask = machine.mask
        outs = [] if self.form.store else self._outs(mask)
        if not self._access(mask, outs):
            return False
        for slot, out in zip(self.slots, outs, strict=True):
            machine.registers[slot] = out
        return True

    def _outs(self, mask: Array | None) -> list[Array]:
        """Arrays for what is loaded."""
        machine = self._machine
        registers, shape = machine.registers, machine.shape
        found: tuple[int, ...] = registers[self._address].shape
        if mask is not None:
            found = np.broadcast_shapes(found, mask.shape)
        if self.form.shared:
            found = (shape[0], *found[1:])
        merged = [
            machine.merge is not None and registers[s] is not machine.initial[s] for s in self.slots
        ]
        if any(merged):
            found = shape
        for row, slot, merges in zip(self.outputs, self.slots, merged, strict=True):
            row[_MODE] = driver.MERGED if merges else driver.FULL
            if merges:
                old = registers[slot]
                strides = [
                    0 if n == 1 else step for n, step in zip(old.shape, old.strides, strict=True)
                ]
                row[_DATA : _DATA + 4] = old.ctypes.data, *strides
        self.plan[_AT["of_ctas"] : _AT["of_lanes"] + 1] = found
        return [np.empty(found, dtype) for dtype in self.dtypes]

    @property
    def mask(self) -> Array | None:
        """The threads that are active now; None for all."""
        return self._machine.mask

    def shapes(self) -> list[tuple[int, ...]]:
        """Of the arrays for what is loaded, as machine code has found that they have to be."""
        modes = self.outputs[:, _MODE].tolist()
        return [(1, 1, 1) if mode == driver.UNIFORM else self._machine.shape for mode in modes]

    def make_room(self) -> None:
        """Have room for a record of it."""
        assert self._watched is not None
        self._watched.make_room()

    @property
    def unwatched(self) -> bool:
        """Whether nobody needs to watch it: it reads what nobody may write."""
        return self._allocation is not None and not self._allocation.writable

    def prepare(self) -> bool:
        """Whether machine code may be used."""
        state, machine, form = self._state, self._machine, self.form
        if _asked[form.name] < choice.AFTER and not state.has(form.name):
            _asked[form.name] += 1
            return False
        if not state.ready():
            return False
        self.begin()
        observer = machine.observer
        if observer is not None:
            if not may_follow(observer):
                return False
            if form.shared and not self._follow(observer):
                return False
            if not form.shared and form.store and follows_stores(observer):
                return False
        return True

    def begin(self) -> None:
        """Have the function, and begin a launch, or a wave of another shape."""
        machine, plan = self._machine, self.plan
        if self._function is None:
            self.address, self._function = _compiled(self._state, self.form)
        if self._shape == machine.shape:
            return
        self._shape = machine.shape
        memory = machine.memory
        if self.form.shared:
            size = memory.shared_bytes if self.form.checked else memory.shared_stride
            plan[_AT["low"]], plan[_AT["high"]] = 0, size
            if self.form.checked:
                ctas, warps, lanes = machine.shape
                self._pattern = np.zeros(ctas * warps * lanes, np.int64)
                plan[_AT["pattern"]] = self._pattern.ctypes.data
                plan[_AT["known"]] = 0
        elif not self.form.checked:
            plan[_AT["low"]], plan[_AT["high"]] = 0, memory.data.size

    def _follow(self, observer: Observer) -> bool:
        """Whether the checks of shared memory are in a state that machine code knows."""
        if observer.in_flight is not None or observer.peer_races.visitors:
            return False
        if not observer.shared.follows(self.form.size):
            return False
        self._state.follow(observer)
        return True

    def _access(self, mask: Array | None, outs: list[Array]) -> bool:
        """Check and move."""
        machine, form, plan = self._machine, self.form, self.plan
        ctas, warps, _ = machine.shape
        observer = machine.observer
        self._state.keep_values(0)
        given = (*self._at, id(outs), None if mask is None else id(mask), ctas, warps)
        if observer is None:
            return self._run(*given, PROBE | MOVE) == DONE
        if not form.shared:
            return self._access_global(observer, mask, given)
        if self._run(*given, PROBE | MOVE) != DONE:
            return False
        if form.pending:
            observer.shared.copied(self._instruction, self._offsets(), form.size, mask)
        elif form.store:
            observer.shared.stored_apart()
        if not plan[_AT["same"]]:
            self.learn(observer, mask)
        self.count_shared(observer, 1)
        return True

    def _run(self, *given: int | None) -> int:
        assert self._function is not None
        return self._function(*given)

    def learn(self, observer: Observer, mask: Array | None) -> None:
        """Find the wavefronts that the present pattern of addresses takes."""
        counts = observer.traffic.accesses[self._instruction.position]
        before = counts.requests, counts.wavefronts, counts.conflicts
        observer.traffic.count_shared(
            self._instruction, self._offsets(), self.form.size, mask, self._kind, None
        )
        after = counts.requests, counts.wavefronts, counts.conflicts
        requests, wavefronts, conflicts = (b - a for a, b in zip(before, after, strict=True))
        self._counts = requests, wavefronts, conflicts
        counts.requests, counts.wavefronts, counts.conflicts = before
        self.plan[_AT["known"]] = 1

    def count_shared(self, observer: Observer, times: int) -> None:
        """Count wavefronts of shared memory: those of the last pattern, so often."""
        counts = observer.traffic.accesses[self._instruction.position]
        requests, wavefronts, conflicts = self._counts
        counts.requests += times * requests
        counts.wavefronts += times * wavefronts
        counts.conflicts += times * conflicts

    def count_global(self, observer: Observer, requests: int, sectors: int) -> None:
        """Count sectors of global memory."""
        counts = observer.traffic.accesses[self._instruction.position]
        counts.requests += requests
        counts.sectors += sectors

    def watched(self, observer: Observer) -> Watched | None:
        """What watches it, where machine code may; None if numpy has to, or nobody needs to."""
        allocation = self._allocation
        if self._watched is None:
            watch = self._state.watch(observer)
            form = self.form
            self._watched = Watched(watch, self._instruction, self._kind, form.bits, form.count)
        places = {**self._state.places, "accessed": self.plan.ctypes.data}
        if allocation is None or not self._watched.attach(observer, allocation, places):
            return None
        return self._watched

    def forget_stale(self) -> bool:
        """Whether the allocation that it accessed the last time is still there."""
        allocation = self._allocation
        here = allocation is not None and (
            self._machine.memory.allocation(allocation.start) is allocation
        )
        if not here:
            self._allocation = None
            self.plan[_AT["low"]] = self.plan[_AT["high"]] = 0
        return here

    def _access_global(
        self, observer: Observer, mask: Array | None, given: tuple[int | None, ...]
    ) -> bool:
        """Check by machine code whether it is legal, count and remember it as numpy does."""
        machine, form, plan = self._machine, self.form, self.plan
        self.forget_stale()
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
        times = machine.shape[0] // int(plan[_AT["rows"]])
        self.count_global(
            observer, int(plan[_AT["requests"]]) * times, int(plan[_AT["sectors"]]) * times
        )
        values = self._values() if form.store else None
        watched = self.watched(observer)
        late = LateOffsets(machine.registers[self._address], self._added)
        if watched is not None and watched.access(observer, late, mask, values):
            self._state.keep_values(watched.values)
        else:
            observer.global_.access(
                self._instruction,
                self._allocation,
                self._offsets(),
                form.size,
                mask,
                self._kind,
                values,
            )
        done = self._run(*given, MOVE)
        assert done == DONE
        return True


def may_follow(observer: Observer) -> bool:
    """Whether machine code may access memory while it is watched."""
    taint = observer.taint
    return not (taint.replaying or taint.active or observer.orders is not None)


def _compiled(state: State, form: Form) -> tuple[int, Callable[..., int]]:
    """The function of a form, and where it is."""
    library = state.library
    assert library is not None
    if library.address(form.name) is None:
        from .stamping import function  # noqa: PLC0415 (for machine code only)

        library.load({form.name: function(form)}, access_forms.DECLARED)
    address = library.address(form.name)
    assert address is not None
    return address, _CALL(address)


def follows_stores(observer: Observer) -> bool:
    """Whether numpy follows each store to global memory."""
    return bool(observer.shared.copies.pending) or observer.global_.proxies is not None

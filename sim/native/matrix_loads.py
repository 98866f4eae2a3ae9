"""`ldmatrix` by machine code, with the checks of shared memory.

    load(plan) -> i64

Where anything might be wrong with it (see `tilec.sim.checks.shared`) the answer is REFUSED, nothing
has been changed, and numpy executes it.
"""

from __future__ import annotations

import ctypes
from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from tilec.isa import LANES, MatrixMemory

from ..access import Access
from ..alu import Array
from ..checks.stamps import PENDING, SEVERAL, THREAD, TIME
from ..tensor.indices import indices_of
from . import choice
from .choice import library_for
from .lanes import Lanes

if TYPE_CHECKING:
    from ..machine import Machine
    from ..observer import Observer
    from ..ptx.module import Instruction
    from .library import Library

DONE, REFUSED = 0, 1
ROWS, ROW_BYTES = 8, 16
"""Rows of a matrix, of 8 elements of 16 bits each."""
_MATRIX = ROWS * ROW_BYTES
_ELEMENTS = "<64 x i16>"
_WORK = 32
"""Instructions that numpy executes in about the time of an `ldmatrix` with checks."""
_KEPT = 64
"""Patterns of addresses whose wavefronts are remembered."""

PLAN = (
    "offsets", "of_cta", "of_warp", "of_lane", "rows", "ctas", "warps", "limit",
    "memory", "stride", "written", "read", "reader", "granules", "shift",
    "stamp", "seen", "floor", "position", "out",
)  # fmt: skip
"""Fields of a plan, 8 bytes each: where offsets are, and their strides; how many CTAs have stamps;
CTAs and warps; bytes of a CTA's shared memory, where that of the first is, and how far it is to the
next; then the stamps of granules, and the instructions that read them; granules of a CTA, and the
log2 of their bytes; the threads' own stamps, what warps have seen and what all have; the position
of the instruction; where registers go, (CTAs, warps, registers, lanes)."""
_POINTERS = {"offsets", "memory", "written", "read", "reader", "stamp", "seen", "out"}
_AT = {name: n for n, name in enumerate(PLAN)}
_CALL = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)


def _shuffle(form: MatrixMemory) -> tuple[int, ...] | None:
    """Which element of a matrix each of a register's is; None if registers have other matrices'."""
    if form.source is not None or (form.rows, form.row_bytes) != (ROWS, ROW_BYTES):
        return None
    (operand,) = form.results
    if operand.container != 16 or operand.registers != form.matrices:
        return None
    size = _MATRIX // 2
    index = indices_of(form.ptx, operand.name).registers.reshape(form.matrices, size)
    inside = index - size * np.arange(form.matrices)[:, None]
    if (inside != inside[0]).any() or not np.array_equal(np.sort(inside[0]), np.arange(size)):
        return None
    return tuple(inside[0].tolist())


class _Text(Lanes):
    """The text of a form's function."""

    def __init__(
        self, name: str, form: MatrixMemory, order: tuple[int, ...], checked: bool
    ) -> None:
        super().__init__(f"define i64 @{name}(ptr %plan)")
        self.plan = {
            field: self.load("%plan", 8 * n, "ptr" if field in _POINTERS else "i64")
            for field, n in _AT.items()
        }
        self.supplying = ROWS * form.matrices
        self.check(checked=checked)
        if checked:
            self.stamp()
        self.move(form.matrices, order)
        self.do(f"ret i64 {DONE}")

    def _offset(self, cta: str, warp: str, lane: str | int) -> str:
        """Where a lane's row begins."""
        at = self.op("mul", cta, self.plan["of_cta"])
        at = self.op("add", at, self.op("mul", warp, self.plan["of_warp"]))
        at = self.op("add", at, self.op("mul", lane, self.plan["of_lane"]))
        return self.load(self.plan["offsets"], at)

    def _granules(self, cta: str, offset: str) -> tuple[str, str]:
        """The first granule of a row, and how many it has."""
        own = self.op("mul", cta, self.plan["granules"])
        first = self.op("add", self.op("lshr", offset, self.plan["shift"]), own)
        return first, self.op("lshr", ROW_BYTES, self.plan["shift"])

    def _of(self, name: str, number: str) -> str:
        return self.load(self.plan[name], self.op("mul", number, 4), "i32")

    def _mine(self, cta: str, warp: str, lane: str) -> str:
        """The stamp of a thread."""
        row = self.op("add", self.op("mul", cta, self.plan["warps"]), warp)
        return self._of("stamp", self.op("add", self.op("mul", row, LANES), lane))

    def check(self, *, checked: bool) -> None:
        """Leave if a row is not legal, or its stamps are not certainly in order."""
        rows, warps = self.plan["rows"], self.plan["warps"]
        floor = self.value(f"trunc i64 {self.plan['floor']} to i32")
        last = self.op("sub", self.plan["limit"], ROW_BYTES)
        with (
            self.loop(rows) as cta,
            self.loop(warps) as warp,
            self.loop(self.supplying) as lane,
        ):
            offset = self._offset(cta, warp, lane)
            odd = self.is_("ne", self.op("and", offset, ROW_BYTES - 1), 0)
            # Signed: a CTA may have fewer bytes than a row.
            for wrong in (odd, self.is_("slt", offset, 0), self.is_("sgt", offset, last)):
                with self.when(wrong):
                    self.leave(REFUSED)
            if checked:
                first, count = self._granules(cta, offset)
                with self.loop(count) as part:
                    stamp = self._of("written", self.op("add", first, part))
                    with self.when(self.is_("eq", stamp, 0, "i32")):
                        self.leave(REFUSED)
                    time = self.value(f"lshr i32 {stamp}, {TIME}")
                    with self.when(self.is_("ugt", time, floor, "i32")):
                        self._leave_unless_seen(cta, warp, lane, stamp, time)

    def _leave_unless_seen(self, cta: str, warp: str, lane: str, stamp: str, time: str) -> None:
        """Leave if a stamp is another thread's that the warp has not seen, or several's."""
        pending = self.is_("eq", time, PENDING, "i32")
        many = self.is_("ne", self.value(f"and i32 {stamp}, {SEVERAL}"), 0, "i32")
        with self.when(self.value(f"or i1 {pending}, {many}")):
            self.leave(REFUSED)
        other = self.value(f"and i32 {stamp}, {THREAD}")
        me = self.value(f"and i32 {self._mine(cta, warp, lane)}, {THREAD}")
        with self.when(self.is_("ne", other, me, "i32")):
            others = self.value(f"zext i32 {self.value(f'udiv i32 {other}, {LANES}')} to i64")
            row = self.op("add", self.op("mul", cta, self.plan["warps"]), warp)
            at = self.op("add", self.op("mul", row, self.plan["warps"]), others)
            seen = self.load(self.plan["seen"], self.op("mul", at, 8))
            with self.when(self.is_("ugt", self.value(f"zext i32 {time} to i64"), seen)):
                self.leave(REFUSED)

    def stamp(self) -> None:
        """Stamp what is read; granules that several threads read at one time say so."""
        position = self.value(f"trunc i64 {self.plan['position']} to i32")
        with (
            self.loop(self.plan["rows"]) as cta,
            self.loop(self.plan["warps"]) as warp,
            self.loop(self.supplying) as lane,
        ):
            first, count = self._granules(cta, self._offset(cta, warp, lane))
            mine = self._mine(cta, warp, lane)
            with self.loop(count) as part:
                at = self.op("mul", self.op("add", first, part), 4)
                before = self.load(self.plan["read"], at, "i32")
                differ = self.value(f"xor i32 {before}, {mine}")
                at_once = self.is_("eq", self.value(f"lshr i32 {differ}, {TIME}"), 0, "i32")
                other = self.is_("ne", self.value(f"and i32 {differ}, {THREAD}"), 0, "i32")
                many = self.is_("ne", self.value(f"and i32 {before}, {SEVERAL}"), 0, "i32")
                several = self.both(at_once, self.value(f"or i1 {other}, {many}"))
                marked = self.value(f"or i32 {mine}, {SEVERAL}")
                new = self.value(f"select i1 {several}, i32 {marked}, i32 {mine}")
                self.store("i32", new, self.plan["read"], at)
                self.store("i32", position, self.plan["reader"], at)

    def move(self, matrices: int, order: tuple[int, ...]) -> None:
        """Bring the rows to the registers."""
        row = f"<{ROW_BYTES // 2} x i16>"
        room = self.keep(_ELEMENTS, "zeroinitializer")
        mask = ", ".join(f"i32 {element}" for element in order)
        with self.loop(self.plan["ctas"]) as cta, self.loop(self.plan["warps"]) as warp:
            own = self.at(self.plan["memory"], self.op("mul", cta, self.plan["stride"]))
            number = self.op("add", self.op("mul", cta, self.plan["warps"]), warp)
            out = self.at(self.plan["out"], self.op("mul", number, matrices * _MATRIX))
            with self.loop(matrices) as matrix:
                lane = self.op("mul", matrix, ROWS)
                for n in range(ROWS):
                    offset = self._offset(cta, warp, self.op("add", lane, n))
                    found = self.value(f"load {row}, ptr {self.at(own, offset)}, align 2")
                    self.do(f"store {row} {found}, ptr {self.at(room, n * ROW_BYTES)}, align 2")
                elements = self.get(_ELEMENTS, room)
                moved = self.value(
                    f"shufflevector {_ELEMENTS} {elements}, {_ELEMENTS} poison, <64 x i32> <{mask}>"
                )
                to = self.at(out, self.op("mul", matrix, _MATRIX))
                self.do(f"store {_ELEMENTS} {moved}, ptr {to}, align 4")


_asked: Counter[str] = Counter()
"""How often numpy has executed each form in place of machine code."""


class MatrixLoad:
    """An `ldmatrix`.

    Args:
        machine: where it is executed.
        instruction: it.
        form: its form, for which there is machine code.
        order: which element of a matrix each of a register's is.
    """

    def __init__(
        self,
        machine: Machine,
        instruction: Instruction,
        form: MatrixMemory,
        order: tuple[int, ...],
    ) -> None:
        self._machine, self._instruction, self._form = machine, instruction, form
        self._order = order
        self._lanes = form.matrices * form.rows
        self._supplies = (np.arange(LANES) < self._lanes).reshape(1, 1, LANES)
        checked = "_checked" if machine.observer is not None else ""
        trans = "_trans" if form.transposed else ""
        self._name = f"ldmatrix_x{form.matrices}{trans}{checked}"
        self._plan = np.zeros(len(PLAN), np.int64)
        self._plan[_AT["position"]] = instruction.position
        self._where = self._plan.ctypes.data
        self._run: Callable[[int], int] | None = None
        self._library: Library | None = None  # which owns the code
        self._counts: dict[tuple[int, bytes], tuple[int, int, int]] = {}
        machine.forgetting.append(self._counts.clear)

    def load(self, offsets: Array) -> Array | None:
        """Registers, (CTAs · warps, registers, lanes), of rows at offsets of all threads.

        None if numpy has to load them.
        """
        machine, observer = self._machine, self._machine.observer
        if not self._ready() or (observer is not None and not _plain(observer)):
            return None
        ctas, warps, _ = machine.shape
        if offsets.shape[1:] != (warps, LANES):
            offsets = np.broadcast_to(offsets, (offsets.shape[0], warps, LANES))
        rows = offsets.shape[0]
        if observer is not None:
            if rows > 1 and observer.progress.ctas != rows:
                return None
            rows = observer.progress.ctas
        out = np.empty((ctas * warps, self._form.matrices, LANES), np.uint32)
        kept = self._fill(offsets, rows, out)
        assert self._run is not None
        if self._run(self._where) != DONE:
            return None
        del kept  # which the function has read
        if observer is not None:
            self._count(observer, offsets)
        return out

    def _ready(self) -> bool:
        """Whether machine code may be used by now."""
        if self._run is not None:
            return True
        if _asked[self._name] < choice.AFTER:
            _asked[self._name] += 1
            return False
        found = library_for(_WORK)
        if found is None:
            return False
        if found.address(self._name) is None:
            checked = self._machine.observer is not None
            text = _Text(self._name, self._form, self._order, checked).end()
            found.load({self._name: text}, frozenset())
        address = found.address(self._name)
        assert address is not None
        self._library, self._run = found, _CALL(address)
        return True

    def _fill(self, offsets: Array, rows: int, out: Array) -> list[Array]:
        """Fill the plan; the arrays that must live while the function runs."""
        machine, plan = self._machine, self._plan
        memory, observer = machine.memory, machine.observer
        ctas, warps, _ = machine.shape
        of_cta, of_warp, of_lane = offsets.strides
        kept = [offsets, out]
        plan[: _AT["limit"]] = (
            *(offsets.ctypes.data, 0 if offsets.shape[0] == 1 else of_cta, of_warp, of_lane),
            *(rows, ctas, warps),
        )
        plan[_AT["limit"]] = memory.shared_bytes if observer is not None else memory.shared_stride
        plan[_AT["memory"]] = memory.data.ctypes.data + memory.shared_base
        plan[_AT["stride"]] = memory.shared_stride
        plan[_AT["out"]] = out.ctypes.data
        if observer is not None:
            shared, progress = observer.shared, observer.progress
            stamp = np.ascontiguousarray(progress.stamp)
            seen = np.ascontiguousarray(progress.clocks.seen)
            kept += [stamp, seen]
            plan[_AT["written"] : _AT["position"]] = (
                *(shared.written.ctypes.data, shared.read.ctypes.data, shared.reader.ctypes.data),
                *(shared.granules, shared.granule.bit_length() - 1),
                *(stamp.ctypes.data, seen.ctypes.data, progress.floor),
            )
        return kept

    def _count(self, observer: Observer, offsets: Array) -> None:
        """Count wavefronts: those of the last time, if the rows are at the same places."""
        counts = observer.traffic.accesses[self._instruction.position]
        key = self._machine.shape[0], offsets.tobytes()
        known = self._counts.get(key)
        if known is not None:
            counts.requests += known[0]
            counts.wavefronts += known[1]
            counts.conflicts += known[2]
            return
        before = counts.requests, counts.wavefronts, counts.conflicts
        observer.traffic.count_shared(
            self._instruction, offsets, ROW_BYTES, self._supplies, Access.READ, self._form
        )
        if len(self._counts) == _KEPT:
            self._counts.clear()
        self._counts[key] = (
            counts.requests - before[0],
            counts.wavefronts - before[1],
            counts.conflicts - before[2],
        )


def _plain(observer: Observer) -> bool:
    """Whether the checks are in a state that machine code knows."""
    if observer.taint.replaying or observer.taint.active or observer.orders is not None:
        return False
    if observer.in_flight is not None or observer.peer_races.visitors:
        return False
    return observer.shared.follows(ROW_BYTES)


def matrix_load(
    machine: Machine, instruction: Instruction, form: MatrixMemory
) -> MatrixLoad | None:
    """What executes an `ldmatrix`; None if numpy does."""
    order = _shuffle(form)
    return None if order is None else MatrixLoad(machine, instruction, form, order)

"""The parts of blocks, ready for the scheduler in machine code."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..alu import Array
from . import driver
from .control_checks import Checks
from .control_tables import BARRIER, GLOBAL, NUMPY, PART_OF, SHARED, STRETCH, WATCHED
from .parts import AccessPart, BarrierPart, Part, StretchPart
from .stretches import renewed

if TYPE_CHECKING:
    from ..observer import Observer

_AT = {name: n for n, name in enumerate(PART_OF)}


class Ready:
    """A part with arrays for its results.

    Attributes:
        part: the part.
        outs: the arrays.
    """

    def __init__(self, part: Part, row: Array) -> None:
        self.part = part
        self._row = row
        self.outs: list[Array] = []
        self._kept: list[Array] = []
        kind, plan, guard = NUMPY, 0, -1
        if isinstance(part, StretchPart):
            kind, plan, self.outs = STRETCH, part.stretch.plan, part.stretch.arrays()
        elif isinstance(part, BarrierPart):
            kind = BARRIER
        elif isinstance(part, AccessPart):
            access = part.access
            self.outs = [np.empty((1, 1, 1), dtype) for dtype in access.dtypes]
            outputs = np.zeros(len(driver.PLAN), np.int64)
            outputs[driver.PLAN.index("outputs")] = len(self.outs)
            outputs[driver.PLAN.index("output_table")] = access.outputs.ctypes.data
            self._own = np.zeros(4, np.int64)
            self._kept.append(outputs)
            plan = outputs.ctypes.data
            row[_AT["function"]] = self._own.ctypes.data
            if part.guard is not None:
                guard, row[_AT["negated"]] = part.guard
        dtypes = np.array([id(array.dtype) for array in self.outs], np.int64)
        kept = np.zeros(len(self.outs), np.int64)
        self._kept += [dtypes, kept]
        given = {
            "plan": plan, "outs": id(self.outs), "dtypes": dtypes.ctypes.data,
            "kept": kept.ctypes.data, "kind": kind, "index": part.place, "guard": guard,
        }  # fmt: skip
        for name, value in given.items():
            row[_AT[name]] = value

    def renew(self, checks: Checks) -> None:
        """Take note of what has become of a load or store."""
        if not isinstance(self.part, AccessPart):
            return
        access, observer = self.part.access, checks.observer
        access.begin()
        form, kind = access.form, NUMPY
        self._own[:] = access.address, access.plan.ctypes.data, form.size, form.store
        if form.shared:
            kind = SHARED
        elif observer is None:
            kind = GLOBAL
        elif access.forget_stale():
            watched = access.watched(observer)
            if watched is not None:
                kind = WATCHED
                self._row[_AT["watched"]] = watched.plan.ctypes.data
            elif access.unwatched:
                kind = GLOBAL
        self._row[_AT["kind"]] = kind

    def forget(self) -> None:
        """Hold no arrays."""
        self.outs[:] = [np.empty((1, 1, 1), array.dtype) for array in self.outs]

    def arrays(self) -> bool:
        """Have arrays of the right shapes for the results; whether any was not right."""
        if isinstance(self.part, StretchPart):
            return self.part.stretch.renew(self.outs)
        assert isinstance(self.part, AccessPart)
        access = self.part.access
        shapes = access.shapes()
        return renewed(self.outs, shapes, access.dtypes)

    def make_room(self) -> None:
        """Have room in the log."""
        assert isinstance(self.part, AccessPart)
        self.part.access.make_room()

    def learn(self, checks: Checks) -> None:
        """Find what the present pattern of addresses costs."""
        assert isinstance(self.part, AccessPart)
        assert checks.observer is not None
        part, access = self.part, self.part.access
        # What has been counted before has been of another pattern.
        self.note(0, checks.observer)

        def learn() -> None:
            assert checks.observer is not None
            access.learn(checks.observer, access.mask)

        (learn if part.guarded is None else part.guarded(learn))()

    def step(self) -> bool:
        """Execute it in the active threads; whether that was done."""
        part = self.part
        if isinstance(part, BarrierPart):
            part.step()
            return True
        assert isinstance(part, AccessPart)
        done = True

        def move() -> None:
            nonlocal done
            done = part.access.move()

        (move if part.guarded is None else part.guarded(move))()
        return done

    @property
    def done(self) -> int:
        """How often machine code has executed it since the last note."""
        return int(self._row[_AT["done"]])

    def note(self, warps: int, observer: Observer | None) -> None:
        """Count what it has done, for so many warps."""
        part, row = self.part, self._row
        if isinstance(part, StretchPart):
            part.stretch.heat(warps)
        elif isinstance(part, AccessPart):
            same, requests, sectors, _ = row[_AT["same"] :].tolist()
            row[_AT["same"] :] = 0
            if observer is None:
                return
            if same:
                part.access.count_shared(observer, same)
            if requests:
                part.access.count_global(observer, requests, sectors)

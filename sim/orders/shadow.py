"""Shared memory of a cluster in the model: who touched which bytes last, and who knows.

Clocks have a component for each warp, and one for each thing that asynchronous operations complete
by: the copies of a warp, the products of a warpgroup, the phases of an mbarrier. An access comes
after another if its clock has reached the other's component and time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from ..alu import Array
from .ops import ACCESSES, Kind, Op, Trace

OPEN = 2**30
"""The time of what has not completed."""
WRITES = frozenset({Kind.WRITE, Kind.CP_WRITE, Kind.COPY})
"""Ops that replace what is in shared memory."""
_GENERIC = frozenset({Kind.READ, Kind.WRITE, Kind.ATOMIC, Kind.CP_WRITE})


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two accesses that nothing orders.

    Attributes:
        kind: `race`, `async` or `proxy`.
        before: the op that came first.
        warp: its warp.
        address: the first byte, in the shared memory of its CTA.
    """

    kind: str
    before: Op
    warp: int
    address: int


class Bytes:
    """The bytes that the ops of a trace touch, in the largest units that none of them splits.

    Attributes:
        units: number of units.
        of: the units of each op that touches any.
    """

    def __init__(self, trace: Trace) -> None:
        ops = [op for warp in trace.warps for op in warp if op.kind in ACCESSES and op.places.size]
        self.unit = min((op.size & -op.size for op in ops), default=16)
        self.unit = min(self.unit, 16)
        self._stride = 1 << 26
        raw = [self._units(op) for op in ops]
        known = np.unique(np.concatenate(raw)) if raw else np.zeros(0, np.int64)
        self.units = known.size
        self.of = {id(op): np.searchsorted(known, one) for op, one in zip(ops, raw, strict=True)}
        self._known = known

    def _units(self, op: Op) -> Array:
        first = (op.places + op.cta * self._stride) // self.unit
        each = first[:, None] + np.arange(max(op.size // self.unit, 1))
        return np.unique(each)

    def address(self, unit: int) -> int:
        """Where a unit begins in the shared memory of its CTA."""
        return int(self._known[unit]) * self.unit % self._stride


class Shadow:
    """The state of the bytes in one run of the model.

    Args:
        bytes_: the units.
    """

    def __init__(self, bytes_: Bytes) -> None:
        self.bytes = bytes_
        count = bytes_.units
        self._writer = np.zeros(count, np.int32)  # component
        self._written = np.zeros(count, np.int32)  # time
        self._by = np.full(count, -1, np.int32)  # entry of _entries
        self._maker = np.zeros(count, np.int32)  # warp that wrote by the generic proxy
        self._made = np.zeros(count, np.int32)  # when, 0 if the last write was not by it
        # Reads since the last write, and atomics, by component; and their entries.
        self._read: dict[int, Array] = {}
        self._reader: dict[int, Array] = {}
        self._changed: dict[int, Array] = {}
        self._changer: dict[int, Array] = {}
        self._entries: list[tuple[Op, int]] = []
        self._pending: dict[int, Array] = {}

    def touch(
        self,
        op: Op,
        warp: int,
        now: int,
        component: int,
        time: int,
        clock: Array,
        found: Callable[[Conflict], None],
    ) -> int:
        """A warp's op touches bytes; what it is named, for `complete`.

        Args:
            op: the op.
            warp: whose.
            now: the warp's time.
            component: of the clock that tells when it is complete.
            time: of that; `OPEN` if not known yet.
            clock: what the warp knows, and what of it has been fenced, (2, components).
            found: told of conflicts.
        """
        units = self.bytes.of.get(id(op))
        entry = len(self._entries)
        if units is None:
            return -1
        self._entries.append((op, warp))
        writes = op.kind in WRITES
        generic = op.kind in _GENERIC
        for conflict in self._conflicts(op, units, clock, warp):
            found(conflict)
        if writes:
            self._writer[units], self._written[units], self._by[units] = component, time, entry
            self._maker[units], self._made[units] = warp, now if generic else 0
            for seen in (*self._read.values(), *self._changed.values()):
                seen[units] = 0
            if time == OPEN:
                self._pending[entry] = units
            return entry
        times, entries = self._read, self._reader
        if op.kind is Kind.ATOMIC:
            times, entries = self._changed, self._changer
            self._maker[units], self._made[units] = warp, now
        if component not in times:
            times[component] = np.zeros(self.bytes.units, np.int32)
            entries[component] = np.zeros(self.bytes.units, np.int32)
        times[component][units], entries[component][units] = time, entry
        return entry

    def complete(self, entry: int, time: int) -> None:
        """A copy completes, at a time of its component."""
        units = self._pending.pop(entry, None)
        if units is not None:
            self._written[units[self._by[units] == entry]] = time

    def _conflicts(self, op: Op, units: Array, clock: Array, warp: int) -> Iterator[Conflict]:
        kind = op.kind
        late = self._written[units] > clock[0][self._writer[units]]
        if op.stored is not None and late.any():
            # By the memory model a race, and advice of the run: the result is the same.
            alike = [n for n in np.unique(self._by[units[late]]) if op.repeats(self._entries[n][0])]
            late &= ~np.isin(self._by[units], alike)
        if late.any():
            at = int(units[late.argmax()])
            yield self._conflict(at, int(self._by[at]))
        elif kind not in _GENERIC:
            unfenced = self._made[units] > clock[1][self._maker[units]]
            if unfenced.any():
                at = int(units[unfenced.argmax()])
                before, other = self._entries[self._by[at]]
                yield Conflict("proxy", before, other, self.bytes.address(at))
        if kind is not Kind.ATOMIC:
            yield from self._unordered(self._changed, self._changer, units, clock, warp)
        if kind in WRITES | {Kind.ATOMIC}:
            yield from self._unordered(self._read, self._reader, units, clock, warp)

    def _unordered(
        self,
        times: dict[int, Array],
        entries: dict[int, Array],
        units: Array,
        clock: Array,
        warp: int,
    ) -> Iterator[Conflict]:
        """The first of some accesses, by their components, that nothing orders before a warp's."""
        for component, when in times.items():
            if component == warp:
                continue
            late = when[units] > clock[0][component]
            if late.any():
                at = int(units[late.argmax()])
                yield self._conflict(at, int(entries[component][at]))
                return

    def _conflict(self, unit: int, entry: int) -> Conflict:
        before, warp = self._entries[entry]
        kind = "race" if before.kind in _GENERIC - {Kind.CP_WRITE} else "async"
        return Conflict(kind, before, warp, self.bytes.address(unit))

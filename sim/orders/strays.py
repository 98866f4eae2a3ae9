"""Arrivals at mbarriers that count in one phase in one order, and in a later one in another.

An mbarrier that expects an arrival too few lets those who wait go on without a warp. The memory
that the warp's `wgmma` read may then be overwritten. The ISA says of the other warps of its
warpgroup that they, too, know when a `wgmma` is complete, so the first time that happens nothing
is lost. But one more arrival is left over in each phase, until a whole warpgroup is missing, many
steps of orders beyond any limit. So the arrival that changes phases is told of at once.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..alu import Array
from .model import Model
from .ops import Kind, Op
from .order import Fault, Order, Place
from .shadow import WRITES


def stray(model: Model, first: Order, other: Order) -> Fault | None:
    """The first arrival without which somebody goes on in an order, who did not in the first.

    It counts, and only if what `wgmma` of its warp read before it is overwritten by the one who
    went on, before that one knows of the arrival.
    """
    for (warp, time), (key, phase) in other.arrivals.items():
        was = first.arrivals.get((warp, time))
        if was is None or was[1] >= phase:
            continue
        for waiter, (waited, seen, number) in other.waits.items():
            if waited != key or seen != was[1] or waiter[0] == warp:
                continue
            known = int(other.clocks[number][warp])
            if known >= time or not _same_phase(first, other, waiter):
                continue
            read = _read(model, warp, time)
            for at, op in _writes(other, waiter[0], number, (warp, time)):
                if np.intersect1d(read, model.bytes.of[id(op)]).size:
                    return _fault(model, warp, time, waiter, at)
    return None


def _same_phase(first: Order, other: Order, waiter: Place) -> bool:
    before = first.waits.get(waiter)
    return before is not None and before[:2] == other.waits[waiter][:2]


def _read(model: Model, warp: int, time: int) -> Array:
    """The units that a warp's `wgmma` read before an arrival and since the one before that."""
    ops, units = model.trace.warps[warp], []
    for op in reversed(ops[: time - 1]):
        if op.key == ops[time - 1].key and op.kind in (Kind.ARRIVE, Kind.DROP):
            break
        if op.kind is Kind.PRODUCT_READ:
            units.append(model.bytes.of[id(op)])
    return np.unique(np.concatenate(units)) if units else np.zeros(0, np.int64)


def _writes(order: Order, warp: int, after: int, unknown: Place) -> Iterator[tuple[int, Op]]:
    """What a warp writes after a step, before it knows of a place in another warp."""
    for number in range(after + 1, len(order.names)):
        name, (whose, op) = order.names[number], order.ops[number]
        if whose != warp or name[1] >= 0:
            continue
        if int(order.clocks[number][unknown[0]]) >= unknown[1]:
            return
        if op.kind in WRITES and op.places.size:
            yield number, op


def _fault(model: Model, warp: int, time: int, waiter: Place, at: int) -> Fault:
    arrival = model.trace.warps[warp][time - 1]
    wait = model.trace.warps[waiter[0]][waiter[1] - 1]
    assert arrival.key is not None
    words = (
        f"comes to the mbarrier at {arrival.key[1]:#x} after the phase in which it should count: "
        f"that completes without it, and after {{0}} what wgmma of this warp read is overwritten"
        f"\0{wait.instruction.position}\0{wait.instruction.mnemonic}"
    )
    return Fault("mbarrier", arrival, warp, words, at)

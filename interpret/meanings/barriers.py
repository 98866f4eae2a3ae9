"""`tile.barrier_*`: mbarriers. PTX ISA, "mbarrier"."""

from __future__ import annotations

import numpy as np
from tilec.interpret.call import Call
from tilec.interpret.cta import Cta, Running
from tilec.interpret.groups import PendingCopy
from tilec.interpret.mbarriers import Mbarrier
from tilec.interpret.memory import View
from tilec.interpret.numbers import Array
from tilec.interpret.registry import meaning


@meaning("tile.barrier_init", meets=True)
def _init(call: Call, view: View, index: Array) -> None:
    cta = call.cta
    order = cta.order
    assert order is not None  # of every program with this op
    warps = cta.agents(call.warps)
    order.release(warps)
    source = order.new_source()

    def arrive(copies: list[PendingCopy], source: int) -> Array:
        for copy in copies:
            (copy.end or cta.shared.end_box)(copy, source)
        assert order is not None
        return order.release_copies(source)

    place = view.buffer.shared, int(call.uniform(index))
    began = order.now - 1, int(warps[0])
    cta.mbarriers[place] = Mbarrier(call.integer("count"), source, began, arrive)


def find(call: Call, cta: Cta, view: View, index: Array) -> Mbarrier | None:
    """The mbarrier that threads use, in their own CTA or another; None of none, which is reported.

    Args:
        call: the op of the threads.
        cta: whose mbarrier it is.
        view: the memref.
        index: the place in it.
    """
    found = cta.mbarriers.get((view.buffer.shared, int(call.uniform(index))))
    if found is None:
        call.report("uninitialised", "uses an mbarrier that was not initialised")
        return None
    time, warp = found.began
    order = cta.order
    assert order is not None
    own = call.cta.agents(call.warps)
    if any(order.known(one)[warp] < time for one in own if one != warp):
        call.report(
            "race", "uses an mbarrier that another warp initialises, without synchronisation"
        )
    return found


def _arrive(call: Call, found: Mbarrier, times: int, expected: int = 0) -> None:
    order = call.cta.order
    assert order is not None
    arrive(call, found, order.release(call.cta.agents(call.warps)), times, expected)


def arrive(call: Call, found: Mbarrier, clock: Array, times: int = 1, expected: int = 0) -> None:
    """Arrive at an mbarrier, and hand on a clock; more often than it counts is reported."""
    if found.arrive(times, clock, expected):
        call.report("barrier", "arrives more often than a phase of the mbarrier counts")


@meaning("tile.barrier_arrive")
def _arrives(call: Call, view: View, index: Array, *rank: Array) -> None:
    for one in call.alike(index, *rank):
        _arrive_at(one, view, index, *rank)


def _arrive_at(call: Call, view: View, index: Array, *rank: Array) -> None:
    """What threads do that come to one mbarrier, or to one in each CTA."""
    if call.has("ctas"):
        for cta in call.cta.cluster.ctas[: call.integer("ctas")]:
            found = find(call, cta, view, index)
            if found is not None:
                _arrive(call, found, int(call.warps.sum()))
        return
    times = int(call.warps.sum() if call.has("elected") else call.active.sum())
    cta = call.cta.cluster.ctas[int(call.uniform(rank[0]))] if rank else call.cta
    found = find(call, cta, view, index)
    if found is not None:
        _arrive(call, found, times)


@meaning("tile.barrier_expect")
def _expect(call: Call, view: View, index: Array) -> None:
    for one in call.alike(index):
        found = find(one, one.cta, view, index)
        if found is not None:
            _arrive(one, found, int(one.active.sum()), one.integer("bytes"))


@meaning("tile.barrier_wait", control=True)
def _wait(call: Call, view: View, index: Array, parity: Array) -> Running:
    for one in call.alike(index, parity):
        yield from _wait_for(one, view, index, parity)
    return ()


def _wait_for(call: Call, view: View, index: Array, parity: Array) -> Running:
    """What threads do that wait for one mbarrier."""
    found = find(call, call.cta, view, index)
    if found is None:
        return ()
    wanted = bool(call.uniform(np.asarray(parity)))
    while not found.has_ended(wanted):
        call.cta.waits = call.node
        yield
    order = call.cta.order
    if found.over is not None and order is not None:
        order.acquire(call.cta.agents(call.warps), found.over)
    return ()

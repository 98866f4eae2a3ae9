"""`gpu`: places in the grid, and barriers."""

from __future__ import annotations

import numpy as np
from tilec.interpret.call import Call
from tilec.interpret.cta import Running
from tilec.interpret.meetings import Meeting
from tilec.interpret.numbers import Array
from tilec.interpret.registry import meaning
from tilec.ir.dimensions import dimension_of
from tilec.isa import LANES, WARPGROUP_THREADS


def _dimension(call: Call) -> int:
    return call.fact("dimension", lambda: dimension_of(call.op))


def _along(call: Call, sizes: tuple[int, int, int]) -> Array:
    return np.asarray(sizes[_dimension(call)], np.int64)


@meaning("gpu.block_id")
def _block_id(call: Call) -> Array:
    return _along(call, call.cta.at)


@meaning("gpu.grid_dim")
def _grid_dim(call: Call) -> Array:
    return _along(call, call.cta.grid)


@meaning("gpu.block_dim")
def _block_dim(call: Call) -> Array:
    return _along(call, call.cta.block)


@meaning("gpu.thread_id")
def _thread_id(call: Call) -> Array:
    x, y, _ = call.cta.block
    number = np.arange(call.cta.threads)
    return np.asarray((number % x, number // x % y, number // (x * y))[_dimension(call)])


@meaning("gpu.lane_id")
def _lane_id(call: Call) -> Array:
    return np.arange(call.cta.threads) % LANES


@meaning("gpu.subgroup_id")
def _subgroup_id(call: Call) -> Array:
    return np.arange(call.cta.threads) // LANES


@meaning("gpu.num_subgroups")
def _num_subgroups(call: Call) -> Array:
    return np.asarray(call.cta.threads // LANES)


@meaning("gpu.subgroup_size")
def _subgroup_size(call: Call) -> Array:
    return np.asarray(LANES)


@meaning("tile.warpgroup_id")
def _warpgroup_id(call: Call) -> Array:
    return np.arange(call.cta.threads) // WARPGROUP_THREADS


@meaning("tile.turn")
def _turn(call: Call) -> tuple[Array, Array]:
    """One warpgroup takes all tiles."""
    del call
    return np.asarray(0), np.asarray(1)


@meaning("gpu.barrier", control=True)
def _barrier(call: Call) -> Running:
    """All threads of the CTA come together, but for those that left for a role."""
    return (yield from meet(call, 0, int(call.cta.present.sum())))


def meet(call: Call, number: int, count: int) -> Running:
    """Let threads wait until so many have come to a barrier.

    Args:
        call: the op.
        number: of the barrier.
        count: threads that meet there.
    """
    cta = call.cta
    if int(call.active.sum()) == count:
        cta.meet(call.warps)
        return ()

    def met(threads: set[tuple[int, int]]) -> None:
        warps = np.zeros(cta.warps, bool)
        warps[[thread // LANES for _, thread in threads]] = True
        cta.meet(warps)

    meeting = cta.meetings.setdefault(number, Meeting())
    threads = {(cta.rank, int(thread)) for thread in np.flatnonzero(call.active)}
    turn = meeting.arrive(threads, count, met)
    cta.waits = call.node
    yield from meeting.wait(turn)
    return ()

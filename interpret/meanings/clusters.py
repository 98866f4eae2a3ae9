"""Clusters: places in them, and their barrier."""

from __future__ import annotations

import numpy as np
from tilec.interpret.call import Call
from tilec.interpret.cta import Running
from tilec.interpret.numbers import Array
from tilec.interpret.registry import meaning
from tilec.ir.dimensions import dimension_of


def _along(call: Call, sizes: list[int]) -> Array:
    return np.asarray(sizes[call.fact("dimension", lambda: dimension_of(call.op))], np.int64)


def _places(call: Call) -> list[tuple[int, int]]:
    """The CTA's place along each dimension, and CTAs of a cluster there."""
    return list(zip(call.cta.at, call.cta.cluster.extents, strict=True))


@meaning("gpu.cluster_block_id")
def _block_in_cluster(call: Call) -> Array:
    return _along(call, [at % extent for at, extent in _places(call)])


@meaning("nvvm.read.ptx.sreg.cluster.ctarank")
def _rank(call: Call) -> Array:
    return np.asarray(call.cta.rank, np.int32)


@meaning("gpu.cluster_id")
def _cluster(call: Call) -> Array:
    return _along(call, [at // extent for at, extent in _places(call)])


@meaning("gpu.cluster_dim_blocks")
def _extent(call: Call) -> Array:
    return _along(call, [extent for _, extent in _places(call)])


@meaning("gpu.cluster_dim")
def _clusters(call: Call) -> Array:
    pairs = zip(call.cta.grid, call.cta.cluster.extents, strict=True)
    return _along(call, [grid // extent for grid, extent in pairs])


@meaning("nvvm.cluster.arrive", meets=True)
def _arrive(call: Call) -> None:
    """Come to the barrier of the cluster; what was done before is known to who waits for it."""
    cta = call.cta
    cta.arrived = cta.cluster.arrive(cta.threads_of(call.active))


@meaning("nvvm.cluster.wait", control=True)
def _wait(call: Call) -> Running:
    call.cta.waits = call.node
    yield from call.cta.cluster.meeting.wait(call.cta.arrived)
    return ()

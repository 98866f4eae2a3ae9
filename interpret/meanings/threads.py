"""`nvvm` beside products and copies: elections, registers of roles, fences, named barriers."""

from __future__ import annotations

import numpy as np
from tilec.interpret.call import Call
from tilec.interpret.cta import Running
from tilec.interpret.meanings.gpu import meet
from tilec.interpret.numbers import Array
from tilec.interpret.registry import meaning
from tilec.ir.mlir import ir
from tilec.isa import LANES, WARPGROUP_THREADS


@meaning("nvvm.elect.sync")
def _elect(call: Call, *members: Array) -> Array:
    """The first of the threads of a warp that come together."""
    del members
    active = call.active.reshape(-1, LANES)
    first = active & (active.cumsum(axis=1) == 1)
    return np.asarray(first.reshape(-1))


@meaning("nvvm.bar.warp.sync")
def _meet_in_warp(call: Call, members: Array) -> None:
    """What lanes of a warp do to each other is not watched: they must all come, though."""
    lanes = np.arange(call.cta.threads) % LANES
    named = (np.asarray(members).astype(np.int64) >> lanes & 1).astype(bool)
    warps = np.repeat(call.warps, LANES)
    if (call.active != named & warps).any():
        call.report("divergent", "waits for other lanes than those that execute it")


@meaning("nvvm.setmaxregister")
def _registers(call: Call) -> None:
    """Nothing that is computed: whole warpgroups must come, though."""
    counts = call.active.reshape(-1, LANES).sum(axis=1)
    if (counts % LANES).any() or call.active.sum() % WARPGROUP_THREADS:
        call.report("divergent", "is executed by a part of a warpgroup")


@meaning("nvvm.griddepcontrol")
def _other_kernels(call: Call) -> None:
    """Nothing: those before have ended, and those behind wait for the end of this one."""
    del call


@meaning("nvvm.fence.mbarrier.init")
def _fence_barriers(call: Call) -> None:
    """The asynchronous proxy may use what the thread's warp has initialised."""
    warps = set(call.cta.agents(call.warps).tolist())
    for found in call.cta.mbarriers.values():
        found.fenced = found.fenced or found.began[1] in warps


_ASYNC = ("#nvvm.proxy_kind<async.shared>", "#nvvm.proxy_kind<async>")


@meaning("nvvm.fence.proxy")
def _fence_proxy(call: Call) -> None:
    if call.fact("kind", lambda: str(call.op.attributes["kind"])) not in _ASYNC:
        call.unknown("a fence of a proxy other than the asynchronous one")
    call.cta.shared.fence(call.warp_mask)


@meaning("nvvm.barrier", control=True, meets=True)
def _barrier(call: Call, *operands: Array) -> Running:
    """Some threads of the CTA come together, by a number."""
    sizes: tuple[int, ...] = call.fact(
        "sizes", lambda: tuple(ir.DenseI32ArrayAttr(call.op.attributes["operandSegmentSizes"]))
    )
    given, counted, *further = sizes
    if any(further):
        call.unknown("a barrier that reduces")
    number = int(call.uniform(operands[0])) if given else 0
    count = int(call.uniform(operands[given])) if counted else call.cta.threads
    return (yield from meet(call, number, count))

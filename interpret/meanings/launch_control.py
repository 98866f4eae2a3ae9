"""`tile.try_cancel`, `tile.query_cancel`. PTX ISA, "clusterlaunchcontrol".

Any request may fail, and here all do: each CTA computes what it was launched for.
"""

from __future__ import annotations

import numpy as np
from tilec.interpret.call import Call
from tilec.interpret.groups import PendingCopy
from tilec.interpret.meanings.barriers import find
from tilec.interpret.memory import View
from tilec.interpret.numbers import Array
from tilec.interpret.registry import meaning

_WORDS = 2
"""Elements of a response."""


@meaning("tile.try_cancel")
def _ask(call: Call, responses: View, place: Array, barriers: View, index: Array) -> None:
    for one in call.of_each_thread():
        at = _WORDS * int(one.uniform(place)) + np.arange(_WORDS)
        ctas = one.cta.cluster.ctas if one.has("multicast") else [one.cta]
        for cta in ctas:
            found = find(one, cta, barriers, index)
            if found is None:
                continue
            if not found.fenced:
                one.report("proxy", "signals an mbarrier without a fence after its initialisation")
            buffer = cta.buffer(responses.buffer.shared)
            cta.shared.begin_copy(buffer, at, one.cta.agents(one.warps), one.report)
            values = np.zeros(_WORDS, buffer.data.dtype)
            found.complete([PendingCopy(buffer, at, values)], 16)


@meaning("tile.query_cancel")
def _query(call: Call, responses: View, place: Array) -> tuple[Array, Array, Array, Array]:
    shape = call.active.shape
    at = _WORDS * int(call.uniform(place)) + np.arange(_WORDS)
    for warp in np.flatnonzero(call.warps).tolist():
        bit = np.asarray(np.uint64(1 << warp))
        call.cta.shared.read(responses.buffer, at, bit, call.report)
    zeros = np.zeros(shape, np.int64)
    return np.zeros(shape, np.bool_), zeros, zeros, zeros

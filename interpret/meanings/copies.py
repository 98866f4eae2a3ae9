"""`tile.async_copy` and its groups: what is copied arrives when it is waited for."""

from __future__ import annotations

import numpy as np
from tilec.dialects.tile.ops import AsyncCopyOp
from tilec.interpret.call import Call
from tilec.interpret.groups import PendingCopy
from tilec.interpret.memory import View
from tilec.interpret.numbers import Array
from tilec.interpret.places import find_places
from tilec.interpret.registry import meaning
from tilec.ir.mlir import ir
from tilec.isa import ASYNC_COPY_BYTES, target


@meaning("tile.async_copy")
def _copy(call: Call, source: View, to_view: View, *indices: Array) -> None:
    shape: tuple[int, ...] = call.fact(
        "shape", lambda: tuple(ir.DenseI64ArrayAttr(call.op.attributes["shape"]))
    )
    rank = len(source.sizes)
    places, inside = find_places(call, source, indices[:rank], shape, each=False)
    if not call.has("masked") and not inside.all():
        call.report("bounds", "copies from outside the memref")
    found = source.buffer.data[places]
    values = np.where(inside, found, np.zeros((), found.dtype))
    to, there = find_places(call, to_view, indices[rank:], shape, each=False)
    if not there.all():
        call.report("bounds", "copies to outside the buffer")
    cta = call.cta
    named = call.fact("warps", lambda: _warps(call))
    if named is not None and np.flatnonzero(call.warps).tolist() != list(named):
        call.report("divergent", "is executed by other warps than those that it names")
    cta.shared.begin_copy(to_view.buffer, to[there], cta.agents(call.warps), call.report)
    copy = PendingCopy(to_view.buffer, to[there], values[there], call.warp_mask)
    if call.fact("at once", lambda: _is_at_once(call, to_view)):
        cta.shared.end_copy(copy)
    else:
        call.cta.copies.open.append(copy)


def _warps(call: Call) -> range | None:
    """The warps that share the copy; None of all of the CTA."""
    assert isinstance(call.op, AsyncCopyOp)
    if call.op.warps is None:
        return None
    first, count = call.op.warps
    return range(first, first + count)


def _is_at_once(call: Call, to: View) -> bool:
    """Whether plain loads and stores copy: sizes that `cp.async` has not, and on old targets."""
    if call.cta.target and not target(call.cta.target).has_async_copy:
        return True
    vector = call.integer("vector") if call.has("vector") else 1
    return vector * to.buffer.number.bits // 8 not in ASYNC_COPY_BYTES


@meaning("tile.async_commit")
def _commit(call: Call) -> None:
    call.cta.copies.commit()


@meaning("tile.async_wait")
def _wait(call: Call) -> None:
    call.cta.end_copies(call.integer("pending"))

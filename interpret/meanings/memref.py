"""`memref`: sizes, views, and single elements."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from tilec.interpret.call import Call
from tilec.interpret.memory import View
from tilec.interpret.numbers import Array
from tilec.interpret.registry import meaning
from tilec.ir.mlir import ir
from tilec.isa import LANES


@meaning("memref.dim")
def _dim(call: Call, view: View, at: Array) -> Array:
    return np.asarray(view.sizes[int(call.uniform(at))])


@meaning("memref.cast", "memref.assume_alignment")
def _cast(call: Call, view: View) -> View:
    return view


def _mixed(call: Call, name: str, dynamic: Sequence[Array]) -> tuple[list[int], Sequence[Array]]:
    """Numbers of an attribute, with operands in place of what is dynamic; the other operands."""
    unknown = ir.ShapedType.get_dynamic_size()
    found = []
    for one in ir.DenseI64ArrayAttr(call.op.attributes[name]):
        if one == unknown or one == ir.ShapedType.get_dynamic_stride_or_offset():
            found.append(int(call.uniform(dynamic[0])))
            dynamic = dynamic[1:]
        else:
            found.append(int(one))
    return found, dynamic


@meaning("memref.subview")
def _subview(call: Call, view: View, *dynamic: Array) -> View:
    offsets, rest = _mixed(call, "static_offsets", dynamic)
    sizes, rest = _mixed(call, "static_sizes", rest)
    steps, _ = _mixed(call, "static_strides", rest)
    rank = ir.MemRefType(call.result_type()).rank
    offset = view.offset + sum(o * s for o, s in zip(offsets, view.strides, strict=True))
    strides = [a * b for a, b in zip(steps, view.strides, strict=True)]
    dropped = len(sizes) - rank
    kept = [at for at, size in enumerate(sizes)]
    for at in reversed(range(len(sizes))):
        if dropped and sizes[at] == 1:
            kept.remove(at)
            dropped -= 1
    return View(
        view.buffer, offset, tuple(sizes[at] for at in kept), tuple(strides[at] for at in kept)
    )


def _place(call: Call, view: View, indices: Sequence[Array]) -> tuple[Array, Array]:
    """The element of each thread, and whether it is inside."""
    shape = call.active.shape
    place = np.full(shape, view.offset, np.int64)
    inside = np.ones(shape, bool)
    for index, size, stride in zip(indices, view.sizes, view.strides, strict=True):
        place = place + index * stride
        inside &= (index >= 0) & (index < size)
    if (~inside & call.active).any():
        call.report("bounds", "accesses memory outside the memref")
    return place, inside & call.active


@meaning("memref.load")
def _load(call: Call, view: View, *indices: Array) -> Array:
    place, inside = _place(call, view, indices)
    if view.buffer.shared >= 0:
        _watch(call, view, place, inside, None)
    found = view.buffer.data[np.where(inside, place, 0)]
    return np.where(inside, found, np.zeros((), found.dtype))


@meaning("memref.store")
def _store(call: Call, value: Array, view: View, *indices: Array) -> None:
    place, inside = _place(call, view, indices)
    values = np.broadcast_to(value, call.active.shape)
    if view.buffer.shared >= 0:
        _watch(call, view, place, inside, values)
    view.buffer.data[place[inside]] = values[inside]


def _watch(call: Call, view: View, place: Array, inside: Array, values: Array | None) -> None:
    """Tell shared memory of it, warp by warp."""
    for warp in range(len(place) // LANES):
        lanes = np.s_[warp * LANES : (warp + 1) * LANES]
        at, first = np.unique(place[lanes][inside[lanes]], return_index=True)
        bit = np.asarray(np.uint64(1 << warp))
        if values is None:
            call.cta.shared.read(view.buffer, at, bit, call.report)
        else:
            new = values[lanes][inside[lanes]][first]
            call.cta.shared.write(view.buffer, at, bit, new, call.report)

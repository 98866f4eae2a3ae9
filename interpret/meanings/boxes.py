"""`tile.tma_*`: boxes between arrays and shared memory, and the groups that they leave in."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

import numpy as np
from tilec.dialects.tile.ops.box_modes import element_strides, im2col_box
from tilec.dialects.tile.ops.tma import BoxOp, IncomingOp
from tilec.interpret.boxes import (
    begins_inside,
    has_map,
    im2col_coordinates,
    places_of,
    row_coordinates,
    tile_coordinates,
)
from tilec.interpret.call import Call
from tilec.interpret.cta import Cta
from tilec.interpret.groups import Groups, PendingCopy, PendingRead
from tilec.interpret.meanings.arith import apply
from tilec.interpret.meanings.barriers import find
from tilec.interpret.memory import View
from tilec.interpret.numbers import Array, unsigned
from tilec.interpret.registry import meaning
from tilec.isa import LANES


def _op(call: Call) -> BoxOp:
    op = call.op
    assert isinstance(op, BoxOp)
    return op


def _incoming(call: Call) -> IncomingOp:
    op = call.op
    assert isinstance(op, IncomingOp)
    return op


def _numbers(call: Call, values: Sequence[Array]) -> list[int]:
    return [int(call.uniform(value, "an index")) for value in values]


def _in_array(
    call: Call, view: View, first: Sequence[Array], offsets: Sequence[Array] = ()
) -> tuple[Array, Array]:
    """The elements of the array that a box is of, and which are inside."""
    if not has_map(view):
        call.report("bounds", "copies boxes of an array that no tensor map describes")
    op, at = _op(call), _numbers(call, first)
    rows, cols = call.fact("extents", lambda: op.extents)
    if op.BY_ROWS:
        return places_of(view, row_coordinates(at[:-1], at[-1], cols))
    steps = call.fact("steps", lambda: element_strides(op, len(view.sizes)))
    walked = call.fact("im2col", lambda: im2col_box(op, rows, cols))
    if walked is None:
        return places_of(view, tile_coordinates(at, (rows, cols), steps))
    moved = _numbers(call, offsets)
    if not begins_inside(at, walked, view.sizes, steps):
        call.unknown("a copy that begins at none of the pixels of its box")
    return places_of(view, im2col_coordinates(at, walked, view.sizes, steps, moved))


def _in_buffer(call: Call, view: View, first: Sequence[Array]) -> Array:
    """The elements of the buffer that a box takes."""
    extents = call.fact("extents", lambda: _op(call).extents)
    at = tile_coordinates(_numbers(call, first), extents, (1,) * len(view.sizes))
    places, inside = places_of(view, at)
    if not inside.all():
        call.report("bounds", "copies a box that does not fit into the buffer")
    return places


def _index_count(call: Call) -> int:
    return call.fact("index_count", lambda: _op(call).index_count)


@meaning("tile.tma_load", "tile.tma_gather")
def _load(call: Call, array: View, view: View, barriers: View, *rest: Array) -> None:
    for one in call.of_each_thread():
        _load_box(one, array, view, barriers, rest)


def _load_box(call: Call, array: View, view: View, barriers: View, rest: Sequence[Array]) -> None:
    """What one thread does."""
    rank, inner = _index_count(call), len(view.sizes)
    offset_count = call.fact("offsets", lambda: _op(call).offset_count)
    index, behind = rest[rank + inner], rest[rank + inner + 1 :]
    offsets, mask = behind[:offset_count], behind[offset_count:]
    places, inside = _in_array(call, array, rest[:rank], offsets)
    found = array.buffer.data[places]
    values = np.where(inside, found, np.zeros((), found.dtype))
    to = _in_buffer(call, view, rest[rank : rank + inner])
    ranks = int(call.uniform(mask[0])) if mask else 1 << call.cta.rank
    ctas, pair = call.cta.cluster.ctas, call.fact("pair", lambda: _incoming(call).pair)
    for rank_, cta in enumerate(ctas):
        if ranks >> rank_ & 1:
            told = ctas[rank_ & ~1] if pair else cta
            _arrive_in(call, cta, view, to, values, (told, barriers, index))


def _arrive_in(
    call: Call, cta: Cta, view: View, to: Array, values: Array, barrier: tuple[Cta, View, Array]
) -> None:
    """Copy a box to shared memory of a CTA; an mbarrier, of it or of its peer, counts the bytes."""
    found = find(call, *barrier)
    if found is None:
        return
    if not found.fenced:
        call.report("proxy", "signals an mbarrier without a fence after its initialisation")
    buffer = cta.buffer(view.buffer.shared)
    cta.shared.begin_copy(buffer, to, call.cta.agents(call.warps), call.report)
    copy = PendingCopy(buffer, to, values, end=cta.shared.end_box)
    found.complete([copy], to.size * buffer.number.bits // 8)


@meaning("tile.tma_store", "tile.tma_scatter")
def _store(call: Call, view: View, array: View, *rest: Array) -> None:
    for one in call.of_each_thread():
        values, places, inside = _outgoing(one, view, array, rest)
        array.buffer.data[places[inside]] = values[inside]


def _outgoing(
    call: Call, view: View, array: View, rest: Sequence[Array]
) -> tuple[Array, Array, Array]:
    """What leaves shared memory, its places in the array, and which are inside."""
    rank = _index_count(call)
    places, inside = _in_array(call, array, rest[:rank])
    taken = _in_buffer(call, view, rest[rank:])
    thread = int(np.flatnonzero(call.active)[0])
    read = PendingRead(view.buffer, taken, np.asarray(np.uint64(call.warp_mask)))
    call.cta.shared.begin_read(read, thread // LANES, call.report)
    _groups(call, thread).open.append(read)
    return view.buffer.data[taken], places, inside


def _increase(old: Array, most: Array) -> Array:
    return np.where(unsigned(old, 32) >= unsigned(most, 32), 0, old + 1)


def _decrease(old: Array, most: Array) -> Array:
    wraps = (old == 0) | (unsigned(old, 32) > unsigned(most, 32))
    return np.where(wraps, most, old - 1)


_WRAPPING: Mapping[str, Callable[[Array, Array], Array]] = MappingProxyType(
    {"inc": _increase, "dec": _decrease}
)
_FUNCTIONS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "add": ("arith.addi", "arith.addf"),
        "min": ("arith.minsi", "arith.minnumf"),
        "max": ("arith.maxsi", "arith.maxnumf"),
        "and": ("arith.andi", ""),
        "or": ("arith.ori", ""),
        "xor": ("arith.xori", ""),
    }
)
"""The op on integers and on floats, of reductions that have one."""


@meaning("tile.tma_reduce")
def _reduce(call: Call, view: View, array: View, *rest: Array) -> None:
    fn, data, number = call.word("fn"), array.buffer.data, array.buffer.number
    for one in call.of_each_thread():
        values, places, inside = _outgoing(one, view, array, rest)
        at, new = places[inside], values[inside]
        if fn in _WRAPPING:
            data[at] = _WRAPPING[fn](data[at], new)
        else:
            data[at] = apply(one, _FUNCTIONS[fn][number.is_float], number, data[at], new)


@meaning("tile.tma_prefetch", "tile.tma_gather_prefetch")
def _prefetch(call: Call, array: View, *rest: Array) -> None:
    rank = _index_count(call)
    for one in call.of_each_thread():
        _in_array(one, array, rest[:rank], rest[rank:])


def _groups(call: Call, thread: int) -> Groups[PendingRead]:
    return call.cta.boxes.setdefault(thread, Groups())


@meaning("nvvm.cp.async.bulk.commit.group")
def _commit(call: Call) -> None:
    for thread in np.flatnonzero(call.active).tolist():
        if thread in call.cta.boxes:
            _groups(call, thread).commit()


@meaning("nvvm.cp.async.bulk.wait_group")
def _wait(call: Call) -> None:
    pending = call.integer("group")
    for thread in np.flatnonzero(call.active).tolist():
        if thread in call.cta.boxes:
            for read in _groups(call, thread).end(pending):
                call.cta.shared.end_read(read)

"""Tensor memory: columns given out and back, loads and stores of fragments, their waits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from tilec.dialects.tile.ops.tcgen05_moves import TensorMoveOp
from tilec.dialects.tile.ops.tensor_memory import GroupedOp
from tilec.dialects.tile.tensor import buffer_of
from tilec.interpret.call import Call
from tilec.interpret.findings import Finding, Undefined
from tilec.interpret.meanings.arith import apply
from tilec.interpret.memory import View, dtype_of
from tilec.interpret.numbers import Array
from tilec.interpret.registry import meaning
from tilec.interpret.tensor import Elements, TensorView, elements
from tilec.interpret.touches import Touch
from tilec.ir.mlir import ir
from tilec.isa import LANES

_QUARTERS = 4
"""Warps, by their numbers modulo that, reach a quarter of the lanes each."""
_ABSENT = 0x5A
"""What integers are taken for that are not there yet."""


def _view(call: Call, column: int) -> TensorView:
    type_ = ir.MemRefType(call.result_type())
    return TensorView(call.fact("buffer", partial(buffer_of, type_)), call.number(type_), column)


@meaning("tile.alloc_tensor", meets=True)
def _alloc(call: Call) -> TensorView:
    """Columns that no other buffer has: what shares them is not said yet."""
    known = call.cta.buffers
    if call.node not in known:
        columns = call.fact("buffer", lambda: buffer_of(ir.MemRefType(call.result_type()))).columns
        found = call.cta.tensor.allocate(columns, call.cta.tensor.size)
        assert found is not None  # of every program's own
        known[call.node] = _view(call, found)
    view: TensorView = known[call.node]
    return view


# Columns


def _slot(call: Call, slot: View) -> Array:
    """The word that holds an address."""
    del call
    return np.array([slot.offset])


def _group(call: Call) -> int:
    assert isinstance(call.op, GroupedOp)
    return call.op.group


@meaning("tile.tcgen05_alloc", meets=True)
def _allocate(call: Call, slot: View) -> None:
    tensor, columns = call.cta.tensor, call.integer("columns")
    if len(call.cta.cluster.ctas) % call.fact("group", lambda: _group(call)):
        call.report("columns", "is of a pair that its CTA is not part of")
    for warp in np.flatnonzero(call.warps).tolist():
        if tensor.closed:
            call.report("unspecified", "allocates after tile.tcgen05_relinquish")
        found = tensor.allocate(columns)
        if found is None:
            message = f"'{call.node.name}' op waits for {columns} columns that nothing deallocates"
            raise Undefined(Finding("deadlock", message, call.op.location))
        tensor.owed.add(found)
        new, mask = np.array([found], np.int64), np.asarray(np.uint64(1 << warp))
        at = _slot(call, slot)
        call.cta.shared.write(slot.buffer, at, mask, new, call.report)
        slot.buffer.data[at] = new


def _address(call: Call, slot: View) -> int:
    """The first column of what was allocated, which warps read from a slot."""
    at, mask = _slot(call, slot), np.asarray(np.uint64(call.warp_mask))
    call.cta.shared.read(slot.buffer, at, mask, call.report)
    return int(slot.buffer.data[slot.offset])


@meaning("tile.tensor_buffer", meets=True)
def _buffer(call: Call, slot: View) -> TensorView:
    return _view(call, _address(call, slot) + call.integer("column"))


@meaning("tile.tcgen05_dealloc", meets=True)
def _free(call: Call, slot: View) -> None:
    first = _address(call, slot)
    for agent in call.cta.agents(call.warps).tolist():
        call.cta.tensor.free(first, call.integer("columns"), agent, call.report)


@meaning("tile.tcgen05_relinquish", meets=True)
def _close(call: Call) -> None:
    call.cta.tensor.closed = True


# Loads and stores


def place(call: Call, view: TensorView, indices: Sequence[int], rows: int, cols: int) -> Elements:
    """Elements of a matrix of a buffer, from indices on."""
    *leading, row, col = indices
    extents = call.fact("extents", lambda: _extents(call))
    matrix = 0
    for index, extent in zip(leading, extents, strict=True):
        matrix = matrix * extent + index
    inside = 0 <= row <= view.buffer.rows - rows and 0 <= col <= view.buffer.cols - cols
    if not (inside and 0 <= matrix < view.buffer.count):
        call.report("bounds", "reaches outside its buffer in tensor memory")
        row = max(0, min(row, view.buffer.rows - rows))
        col = max(0, min(col, view.buffer.cols - cols))
        matrix = max(0, min(matrix, view.buffer.count - 1))
    return elements(view, matrix, slice(row, row + rows), slice(col, col + cols))


def _extents(call: Call) -> list[int]:
    """The leading extents of the memref that a load or store is of."""
    assert isinstance(call.op, TensorMoveOp)
    return list(ir.MemRefType(call.op.operands[call.op.MEMORY].type).shape)[:-2]


def _of_warps(
    call: Call, view: TensorView, indices: Sequence[Array], shape: Sequence[int]
) -> Iterator[tuple[int, Elements]]:
    """What each warp moves, in the lanes that it reaches."""
    at = [call.by_warp(index, "an index") for index in indices]
    rows, cols = shape
    for warp in np.flatnonzero(call.warps).tolist():
        found = place(call, view, [int(one[warp]) for one in at], rows, cols)
        if (found.lanes // LANES != warp % _QUARTERS).any():
            call.report("bounds", "reaches lanes outside its warp's quarter")
        yield warp, found


def _shape(call: Call, type_: ir.Type) -> tuple[int, ...]:
    tile = call.tile(type_)
    assert tile is not None
    return tile.shape


@meaning("tile.tcgen05_ld", meets=True)
def _load(call: Call, view: TensorView, *indices: Array) -> Array:
    """What it gives is not there yet: whoever uses it behind no wait gets something else."""
    return _until_waited(call, _loaded(call, view, indices))


def _loaded(call: Call, view: TensorView, indices: Sequence[Array]) -> Array:
    """What each warp loads."""
    shape = _shape(call, call.result_type())
    found = _absent(call, shape)
    for warp, part in _of_warps(call, view, indices, shape):
        found[warp] = call.cta.tensor.load(part, warp, call.arithmetic, call.report)
    return found


def _absent(call: Call, shape: Sequence[int]) -> Array:
    """What stands for values that have not come."""
    dtype = dtype_of(call.number(call.result_type()), call.arithmetic)
    nothing = np.nan if dtype.kind not in "iu" else _ABSENT
    return np.full((call.cta.warps, *shape), nothing, dtype)


def _until_waited(call: Call, found: Array) -> Array:
    """What stands for loaded values until a wait for them."""
    absent = _absent(call, found.shape[1:])
    call.cta.tensor.loaded[id(absent)] = absent, found
    return absent


@meaning("tile.tcgen05_ld_red", meets=True)
def _load_reduced(call: Call, view: TensorView, *indices: Array) -> tuple[Array, Array]:
    """The values of each row reduced, beside the values."""
    found, number = _loaded(call, view, indices), call.number(call.result_type())
    fns = call.fact("functions", lambda: _functions(call))
    values = found
    if fns.magnitude:
        values = apply(call, "math.absf", number, values)
    reduced = values[..., :1]
    for at in range(1, values.shape[-1]):
        reduced = apply(call, fns.combine, number, reduced, values[..., at : at + 1])
    return _until_waited(call, found), _until_waited(call, reduced)


class _Functions(NamedTuple):
    """What reduces rows: a function of two values, and whether of their magnitudes."""

    combine: str
    magnitude: bool


def _functions(call: Call) -> _Functions:
    """Those of a form: `.NaN` gives a NaN on, without it a number is taken before one."""
    assert isinstance(call.op, TensorMoveOp)
    operation, *words, type_ = call.op.key.reduction.split(".")
    if type_ == "f32":
        name = f"{operation}imumf" if "NaN" in words else f"{operation}numf"
    else:
        name = f"{operation}{type_[0]}i"
    return _Functions(f"arith.{name}", "abs" in words)


@meaning("tile.tcgen05_wait_ld", meets=True)
def _wait_load(call: Call, *fragments: Array) -> tuple[Array, ...]:
    tensor = call.cta.tensor
    for warp in np.flatnonzero(call.warps).tolist():
        tensor.wait(Touch.READ, warp)
    return tuple(tensor.loaded.get(id(one), (one, one))[1] for one in fragments)


@meaning("tile.tcgen05_st", meets=True)
def _store(call: Call, values: Array, view: TensorView, *indices: Array) -> None:
    shape = _shape(call, call.operand_type(0))
    for warp, part in _of_warps(call, view, indices, shape):
        call.cta.tensor.store(part, values[warp], warp, call.arithmetic, call.report)


@meaning("tile.tcgen05_wait_st", meets=True)
def _wait_store(call: Call) -> None:
    for warp in np.flatnonzero(call.warps).tolist():
        call.cta.tensor.wait(Touch.WRITE, warp)


@meaning("tile.tcgen05_fence")
def _fence(call: Call) -> None:
    """What is ordered by barriers is ordered by them here without it."""

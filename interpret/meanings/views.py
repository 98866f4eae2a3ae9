"""Ops that make, name and move elements of tiles: fills, views, takes, reductions, parts."""

from __future__ import annotations

from collections.abc import Sequence
from types import EllipsisType

import numpy as np
from tilec.dialects.tile.ops.layouts import parts
from tilec.dialects.tile.tiles import TileValue
from tilec.interpret import integers
from tilec.interpret.call import Call
from tilec.interpret.meanings.arith import apply
from tilec.interpret.memory import dtype_of
from tilec.interpret.numbers import Array
from tilec.interpret.places import Tile, held, is_fragment
from tilec.interpret.registry import meaning
from tilec.ir.mlir import ir
from tilec.isa import LANES
from tilec.layout.extents import unit_places


def _tile(call: Call) -> Tile:
    """The result's tile."""
    found = call.tile(call.result_type())
    assert found is not None
    return found


def _source(call: Call) -> Tile:
    found = call.tile(call.operand_type(0))
    assert found is not None
    return found


def _own(call: Call, tile: Tile) -> tuple[int, ...]:
    """The shape of what holds a tile: of each warp where each has one."""
    warps = call.active.shape[0] // LANES
    return (warps, *tile.shape) if is_fragment(tile) else tile.shape


@meaning("tile.fill")
def _fill(call: Call, value: Array) -> Array:
    tile = _tile(call)
    if is_fragment(tile):
        of_warp = call.by_warp(value).reshape(-1, *(1,) * len(tile.shape))
        return np.broadcast_to(of_warp, _own(call, tile))
    return np.broadcast_to(np.asarray(call.uniform(value)), tile.shape)


@meaning("tensor.splat")
def _splat(call: Call, value: Array) -> Array:
    return np.broadcast_to(np.asarray(call.uniform(value)), _tile(call).shape)


@meaning("tile.iota")
def _iota(call: Call) -> Array:
    tile, axis = _tile(call), call.integer("axis")
    steps = np.arange(tile.shape[axis]).reshape(-1, *(1,) * (len(tile.shape) - 1 - axis))
    dtype = dtype_of(call.number(call.result_type()), call.arithmetic)
    return np.broadcast_to(steps.astype(dtype), _own(call, tile))


@meaning("tile.convert_layout", "tile.movmatrix")
def _same(call: Call, values: Array) -> Array:
    return values


@meaning("tile.expand")
def _expand(call: Call, values: Array) -> Array:
    axis = call.integer("axis") - len(_tile(call).shape)
    return np.expand_dims(values, axis)


@meaning("tile.broadcast")
def _broadcast(call: Call, values: Array) -> Array:
    return np.broadcast_to(values, _own(call, _tile(call)))


@meaning("tile.transpose")
def _transpose(call: Call, values: Array) -> Array:
    order = call.fact(
        "order", lambda: list(ir.DenseI64ArrayAttr(call.op.attributes["permutation"]))
    )
    before = values.ndim - len(order)
    return values.transpose([*range(before), *(before + at for at in order)])


@meaning("tile.reshape")
def _reshape(call: Call, values: Array) -> Array:
    return values.reshape(_own(call, _tile(call)))


@meaning("tile.take")
def _take(call: Call, values: Array) -> Array:
    shape = _source(call).shape
    axis = call.integer("axis")
    places = (np.arange(shape[axis]) & call.integer("keep")) ^ call.integer("flip")
    return np.take(values, places, axis - len(shape))


@meaning("tile.reduce")
def _reduce(call: Call, values: Array) -> Array:
    source = _source(call)
    axis = values.ndim - len(source.shape) + call.integer("axis")
    fn = call.word("fn")
    number = call.number(call.operand_type(0))
    own = held(source)
    if own is not None:
        found = _reduce_held(call, values, np.moveaxis(own, call.integer("axis"), 0), axis)
    elif number.is_float:
        found = call.arithmetic.reduce(fn, values, axis, number)
    else:
        found = integers.reduce(fn, number.bits, values, axis)
    if is_fragment(source) and call.tile(call.result_type()) is None:
        return np.repeat(found, LANES)
    return found


def _reduce_held(call: Call, values: Array, own: Array, axis: int) -> Array:
    """The elements that a warp holds, of a tile of which it holds a part, combined."""
    fn = call.word("fn")
    number = call.number(call.operand_type(0))
    slices = np.moveaxis(values, axis, 0)
    found, some = slices[0], own[0]
    for value, mine in zip(slices[1:], own[1:], strict=True):
        both = apply(call, fn, number, found, value)
        found = np.where(some & mine, both, np.where(mine, value, found))
        some = some | mine
    return np.asarray(found)


def _corners(whole: Tile, part: Tile) -> list[tuple[int, ...]]:
    """The first element of each part of a fragment, or of each unit of a tile."""
    if not (is_fragment(whole) and isinstance(whole, TileValue) and isinstance(part, TileValue)):
        return list(unit_places(whole.shape))
    quotient = parts(whole, part)
    found = []
    for at in range(quotient.in_sizes["register"]):
        inputs = {name: at if name == "register" else 0 for name in quotient.in_sizes}
        steps = quotient(**inputs)
        found.append(tuple(s * n for s, n in zip(steps, part.shape, strict=True)))
    return found


def _window(corner: tuple[int, ...], shape: Sequence[int]) -> tuple[EllipsisType | slice, ...]:
    return (..., *(slice(c, c + n) for c, n in zip(corner, shape, strict=True)))


@meaning("tile.slice")
def _slice(call: Call, values: Array) -> Array:
    whole, part = _source(call), _tile(call)
    corner = call.fact("corners", lambda: _corners(whole, part))[call.integer("index")]
    return values[_window(corner, part.shape)]


@meaning("tile.concat")
def _concat(call: Call, *values: Array) -> Array:
    whole, part = _tile(call), _source(call)
    found = np.zeros(_own(call, whole), values[0].dtype)
    corners = call.fact("corners", lambda: _corners(whole, part))
    for corner, value in zip(corners, values, strict=True):
        found[_window(corner, part.shape)] = value
    return found

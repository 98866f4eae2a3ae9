"""Builders of views, reductions and indices, of tiles with layouts or without."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tilec.ir.aliases import Type, Value
from tilec.ir.mlir import ir
from tilec.isa import TilecError
from tilec.layout import LinearLayout, views

from .. import tiles
from ..ops import BroadcastOp, ExpandOp, IotaOp, ReduceOp, ReshapeOp, TakeOp, TransposeOp
from ..ops.base import any_tile_of
from .caller import located
from .emit import emit, i64
from .types import TypeLike


@located
def reduce(fn: str, source: Value, axis: int) -> Value:
    """`tile.reduce`: dimension `axis` combined by the upstream op `fn`, such as `arith.addf`.

    Args:
        fn: the op's full name.
        source: a tile or fragment.
        axis: the dimension.

    Returns:
        A tile of one rank less, held by the lanes that held the source; a scalar for rank 1.
    """
    tile = any_tile_of(source, "source")
    shape = [extent for at, extent in enumerate(tile.shape) if at != axis]
    type_: Type = tile.element
    if shape:
        type_ = _seen(tile, shape, lambda layout: views.drop_dim(layout, axis))
    return emit(ReduceOp, [source], type_, {"axis": i64(axis), "fn": ir.StringAttr.get(fn)})


@located
def expand(source: Value, axis: int) -> Value:
    """`tile.expand`: a dimension of extent 1 put in at `axis`."""
    tile = any_tile_of(source, "source")
    shape = [*tile.shape[:axis], 1, *tile.shape[axis:]]
    type_ = _seen(tile, shape, lambda layout: views.expand(layout, axis))
    return emit(ExpandOp, [source], type_, {"axis": i64(axis)})


@located
def broadcast(source: Value, *, type: TypeLike) -> Value:  # noqa: A002 (MLIR's word)
    """`tile.broadcast`: a tile of `type`, repeated along dimensions of extent 1."""
    return emit(BroadcastOp, [source], type)


@located
def transpose(source: Value, permutation: Sequence[int] | None = None) -> Value:
    """`tile.transpose`: dimension i is the source's `permutation[i]`; without, the last first."""
    tile = any_tile_of(source, "source")
    order = tuple(reversed(range(len(tile.shape)))) if permutation is None else tuple(permutation)
    if sorted(order) != list(range(len(tile.shape))):
        raise TilecError(f"permutation must contain each of 0 to {len(tile.shape) - 1} once")
    shape = [tile.shape[at] for at in order]
    type_ = _seen(tile, shape, lambda layout: views.transpose(layout, order))
    attributes = {"permutation": ir.DenseI64ArrayAttr.get(order)}
    return emit(TransposeOp, [source], type_, attributes)


@located
def reshape(source: Value, shape: Sequence[int]) -> Value:
    """`tile.reshape`: the same elements, in row-major order, under another shape."""
    tile = any_tile_of(source, "source")
    type_ = _seen(tile, shape, lambda layout: views.reshape(layout, tuple(shape)))
    return emit(ReshapeOp, [source], type_)


@located
def take(source: Value, axis: int, *, keep: int = -1, flip: int = 0) -> Value:
    """`tile.take`: element i along `axis` is the source's element `(i & keep) ^ flip`."""
    attributes = {"axis": i64(axis), "keep": i64(keep), "flip": i64(flip)}
    return emit(TakeOp, [source], source.type, attributes)


@located
def iota(axis: int, *, type: TypeLike) -> Value:  # noqa: A002 (MLIR's word)
    """`tile.iota`: a tile or fragment of `type`, integers, each its index along `axis`."""
    return emit(IotaOp, [], type, {"axis": i64(axis)})


def _seen(
    tile: tiles.PlainTile | tiles.TileValue,
    shape: Sequence[int],
    view: Callable[[LinearLayout], LinearLayout],
) -> Type:
    """The type of a view of a tile, at its level."""
    if isinstance(tile, tiles.PlainTile):
        return ir.RankedTensorType.get(list(shape), tile.element)
    make = tiles.frag_type if tile.is_fragment else tiles.tensor_type
    return make(tuple(shape), tile.element, view(tile.layout))

"""Views, reductions and indices of a CTA's tiles, by all that a warp holds as one fragment."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from tilec.dialects.tile.emit import emit
from tilec.dialects.tile.ops import (
    BroadcastOp,
    ElementwiseOp,
    ExpandOp,
    FillOp,
    IotaOp,
    ReduceOp,
    ReshapeOp,
    TakeOp,
    TransposeOp,
)
from tilec.dialects.tile.ops.base import TileOp
from tilec.ir.aliases import Type, Value
from tilec.ir.creation import create
from tilec.ir.mlir import ir
from tilec.ir.ops import arith
from tilec.isa import TilecError
from tilec.layout.reduction import reduction

from ..emit import linear
from ..thread_index import ThreadIndex
from .expansion import Expansion, Handler, Values, lowers
from .fragment_types import FragmentTypes
from .parts import cut, join

ViewOp: TypeAlias = BroadcastOp | ExpandOp | ReshapeOp | TakeOp | TransposeOp


class FragmentViews:
    """The views of one kernel's tiles.

    Args:
        types: its tiles' fragments.
        thread: its thread index.
    """

    def __init__(self, types: FragmentTypes, thread: ThreadIndex) -> None:
        self._types = types
        self._thread = thread

    def handlers(self) -> Mapping[str, Handler]:
        """The handler of each op."""
        found = [
            lowers(BroadcastOp, self._view),
            lowers(ExpandOp, self._view),
            lowers(ReshapeOp, self._view),
            lowers(TakeOp, self._view),
            lowers(TransposeOp, self._view),
            lowers(IotaOp, self._iota),
            lowers(ReduceOp, self._reduce),
        ]
        return dict(found)

    def _view(self, op: ViewOp, expansion: Expansion) -> list[Values] | None:
        if self._types.tile(op.result.type) is None:
            return None
        return [self._of_whole(op, [self._whole(op.source, expansion)])]

    def _reduce(self, op: ReduceOp, expansion: Expansion) -> list[Values] | None:
        tile = self._types.tile(op.source.type)
        if tile is None:
            return None
        across = reduction(tile.layout, op.axis.value).partials
        if across > 1:
            raise TilecError(f"reduces over {across} warps: run tile-stage-reductions first")
        whole = self._whole(op.source, expansion)
        if isinstance(op.result.type, ir.RankedTensorType):
            return [self._of_whole(op, [whole])]
        return [[_copied(op, [whole], op.result.type)]]

    def _iota(self, op: IotaOp, _: Expansion) -> list[Values] | None:
        tile = self._types.tile(op.result.type)
        if tile is None:
            return None
        values = self._of_whole(op, [])
        axis = list(tile.layout.out_sizes)[op.axis.value]
        warps = tile.layout.restrict(ins=["warp"], outs=[axis])
        if not any(warps.columns):
            return [values]
        (place,) = linear(warps, "warp", self._thread.warp)
        number = arith.index_castui(place, tile.element)
        (type_,) = {value.type for value in values}
        first = emit(FillOp, [number], type_)
        # Indices are linear over bits: what the warp adds to them is added without carry.
        fn = ir.StringAttr.get("arith.xori")
        return [[emit(ElementwiseOp, [value, first], type_, fn=fn) for value in values]]

    def _whole(self, value: Value, expansion: Expansion) -> Value:
        """All that the warp holds of a tensor."""
        return join(expansion.values(value), self._types.whole(value.type))

    def _of_whole(self, op: TileOp, operands: list[Value]) -> Values:
        """The fragments of the op's result, from the op on what the warp holds."""
        type_ = op.results[0].type
        types = self._types.of(type_)
        assert types is not None
        return cut(_copied(op, operands, self._types.whole(type_)), len(types), types[0])


def _copied(op: TileOp, operands: list[Value], type_: Type) -> Value:
    """The op on other operands, with a result of another type."""
    attributes = op.operation.attributes
    return create(op.operation.name, operands, type_, **{a: attributes[a] for a in attributes})

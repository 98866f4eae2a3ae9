"""`tile.reduce`: a dimension combined into one element."""

from typing import Any

from tilec.dialects.semantics import LayoutRule, Scope, Variation
from tilec.dialects.semantics.declaration import PURE
from tilec.ir.attributes import attribute
from tilec.ir.mlir import ext, ir
from tilec.isa import TilecError, UnknownNameError
from tilec.layout import LinearLayout
from tilec.layout.reduction import reduction
from tilec.layout.views import drop_dim, register_map

from ..dialect import FragType
from ..tiles import TileValue, tile_value
from .base import RelatedOp, TileOp, any_tile_of
from .elementwise import check_kind
from .views import axis_of, check_alike, check_lanes

REDUCTIONS = (
    *("arith.addf", "arith.mulf"),
    *("arith.maximumf", "arith.minimumf", "arith.maxnumf", "arith.minnumf"),
    *("arith.addi", "arith.muli", "arith.andi", "arith.ori", "arith.xori"),
    *("arith.maxsi", "arith.maxui", "arith.minsi", "arith.minui"),
)
"""Upstream ops by which `tile.reduce` combines: those whose operands may change places."""


def _scope(op: TileOp) -> Scope:
    """The warp's, where no other has a part of what is combined."""
    tile = tile_value(op.operands[0].type)
    if tile is not None and tile.is_fragment:
        return Scope.WARP
    across = (
        tile is None
        or reduction(tile.layout, attribute(op, "axis", ir.IntegerAttr).value).partials > 1
    )
    return Scope.CTA if across else Scope.WARP


def _variation(op: TileOp) -> Variation:
    """A scalar is the same for all who held the tile."""
    of_warp = isinstance(op.operands[0].type, FragType)
    return Variation.WARP_AT_MOST if of_warp else Variation.CTA


class ReduceOp(RelatedOp, name="reduce"):
    """A tile of one rank less: dimension `axis` combined by the upstream op `fn`.

    For a tile of rank 1 it is a scalar, the same in all threads. The order in which elements are
    combined is unspecified, but depends only on the layouts, and all threads that hold an element
    of the result hold the same bits. A fragment is combined over the elements in the warp.

    If tiles have layouts, an element of the result is in the lanes that hold its inputs:
    `tilec.layout.views.drop_dim`.
    """

    assembly_format = (
        "keyword($fn) $source `axis` $axis attr-dict `:` type($source) `->` type($result)"
    )

    SEMANTICS = PURE.but(scope=_scope, varies=_variation, layouts=LayoutRule.RELATED, cost=0)
    KEEPS_ELEMENTS = False

    source: ext.Operand[Any]
    axis: ir.IntegerAttr
    fn: ir.StringAttr
    result: ext.Result[Any]

    def check(self) -> None:
        """Verify the op combined by, the result's shape, element type and layout."""
        source = any_tile_of(self.operands[0], "source")
        axis = axis_of(self.axis, len(source.shape))
        name = self.fn.value
        if name not in REDUCTIONS:
            raise UnknownNameError("reduction", name, REDUCTIONS)
        check_kind(name, source.element)
        shape = (*source.shape[:axis], *source.shape[axis + 1 :])
        if not shape:
            if str(self.results[0].type) != str(source.element):
                raise TilecError(
                    f"a tile of rank 1 is reduced to a scalar of type {source.element}, "
                    f"not {self.results[0].type}"
                )
            return
        result = any_tile_of(self.results[0], "result")
        check_alike(self, source, result, shape)
        if isinstance(source, TileValue) and isinstance(result, TileValue):
            check_lanes(drop_dim(source.layout, axis), result.layout)

    def forward(self, source: LinearLayout, shape: tuple[int, ...]) -> LinearLayout:
        """The source's without the dimension."""
        del shape
        return drop_dim(source, int(self.axis.value))

    def backward(self, result: LinearLayout, shape: tuple[int, ...]) -> None:
        """The result leaves open who holds what is combined."""

    def agree(self, source: LinearLayout, result: LinearLayout) -> bool:
        """Whether the result is held by the lanes that held what goes into it."""
        return register_map(drop_dim(source, int(self.axis.value)), result) is not None

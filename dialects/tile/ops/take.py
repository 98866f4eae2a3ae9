"""`tile.take`: elements from other places along one dimension, by the bits of their index."""

from typing import Any

from tilec.dialects.semantics import LayoutRule
from tilec.dialects.semantics.declaration import OF_A_WARP
from tilec.ir.mlir import ext, ir
from tilec.isa import TilecError
from tilec.layout import LinearLayout
from tilec.layout.taking import kept_in_warp, stays_in_warp

from ..tiles import TileValue
from .base import RelatedOp, any_tile_of
from .views import axis_of, check_alike


class TakeOp(RelatedOp, name="take"):
    """The tile whose element i along dimension `axis` is element `(i & keep) ^ flip` of the source.

    With `keep` -1, all bits, `flip` 1 exchanges neighbours, and `flip` of all bits reverses the
    dimension; with `keep` 0 all elements are element `flip`. Scans, sorts and reductions by
    arbitrary functions are built from such steps.

    Elements come from the same warp. This requires layouts in which each bit of the index is one
    bit of the register or lane number; `tile-assign-layouts` chooses those, or converts.
    """

    assembly_format = (
        "$source `axis` $axis `keep` $keep `flip` $flip attr-dict "
        "`:` type($source) `->` type($result)"
    )

    SEMANTICS = OF_A_WARP.but(layouts=LayoutRule.RELATED)
    KEEPS_ELEMENTS = False

    source: ext.Operand[Any]
    axis: ir.IntegerAttr
    keep: ir.IntegerAttr
    flip: ir.IntegerAttr
    result: ext.Result[Any]

    def check(self) -> None:
        """Verify the dimension, the bits, and that the result is like the source."""
        source = any_tile_of(self.operands[0], "source")
        result = any_tile_of(self.results[0], "result")
        axis = axis_of(self.axis, len(source.shape))
        check_alike(self, source, result, source.shape)
        extent = source.shape[axis]
        if extent & (extent - 1):
            raise TilecError(
                f"takes elements by the bits of their index, along a dimension of a power of two, "
                f"not of {extent}"
            )
        if not 0 <= self.flip.value < extent:
            raise TilecError(f"flip changes bits of indices up to {extent - 1}, not {self.flip}")
        if isinstance(source, TileValue) and isinstance(result, TileValue):
            if source.layout != result.layout:
                raise TilecError(
                    f"source and result must have the same layout, not '{source.layout}' and "
                    f"'{result.layout}'"
                )
            if not stays_in_warp(source.layout, axis):
                raise TilecError(
                    f"takes elements within a warp, but the layout '{source.layout}' spreads "
                    f"dimension {axis} over warps, or mixes its bits; legal: layouts in which each "
                    "bit of the index is one bit of a register's or lane's number"
                )

    def legal(self, layout: LinearLayout) -> LinearLayout:
        """The layout by which the op takes elements of a tile that has another.

        Raises:
            LayoutError: if that is none.
        """
        return kept_in_warp(layout, int(self.axis.value))

    def forward(self, source: LinearLayout, shape: tuple[int, ...]) -> LinearLayout:
        """The source's."""
        del shape
        return source

    def backward(self, result: LinearLayout, shape: tuple[int, ...]) -> LinearLayout:
        """The result's."""
        del shape
        return result

    def agree(self, source: LinearLayout, result: LinearLayout) -> bool:
        """Whether they are one, and warps have all that they take."""
        return source == result and stays_in_warp(source, int(self.axis.value))

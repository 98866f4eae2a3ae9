"""`tile.iota`: each element its own index."""

from typing import Any

from tilec.dialects.semantics import LayoutRule, Variation
from tilec.dialects.semantics.declaration import PURE
from tilec.ir.mlir import ext, ir
from tilec.isa import TilecError

from .base import TileOp, any_tile_of
from .views import axis_of


class IotaOp(TileOp, name="iota"):
    """A tile or fragment of integers, each its own index along dimension `axis`."""

    assembly_format = "`axis` $axis attr-dict `:` type($result)"

    SEMANTICS = PURE.but(layouts=LayoutRule.FREE, cost=0, varies=Variation.CTA)

    axis: ir.IntegerAttr
    result: ext.Result[Any]

    def check(self) -> None:
        """Verify the element type and that it holds every index."""
        tile = any_tile_of(self.results[0], "result")
        axis = axis_of(self.axis, len(tile.shape))
        if not isinstance(tile.element, ir.IntegerType):
            raise TilecError(f"elements are integers, not {tile.element}; cast the result")
        largest = (1 << int(tile.element.width) - 1) - 1
        if tile.shape[axis] - 1 > largest:
            raise TilecError(
                f"indices up to {tile.shape[axis] - 1} do not fit {tile.element}, "
                f"whose largest number is {largest}"
            )

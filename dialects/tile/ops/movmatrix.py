"""`tile.movmatrix`: the 8x8 transpose within a warp."""

from typing import Any

from tilec.dialects.semantics.declaration import OF_A_WARP
from tilec.ir.mlir import ext, ir
from tilec.isa import Family, TilecError
from tilec.layout import LinearLayout, fragment_of

from ..tiles import bits_of
from .base import TileOp, form_of, fragment_value


class MovmatrixOp(TileOp, name="movmatrix"):
    """An 8x8 tile of 16-bit elements, held along rows, then along columns, by one `movmatrix`.

    The positions of elements in the tile do not change; the result has the instruction's layout: a
    lane that held two neighbours in a row then holds two in a column.
    """

    assembly_format = "$source attr-dict `:` type($source) `->` type($result)"

    SEMANTICS = OF_A_WARP

    source: ext.Operand[Any]
    form: ir.StringAttr
    result: ext.Result[Any]

    def check(self) -> None:
        """Verify form, shape, element width and layouts."""
        form = form_of(self.form.value, Family.MOVMATRIX)
        source = fragment_value(self.operands[0], "source")
        result = fragment_value(self.results[0], "result")
        if source.element != result.element or bits_of(source.element) != 16:
            raise TilecError(
                f"takes 16-bit elements and keeps them: {source.element} to {result.element}"
            )
        for tile, name in ((source, "a"), (result, "d")):
            layout = one_matrix(fragment_of(form, name))
            if tile.layout != layout:
                raise TilecError(
                    f"operand {name} of {form.ptx} has the layout '{layout}', not '{tile.layout}'"
                )


def one_matrix(layout: LinearLayout) -> LinearLayout:
    """(register, lane) -> (row, col) of the instruction's only matrix."""
    return layout.restrict(outs=["row", "element"]).rename({"element": "col"})

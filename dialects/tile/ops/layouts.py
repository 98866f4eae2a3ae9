"""`tile.convert_layout`, `tile.slice`, `tile.concat`: the same elements, held or cut otherwise."""

from collections.abc import Sequence
from math import prod
from typing import Any

from tilec.dialects.semantics import LayoutRule, Scope
from tilec.dialects.semantics.declaration import PURE
from tilec.ir.aliases import Op, Value
from tilec.ir.mlir import ext, ir
from tilec.isa import TilecError
from tilec.isa.wording import counted
from tilec.layout import LinearLayout
from tilec.layout.extents import unit_counts, unit_extents

from ..tiles import PlainTile, TileValue
from .base import TileOp, any_tile_of, fragment_value, scope_of_fragment, without_layouts


class ConvertLayoutOp(TileOp, name="convert_layout"):
    """The same tile in the result's layout; both are tensors, or both are fragments.

    If a tensor has no layout yet (level 1), it gets that of the other side; if neither has one,
    the two may get different layouts.
    """

    assembly_format = "$source attr-dict `:` type($source) `->` type($result)"

    SEMANTICS = PURE.but(
        scope=scope_of_fragment(Scope.WARP, Scope.CTA), layouts=LayoutRule.CONVERTED
    )

    source: ext.Operand[Any]
    result: ext.Result[Any]

    def check(self) -> None:
        """Verify that only the layout differs."""
        source = any_tile_of(self.operands[0], "source")
        result = any_tile_of(self.results[0], "result")
        if (source.shape, str(source.element), _is_fragment(source)) != (
            result.shape,
            str(result.element),
            _is_fragment(result),
        ):
            raise TilecError(
                f"only the layout may change: {self.operands[0].type} to {self.results[0].type}"
            )
        if isinstance(source, PlainTile) or isinstance(result, PlainTile):
            return
        if not result.is_fragment and source.warps != result.warps:
            raise TilecError(
                f"the layouts are of {source.warps} and {result.warps} warps; all of a CTA's "
                "layouts have the same number"
            )


def _is_fragment(tile: PlainTile | TileValue) -> bool:
    return isinstance(tile, TileValue) and tile.is_fragment


def parts(whole: TileValue, part: TileValue) -> LinearLayout:
    """Where copies of the layout of `part` lie in `whole`: register -> place, in parts.

    Part number p holds the registers p·n to (p + 1)·n - 1 of the whole, n being its own.

    Raises:
        TilecError: if the whole is not made of such parts.
    """
    quotient = whole.layout.divide_left(part.layout)
    if quotient is None or quotient.in_sizes["lane"] != 1 or whole.element != part.element:
        raise TilecError(
            f"a fragment of {whole.element} with the layout '{whole.layout}' is not made of "
            f"fragments of {part.element} with the layout '{part.layout}'"
        )
    return quotient


_PART = PURE.but(layouts=LayoutRule.JOINED)
"""A tile's units have the layout that the tile has."""


class SliceOp(TileOp, name="slice"):
    """Part number `index` of a fragment made of fragments of the result's layout, or of a tile.

    Registers are picked, none moves: part p is the p-th group of the lane's registers. Of a tile
    whose extents are not powers of two the parts are its units, in row-major order.
    """

    assembly_format = "$whole `[` $index `]` attr-dict `:` type($whole) `->` type($part)"

    SEMANTICS = _PART

    whole: ext.Operand[Any]
    index: ir.IntegerAttr
    part: ext.Result[Any]

    def check(self) -> None:
        """Verify that the layout divides, and the index."""
        count = _count(self, self.operands[0], self.results[0])
        if not 0 <= int(self.index.value) < count:
            raise TilecError(
                f"index {int(self.index.value)} is outside the {counted(count, 'part')}"
            )


class ConcatOp(TileOp, name="concat"):
    """A fragment, or a tile, from all its parts, in the order of `tile.slice`."""

    assembly_format = "$parts attr-dict `:` one-type($parts) `->` type($whole)"

    SEMANTICS = _PART

    parts: Sequence[ext.Operand[Any]]
    whole: ext.Result[Any]

    def check(self) -> None:
        """Verify that the layout divides, and the number of parts."""
        if not len(self.operands):
            raise TilecError("takes one part or more")
        if any(operand.type != self.operands[0].type for operand in self.operands):
            raise TilecError("parts must be of one type")
        count = _count(self, self.results[0], self.operands[0])
        if count != len(self.operands):
            raise TilecError(f"takes {counted(count, 'part')}, not {len(self.operands)}")


def _count(op: Op, whole: Value, part: Value) -> int:
    """How many parts a fragment, or a tile, is made of.

    Raises:
        TilecError: if it is not made of such.
    """
    if isinstance(whole.type, ir.RankedTensorType):
        return _units(op, whole, part)
    one = fragment_value(whole, "whole"), fragment_value(part, "part")
    return parts(*one).in_sizes["register"]


def _units(op: Op, whole: Value, part: Value) -> int:
    tile = any_tile_of(whole, "whole")
    any_tile_of(part, "part")
    without_layouts(op)
    unit, type_ = unit_extents(tile.shape), whole.type
    found = part.type
    assert isinstance(type_, ir.RankedTensorType)
    if not (
        isinstance(found, ir.RankedTensorType)
        and (tuple(found.shape), found.element_type) == (unit, type_.element_type)
        and found.encoding == type_.encoding
    ):
        one = "x".join(map(str, unit))
        raise TilecError(
            f"a tile {type_} is made of units of {one}x{tile.element}, with its layout, not of "
            f"{found}"
        )
    return prod(unit_counts(tile.shape))

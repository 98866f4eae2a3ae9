"""The order in which a grid's tiles are computed, so that those of one time share what they read.

Grouped order goes down some rows before it goes to the next column. `"hilbert"` follows Hilbert's
curve through blocks of 16x16 tiles, one beside the other, in strips that are walked in turn to the
right and to the left: of any number of tiles that follow each other the rows and columns are few.
What the grid leaves of a block is walked column by column, down and up in turn.
"""

from __future__ import annotations

from typing import NamedTuple

from tilec.dialects.tile.attributes import RASTERIZE
from tilec.ir.aliases import Op, Value
from tilec.ir.mlir import ir
from tilec.ir.ops import arith
from tilec.ir.types import i32
from tilec.isa import TilecError
from tilec.isa.wording import counted

from .analysis.costs import read_along_curve, read_by_groups, rows_together
from .functions import take_positive

HILBERT = "hilbert"
"""What `tile.rasterize` says for it."""
SIDE = 16
"""Tiles of a block along x and y: a wave of CTAs is about half of a block."""


class TileOrder(NamedTuple):
    """An order of tiles.

    Attributes:
        rows: that are gone down before a next column; 0 for Hilbert's curve.
    """

    rows: int

    @property
    def is_curve(self) -> bool:
        """Whether it is Hilbert's curve."""
        return not self.rows


def take_order(function: Op) -> TileOrder | None:
    """The order that a kernel's `tile.rasterize` pins, which is taken off; None without one.

    Raises:
        TilecError: if it is neither a number of rows nor `"hilbert"`.
    """
    given = function.attributes.get(RASTERIZE)
    if isinstance(given, ir.StringAttr):
        if given.value != HILBERT:
            raise TilecError(
                f'{RASTERIZE} must be a positive integer or "{HILBERT}", not "{given.value}"'
            )
        del function.attributes[RASTERIZE]
        return TileOrder(0)
    rows = take_positive(function, RASTERIZE)
    return None if rows is None else TileOrder(rows)


def best_order(rows: int, cols: int, at_once: int) -> TileOrder:
    """The order in which tiles of one time read least; grouped where both read as much.

    Args:
        rows: of a tile, or of those of a cluster.
        cols: likewise.
        at_once: tiles, or clusters, that run at the same time.
    """
    group = rows_together(rows, cols, at_once)
    grouped = read_by_groups(group, rows, cols, at_once)
    return TileOrder(0 if read_along_curve(rows, cols, at_once) < grouped else group)


def told(order: TileOrder, rows: int, cols: int, at_once: int) -> str:
    """An order in words, with what its tiles read beside those of the other; arguments as there."""
    other = order.rows or rows_together(rows, cols, at_once)
    along = read_along_curve(rows, cols, at_once)
    grouped = float(read_by_groups(other, rows, cols, at_once))
    by_rows = f"{counted(other, 'row')} at a time, column by column"
    chosen, rest = (by_rows, grouped), ("along Hilbert curves", along)
    if order.is_curve:
        chosen, rest = rest, chosen
    return (
        f"takes tiles {chosen[0]}: {at_once} of them read {chosen[1]:.0f} rows and columns, "
        f"{rest[1]:.0f} {rest[0]}"
    )


def curve_places(number: Value, across: Value, down: Value) -> tuple[Value, Value]:
    """The place along x and y of a tile of a grid, in the order of the curves.

    Args:
        number: of the tile, i32, less than `across * down`.
        across: tiles along x, i32.
        down: tiles along y, i32.
    """
    side = _number(SIDE)
    of_strip = arith.muli(across, side)
    strip, in_strip = arith.divui(number, of_strip), arith.remui(number, of_strip)
    top = arith.muli(strip, side)
    height = arith.minui(arith.subi(down, top), side)
    of_block = arith.muli(height, side)
    block, inside = arith.divui(in_strip, of_block), arith.remui(in_strip, of_block)
    left = arith.muli(block, side)
    width = arith.minui(arith.subi(across, left), side)
    is_whole = arith.cmpi(arith.CmpI.EQ, arith.muli(width, height), _number(SIDE * SIDE))
    places = zip(_on_curve(inside), _up_and_down(inside, height), strict=True)
    x, y = (arith.select(is_whole, on_curve, other) for on_curve, other in places)
    x, y = arith.addi(left, x), arith.addi(top, y)
    mirrored = arith.subi(arith.subi(across, _number(1)), x)
    return arith.select(_is_odd(strip), mirrored, x), y


def _on_curve(number: Value) -> tuple[Value, Value]:
    """The place of a point of Hilbert's curve in a block, from corner to corner along x.

    Two bits of its number say the quarter of a square, of which the curve in the first and the
    last is turned.
    """
    one = _number(1)
    x = y = _number(0)
    size = 1
    while size < SIDE:
        right = arith.andi(arith.shrui(number, one), one)
        below = arith.andi(arith.xori(number, right), one)
        turned = arith.cmpi(arith.CmpI.EQ, below, _number(0))
        flip = arith.muli(right, _number(size - 1))  # of both, in the last quarter
        flipped = arith.xori(x, flip), arith.xori(y, flip)
        x, y = arith.select(turned, flipped[1], x), arith.select(turned, flipped[0], y)
        x = arith.addi(x, arith.muli(right, _number(size)))
        y = arith.addi(y, arith.muli(below, _number(size)))
        number = arith.shrui(number, _number(2))
        size *= 2
    return x, y


def _up_and_down(number: Value, height: Value) -> tuple[Value, Value]:
    """The place in columns of a height, every second of which goes up."""
    column, row = arith.divui(number, height), arith.remui(number, height)
    upwards = arith.subi(arith.subi(height, _number(1)), row)
    return column, arith.select(_is_odd(column), upwards, row)


def _is_odd(number: Value) -> Value:
    return arith.cmpi(arith.CmpI.EQ, arith.andi(number, _number(1)), _number(1))


def _number(value: int) -> Value:
    return arith.integer(i32(), value)

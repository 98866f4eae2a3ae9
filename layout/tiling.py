"""Layouts of a whole CTA's tile: a fragment repeated, or rows spread for coalescing."""

from __future__ import annotations

from functools import cache

from tilec.isa import LANES, WARPGROUP_WARPS, Form

from .extents import unit_extents
from .fragments import accumulator, any_fragment_of, has_fragment
from .linear import LayoutError, LinearLayout
from .operands import INDICES, operand_layout, units

_identity = LinearLayout.identity


def operand_tile(
    form: Form, name: str, rows: int, cols: int, warps: tuple[int, int]
) -> LinearLayout:
    """A tile of operand `name`, made of the form's fragments, over the warps of a CTA.

    Of a tile whose extents are not powers of two it is the layout of its unit.

    The warps form a grid over C, rows fastest; each holds one contiguous block. A is held
    once by each row of that grid, B by each column. Registers go through the fragments of a
    warp along N of B and C (M of A) first. Warps that find no rows or columns left hold copies.

    Args:
        form: an `mma` form.
        name: of an operand.
        rows: rows of the tile.
        cols: its columns.
        warps: warps along M and along N.

    Returns:
        (register, lane, warp) -> (row, col).

    Raises:
        LayoutError: if the tile is not a whole number of fragments.
    """
    known = [operand.name for operand in form.all_operands if has_fragment(operand)]
    if form.products != 1 or name not in known:
        raise LayoutError(f"operand {name} of {form.ptx} does not tile a matrix")
    shared = {"m": warps[0], "k": 1, "n": warps[1]}
    operand = form.operand(name)
    shares, of_warp = {}, {}
    fragment, whole = (operand.rows, operand.cols), (rows, cols)
    for index, of, given, extent, one in zip(
        ("row", "col"), INDICES[name], whole, unit_extents(whole), fragment, strict=True
    ):
        if extent % one:
            units_of = f", in units of {extent}," if given != extent else ""
            raise LayoutError(
                f"{given} {index}s of operand {name}{units_of} are not a multiple of {one}, "
                f"those of a fragment of {form.ptx}"
            )
        shares[of] = min(shared[of], extent // one)
        of_warp[index] = extent // shares[of]
    layout = unit = next(
        u for u in units(form, name) if all(u.out_sizes[i] <= of_warp[i] for i in of_warp)
    )
    for index in ("row", "col") if INDICES[name] == "mk" else ("col", "row"):
        layout *= _identity(of_warp[index] // unit.out_sizes[index], "register", index)
    for of in "mn":
        index = "row" if INDICES[name][0] == of else "col"
        share = shares.get(of, 1)
        layout *= _identity(share, "warp", index)
        layout *= LinearLayout.zeros(shared[of] // share, "warp")
    return layout.reorder(("register", "lane", "warp"), ("row", "col"))


@cache
def warpgroup_tile(
    form: Form, name: str, rows: int, cols: int, warps: tuple[int, int]
) -> LinearLayout:
    """A tile of an operand in registers, made of a `wgmma` form's fragments, over a CTA's warps.

    The warpgroups form a grid over C, rows fastest; those along M take 64 rows each in turn, those
    along N a contiguous block of columns each. Registers go through the fragments of a warpgroup
    along its columns, then along M.

    Args:
        form: a form of `wgmma`.
        name: `a` in registers, `c`, `d`, or `e`, the metadata of a sparse A.
        rows: rows of the tile.
        cols: its columns.
        warps: warps along M, a multiple of four, and along N.

    Returns:
        (register, lane, warp) -> (row, col): of the tile's unit, where the tile has extents that
        are not powers of two. Each warpgroup has a part of each unit.

    Raises:
        LayoutError: if the tile is not a whole number of fragments for each of them.
    """
    whole = operand_layout(form, name) if name == "e" else any_fragment_of(form, name)
    groups_m, groups_n = warps[0] // WARPGROUP_WARPS, warps[1]
    parts = groups_n if name in "cd" else 1
    fragment = whole.out_sizes
    unit_rows, unit_cols = unit_extents((rows, cols))
    # Along N a warpgroup has one piece of the columns, if it is alone, or one of each unit's.
    wide = cols if parts == 1 else unit_cols // parts
    if (
        warps[0] % WARPGROUP_WARPS
        or unit_rows % (fragment["row"] * groups_m)
        or (not wide or wide % fragment["col"])
    ):
        raise LayoutError(
            f"{rows}x{cols} of operand {name} is not a whole number of fragments of {form.ptx} for "
            f"each of {warps[0]}x{warps[1]} warps"
        )
    # An accumulator is made of m64n8 tiles, side by side, whatever its N.
    layout = accumulator(form.operand(name)).unit if name in "cd" else operand_layout(form, name)
    unit = layout.out_sizes
    layout *= _identity(unit_cols // parts // unit["col"], "register", "col")
    layout *= _identity(groups_m, "warp", "row")
    layout *= _identity(parts, "warp", "col") if parts > 1 else LinearLayout.zeros(groups_n, "warp")
    layout *= _identity(unit_rows // groups_m // unit["row"], "register", "row")
    return layout.reorder(("register", "lane", "warp"), ("row", "col"))


@cache
def row_tile(rows: int, cols: int, vector: int, warps: int) -> LinearLayout:
    """Rows of a tile spread over threads: `vector` elements a register group, lanes along rows.

    Consecutive lanes take consecutive vectors of a row, then the next rows; so do the warps;
    registers repeat what is left. A tile with fewer vectors than threads is held more than once.

    Args:
        rows: rows of the tile.
        cols: its columns.
        vector: elements of a row that a thread takes at once.
        warps: warps of the CTA.

    Returns:
        (register, lane, warp) -> (row, col).

    Raises:
        LayoutError: for extents that are not powers of two, or a vector longer than a row.
    """
    if vector > cols:
        raise LayoutError(f"a vector of {vector} is longer than a row of {cols}")
    layout = _identity(vector, "register", "col")
    left = {"col": cols // vector, "row": rows}
    for dim, count in (("lane", LANES), ("warp", warps)):
        for index in ("col", "row"):
            taken = min(left[index], count)
            layout *= _identity(taken, dim, index)
            left[index] //= taken
            count //= taken  # noqa: PLW2901 (what is left of the lanes or warps)
        layout *= LinearLayout.zeros(count, dim)
    for index in ("col", "row"):
        layout *= _identity(left[index], "register", index)
    return layout.reorder(("register", "lane", "warp"), ("row", "col"))

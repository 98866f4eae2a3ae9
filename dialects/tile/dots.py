"""Products of a CTA's tiles: the fragments that their instructions repeat over each operand."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import NamedTuple

from tilec.isa import Family, Form, Mma, TilecError
from tilec.layout import LinearLayout
from tilec.layout.operands import INDICES, units

from .tiles import PlainTile, TileValue, element_name

Tile = PlainTile | TileValue


class Dot(NamedTuple):
    """A product of tiles.

    Attributes:
        instruction: the op that is one instruction of it.
        family: of its forms.
        operands: names of its operands, as the instruction has them.
    """

    instruction: str
    family: Family
    operands: tuple[str, ...]


DOTS: Mapping[str, Dot] = MappingProxyType(
    {
        "tile.dot": Dot("tile.mma", Family.MMA, ("a", "b", "c")),
        "tile.dot_sp": Dot("tile.mma_sp", Family.MMA_SP, ("a", "b", "c", "e")),
        "tile.dot_scaled": Dot(
            "tile.mma_scaled", Family.MMA_BLOCK_SCALE, ("a", "b", "c", "sfa", "sfb")
        ),
        "tile.dot_sp_scaled": Dot(
            "tile.mma_sp_scaled", Family.MMA_SP_BLOCK_SCALE, ("a", "b", "c", "e", "sfa", "sfb")
        ),
    }
)
"""The products by the op's name."""


def unit_of(form: Mma, name: str, layout: LinearLayout) -> LinearLayout:
    """The one of `units` that a tile's layout repeats.

    Raises:
        TilecError: if there is none.
    """
    return _division(form, name, layout)[0]


@lru_cache(maxsize=1024)
def _division(form: Mma, name: str, layout: LinearLayout) -> tuple[LinearLayout, LinearLayout]:
    """The unit that a layout repeats, and how."""
    for unit in units(form, name):
        quotient = layout.divide_left(unit)
        if quotient is not None and quotient.in_size("lane") == 1:
            return unit, quotient
    raise TilecError(
        f"layout '{layout}' of operand {name} is not a repetition of the fragment "
        f"'{units(form, name)[0]}' of {form.ptx}"
    )


def repetition(form: Mma, name: str, tile: TileValue) -> LinearLayout:
    """How the fragments of operand `name` repeat over a tile's registers and warps.

    Returns:
        (register, lane, warp) -> (row, col), counted in fragments; `lane` has size one.

    Raises:
        TilecError: if the tile's element type or layout is not made of the form's fragments.
    """
    check_element(form, name, tile)
    return _division(form, name, tile.layout)[1]


def check_element(form: Form, name: str, tile: Tile) -> None:
    """Check the element type of operand `name`; raises TilecError naming the one it has."""
    element = element_name(form.operand(name))
    if str(tile.element) != element:
        raise TilecError(
            f"operand {name} of {form.ptx} has elements of type {element}, not {tile.element}"
        )


def steps(form: Mma, name: str, unit: LinearLayout) -> dict[str, int]:
    """For how many instructions along each of its two indices a fragment serves.

    Returns:
        By index, `m`, `n` or `k`: one, or more of metadata and scale factors.
    """
    operand = form.operand(name)
    along = INDICES[name]
    return {
        along[0]: unit.out_sizes["row"] // operand.rows,
        along[1]: unit.out_sizes["col"] // operand.cols,
    }


def selectors(
    form: Mma, at: Mapping[str, int], served: Mapping[str, Mapping[str, int]]
) -> dict[str, int]:
    """What the selectors of one instruction are.

    Args:
        form: its form.
        at: its number along `m`, `n` and `k`.
        served: of each operand, what `steps` gives.

    Returns:
        By the selector's name.
    """
    found: dict[str, int] = {}
    if "e" in served:
        found["selector"] = at["k"] % served["e"]["k"]
    for side, outer in (("a", "m"), ("b", "n")):
        scales = served.get(f"sf{side}")
        if scales is not None:
            assert form.scaling is not None
            found[f"byte_id_{side}"] = at["k"] % scales["k"] * form.scaling.chunks
            found[f"thread_id_{side}"] = at[outer] % scales[outer]
    return found


def extents(form: Form, tiles: Mapping[str, Tile]) -> dict[str, int]:
    """How many instructions make up a product along `m`, `n` and `k`.

    Args:
        form: the instruction.
        tiles: of each operand and of the result `d`.

    Raises:
        TilecError: for tiles that do not fit each other or are not a whole number of instructions.
    """
    found: dict[str, int] = {}
    for name, tile in tiles.items():
        operand = form.operand(name)
        if len(tile.shape) != 2:
            raise TilecError(f"operand {name} is a matrix, not of rank {len(tile.shape)}")
        for index, extent, one in zip(
            INDICES[name], tile.shape, (operand.rows, operand.cols), strict=True
        ):
            count, rest = divmod(extent, one)
            if rest or not count:
                raise TilecError(
                    f"operand {name}, {_extents(tile)}, is not a whole number of instructions "
                    f"{form.ptx}, whose {name} is {operand.rows}x{operand.cols}"
                )
            if found.setdefault(index, count) != count:
                raise TilecError(f"shapes do not match: {_shapes(form, tiles)}")
    return found


def _shapes(form: Form, tiles: Mapping[str, Tile]) -> str:
    each = ", ".join(f"{name} {_extents(tile)}" for name, tile in tiles.items())
    one = ", ".join(f"{name} {form.operand(name).rows}x{form.operand(name).cols}" for name in tiles)
    return f"{each}; one instruction {form.ptx} has {one}"


def _extents(tile: Tile) -> str:
    return "x".join(str(n) for n in tile.shape)


def check_layouts(form: Mma, tiles: Mapping[str, TileValue]) -> None:
    """Check that layouts repeat the form's fragments, and that the warps hold what they need.

    Each warp must hold the rows of A and columns of B of its part of C, and all of K.

    Args:
        form: the instruction.
        tiles: of each operand and of the result `d`.

    Raises:
        TilecError: naming the operand and the index that does not fit.
    """
    repeats = {name: repetition(form, name, tile) for name, tile in tiles.items()}
    for name, tile in tiles.items():
        for index, of in zip(("row", "col"), INDICES[name], strict=True):
            if of == "k":
                if not repeats[name].restrict(ins=["register"], outs=[index]).is_surjective:
                    raise TilecError(
                        f"a warp must hold all of K of operand {name}, in its registers"
                    )
                continue
            ours, theirs = (t.layout.restrict(outs=[index]) for t in (tile, tiles["c"]))
            if ours.bases.get("warp", []) != theirs.bases.get("warp", []):
                raise TilecError(
                    f"the warps hold different {index}s of operand {name} than of C: "
                    f"'{tile.layout}' against '{tiles['c'].layout}'"
                )
            if not repeats[name].restrict(ins=["register", "warp"], outs=[index]).is_surjective:
                raise TilecError(f"some {index}s of operand {name} are held by no warp")
    if repeats["c"] != repeats["d"]:
        raise TilecError("C and D must have the same layout of instructions over warps")

"""What a warpgroup holds: a fragment spread over the registers of four warps.

Its type is `!tile.frag` too; the layout has a third input, `warp`, of four. Columns of an
accumulator need not be a power of two.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tilec.ir.aliases import Type, Value
from tilec.ir.state import per_context
from tilec.isa import LANES, WARPGROUP_WARPS, TilecError
from tilec.layout import LinearLayout

from .dialect import FragType
from .tiles import Element, element_of, resolve_any

if TYPE_CHECKING:
    from tilec.layout.repeated import Fragment


@dataclass(frozen=True, slots=True)
class WarpgroupTile:
    """A fragment that a warpgroup holds.

    Attributes:
        shape: extents of the matrix.
        element: MLIR element type.
        layout: (register, lane, warp) -> (row, col).
    """

    shape: tuple[int, ...]
    element: Element
    layout: Fragment

    @property
    def registers(self) -> int:
        """Elements that a lane holds."""
        return self.layout.in_sizes["register"]

    @property
    def unit(self) -> LinearLayout:
        """The layout, or, of one that repeats, what it repeats."""
        return self.layout if isinstance(self.layout, LinearLayout) else self.layout.unit


@per_context()
def warpgroup_tile(type_: Type) -> WarpgroupTile | None:
    """The fragment of a type, or None if no warpgroup holds it.

    Raises:
        TilecError: if its layout's text names none, or does not fit the tile's shape.
    """
    if not isinstance(type_, FragType):
        return None
    text = type_.layout.text.value
    layout = resolve_any(text)
    sizes = layout.in_sizes
    if sizes.get("warp") != WARPGROUP_WARPS:
        return None
    if list(sizes) != ["register", "lane", "warp"] or sizes["lane"] != LANES:
        raise TilecError(
            f"layout '{text}' has inputs ({', '.join(sizes)}); of a warpgroup's fragment they are "
            f"register, lane of {LANES} and warp of {WARPGROUP_WARPS}"
        )
    shape = tuple(type_.tile.shape)
    if tuple(layout.out_sizes.values()) != shape:
        own = "x".join(map(str, layout.out_sizes.values()))
        raise TilecError(f"layout '{text}' is of a {own} tile, not of {type_.tile}")
    return WarpgroupTile(shape, element_of(type_.tile.element_type), layout)


def warpgroup_fragment(value: Value, what: str) -> WarpgroupTile:
    """The fragment that `value` is.

    Raises:
        TilecError: if no warpgroup holds it.
    """
    found = warpgroup_tile(value.type)
    if found is None:
        raise TilecError(
            f"{what} must be a !tile.frag of a warpgroup, such as !tile.frag<tensor<64x"
            f'256xf32>, #tile.layout<"m64n256k16 d f32">>, not {value.type}'
        )
    return found


def warp_part(tile: WarpgroupTile, first: int, columns: int) -> LinearLayout:
    """The layout of one warp's rows of a warpgroup's fragment, and of some of its columns.

    Args:
        tile: what the warpgroup holds.
        first: the first column.
        columns: how many, a power of two.

    Returns:
        (register, lane) -> (row, col) of the part.

    Raises:
        TilecError: if the columns are not a whole number of registers of every lane.
    """
    unit = tile.unit.out_sizes["col"]
    legal = columns > 0 and not columns & (columns - 1) and columns <= tile.shape[1]
    if isinstance(tile.layout, LinearLayout):
        unit = min(unit, 8)
    if not legal or columns % unit or first % columns or first + columns > tile.shape[1]:
        raise TilecError(
            f"columns are a power of two, at least {unit}, from a multiple of them on, of the "
            f"{tile.shape[1]} that there are; not {columns} from {first} on"
        )
    bases = tile.unit.restrict(ins=("register", "lane")).bases
    rows = tile.shape[0] // WARPGROUP_WARPS
    if isinstance(tile.layout, LinearLayout):
        registers = [image for image in bases["register"] if image[1] < columns]
    else:
        steps = (columns // unit).bit_length() - 1
        registers = [*bases["register"], *((0, unit << step) for step in range(steps))]
    return LinearLayout.of(
        {"register": registers, "lane": bases["lane"]}, {"row": rows, "col": columns}
    )


def part_registers(tile: WarpgroupTile, first: int, columns: int) -> range:
    """The elements of a lane that lie in some columns: a run, as columns go up with registers."""
    each = tile.registers * columns // tile.shape[1]
    return range(first // columns * each, (first // columns + 1) * each)

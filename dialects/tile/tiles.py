"""What a tile value is, at whichever level: shape, element type, layout."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import prod
from typing import TYPE_CHECKING, TypeAlias

from tilec.ir.aliases import Number, Type
from tilec.ir.mlir import ir
from tilec.ir.state import per_context
from tilec.isa import Operand, TilecError
from tilec.isa.wording import counted
from tilec.layout import LayoutError, LinearLayout, any_fragment_of, find_form
from tilec.layout.extents import check_extents, unit_extents
from tilec.layout.views import dims

from .dialect import ByteType, FragType, LayoutAttr


def element_name(operand: Operand) -> str:
    """MLIR's element type of an operand; integers lose their sign, which the form carries."""
    name = operand.type.mlir
    padded = operand.container == 8 and operand.type.bits < 8
    return f"!tile.byte<{name}>" if padded else name


_WIDEST = 64
"""Bits of the widest registers, which hold elements."""

Element: TypeAlias = Number | ByteType
"""The types of a tile's elements."""


@per_context()
def bits_of(element: Type) -> int:
    """Bits that an element takes in memory and in a register.

    Raises:
        TilecError: for elements that are not numbers.
    """
    if isinstance(element, ByteType):
        return 8
    if not isinstance(element, (ir.IntegerType, ir.FloatType)):
        raise TilecError(f"elements are integers or floating-point numbers, not {element}")
    # tf32, a 19-bit type, takes a whole register
    bits = 32 if isinstance(element, ir.FloatTF32Type) else element.width
    if bits & (bits - 1):
        raise TilecError(f"{bits}-bit elements are held in bytes: !tile.byte<{element}>")
    return bits


def element_of(element: Type) -> Element:
    """A type that a tile's elements may have.

    Raises:
        TilecError: for elements that are not numbers.
    """
    if bits_of(element) > _WIDEST:
        raise TilecError(f"elements have at most {_WIDEST} bits, unlike {element}")
    assert isinstance(element, (ir.IntegerType, ir.FloatType, ByteType))
    return element


@dataclass(frozen=True, slots=True)
class PlainTile:
    """A tensor without a layout: a tile of the whole CTA, its elements not yet given to lanes.

    Attributes:
        shape: extents of the tile; what is not a power of two is so many units of one.
        element: MLIR element type.
    """

    shape: tuple[int, ...]
    element: Element


@dataclass(frozen=True, slots=True)
class TileValue:
    """A tensor with a layout, or a fragment.

    Attributes:
        shape: extents of the tile.
        element: MLIR element type.
        layout: the linear layout that its encoding names, of one unit (`tilec.layout.extents`): of
            all of the tile, if its extents are powers of two. The units lie one after another
            in a lane's registers, in row-major order.
        is_fragment: whether it is a `!tile.frag`.
    """

    shape: tuple[int, ...]
    element: Element
    layout: LinearLayout
    is_fragment: bool

    @property
    def registers(self) -> int:
        """Elements that a lane holds."""
        return self.layout.in_size("register") * self.units

    @property
    def units(self) -> int:
        """Units of the tile; one, if its extents are powers of two."""
        return prod(self.shape) // prod(self.layout.out_sizes.values())

    @property
    def warps(self) -> int:
        """Warps that share the tile; 1 for a fragment."""
        return self.layout.in_size("warp")


if TYPE_CHECKING:
    from tilec.layout.repeated import Fragment


def resolve(text: str) -> LinearLayout:
    """The linear layout that the text of a `#tile.layout` names.

    Raises:
        TilecError: if it names none.
    """
    found = resolve_any(text)
    if not isinstance(found, LinearLayout):
        raise LayoutError(
            f"layout '{text}' repeats {found.count} times, not a power of two; {_WARPGROUPS}"
        )
    return found


_WARPGROUPS = (
    "only tile.wgmma and related ops take fragments of a warpgroup; tile.warp_part "
    "gives the part of a warp"
)


@lru_cache(maxsize=4096)
def resolve_any(text: str) -> Fragment:
    """The layout that the text of a `#tile.layout` names, be it linear or a repeated one.

    Raises:
        TilecError: if it names none.
    """
    if "->" in text:
        return LinearLayout.parse(text)
    words = text.split()
    if len(words) < 3:
        raise LayoutError(
            f"layout '{text}' is neither a linear layout (register …; lane … -> row …, col …) "
            "nor a fragment (shape, operand and element type, as in 'm16n8k16 a f16')"
        )
    shape, operand, dtype, *options = words
    major = next((o for o in options if o in ("row", "col")), None)
    form = find_form(shape, operand, dtype, sparse="sparse" in options, major=major)
    return any_fragment_of(form, operand)


@per_context()
def plain_tile(type_: Type) -> PlainTile | None:
    """The tile of a tensor that has no encoding, or None for another type.

    Raises:
        TilecError: if its extents are none of a tile, or the elements are not numbers.
    """
    if not isinstance(type_, ir.RankedTensorType) or type_.encoding is not None:
        return None
    if not type_.has_static_shape:
        raise TilecError(f"extents of a tile are known before it runs, unlike those of {type_}")
    check_extents(type_.shape)
    if not type_.rank:
        raise TilecError(f"a tile has rank 1 or more; {type_.element_type} stands for {type_}")
    return PlainTile(tuple(type_.shape), element_of(type_.element_type))


@per_context()
def tile_value(type_: Type) -> TileValue | None:
    """The tile of a type, or None if it is not a tile with a layout.

    Raises:
        TilecError: if its layout's text names none, or does not fit the tile's shape, or the
            elements are not numbers.
    """
    if isinstance(type_, FragType):
        tile, layout = type_.tile, type_.layout.text.value
        if tile.encoding is not None:
            raise TilecError(f"a fragment's layout is written after its tensor, not in it: {type_}")
        return _checked(tile, layout, is_fragment=True)
    if isinstance(type_, ir.RankedTensorType) and isinstance(type_.encoding, LayoutAttr):
        return _checked(type_, type_.encoding.text.value, is_fragment=False)
    return None


def _checked(tile: ir.RankedTensorType, text: str, *, is_fragment: bool) -> TileValue:
    extents, layout = tile_layout(text, is_fragment=is_fragment)
    element = element_of(tile.element_type)
    shape = tuple(tile.shape)
    if extents != shape:
        _check_units(text, extents, tile, is_fragment=is_fragment)
    return TileValue(shape, element, layout, is_fragment)


def _check_units(
    text: str, extents: tuple[int, ...], tile: ir.RankedTensorType, *, is_fragment: bool
) -> None:
    """Check that a layout, which is not of all of a tile, is of its unit."""
    own, wanted = "x".join(map(str, extents)), ""
    if tile.has_static_shape and not is_fragment:
        check_extents(tile.shape)
        unit = unit_extents(tile.shape)
        if extents == unit:
            return
        one = "x".join(map(str, unit))
        wanted = f" or its units of {one}" * (unit != tuple(tile.shape))
    raise TilecError(f"layout '{text}' is of a {own} tile, not of {tile}{wanted}")


@lru_cache(maxsize=4096)
def tile_layout(text: str, *, is_fragment: bool) -> tuple[tuple[int, ...], LinearLayout]:
    """The extents of the tiles that a layout's text fits, and the layout with all inputs.

    Raises:
        TilecError: if the text names none, or none of such a value.
    """
    layout = resolve(text)
    wanted = ("register", "lane") if is_fragment else ("register", "lane", "warp")
    if is_fragment and layout.in_sizes.get("warp") == 4:
        raise TilecError(f"layout '{text}' spreads a fragment over a warpgroup; {_WARPGROUPS}")
    if not {"register", "lane"} <= set(layout.in_sizes) <= set(wanted):
        raise TilecError(
            f"layout '{text}' has inputs ({', '.join(layout.in_sizes)}); "
            f"here they are ({', '.join(wanted)})"
        )
    if layout.in_sizes["lane"] != 32:
        raise TilecError(
            f"layout '{text}' has {counted(layout.in_sizes['lane'], 'lane')}; a warp has 32"
        )
    layout = _with_inputs(layout, wanted)
    # A fragment may be a warp's part of a larger tile.
    if not is_fragment and not layout.is_surjective:
        raise TilecError(f"layout '{text}' assigns some elements of the tile to no lane")
    extents = tuple(layout.out_sizes.values())
    return extents, layout if is_fragment else _named(layout)


def _with_inputs(layout: LinearLayout, ins: tuple[str, ...]) -> LinearLayout:
    """The layout with these inputs in this order; those that it does not have are of size one."""
    whole = layout * LinearLayout.empty(ins)
    return whole.reorder(ins, tuple(whole.out_sizes))


def _named(layout: LinearLayout) -> LinearLayout:
    """The layout with the usual names of a tile's dimensions, which are so by position."""
    return LinearLayout(
        layout.ins,
        tuple((n, bits) for n, (_, bits) in zip(dims(len(layout.outs)), layout.outs, strict=True)),
        layout.columns,
    )


def layout_text(type_: ir.Type) -> str:
    """The text of the layout of a tensor or fragment that has one."""
    if isinstance(type_, FragType):
        return type_.layout.text.value
    assert isinstance(type_, ir.RankedTensorType)
    assert isinstance(type_.encoding, LayoutAttr)
    return type_.encoding.text.value


def layout_attr(layout: LinearLayout | str) -> LayoutAttr:
    """The attribute of a layout, or of the text that names one."""
    return LayoutAttr.get(ir.StringAttr.get(str(layout)))


def tensor_type(
    shape: tuple[int, ...], element: Type, layout: LinearLayout | str
) -> ir.RankedTensorType:
    """`tensor<…, #tile.layout<…>>`."""
    return ir.RankedTensorType.get(list(shape), element, encoding=layout_attr(layout))


def frag_type(shape: tuple[int, ...], element: Type, layout: LinearLayout | str) -> FragType:
    """`!tile.frag<tensor<…>, #tile.layout<…>>`."""
    return FragType.get(ir.RankedTensorType.get(list(shape), element), layout_attr(layout))

"""Builders of types."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias, TypeVar

from tilec.ir.aliases import Type, Value
from tilec.ir.mlir import ir
from tilec.isa import Family, Form, TilecError, form
from tilec.layout import LinearLayout
from tilec.layout.operands import operand_layout
from tilec.layout.tiling import operand_tile

from .. import tiles
from ..dialect import FragType, SharedAttr, WmmaType
from ..ops.base import form_of, tile_of
from ..wmma import wmma_type
from .caller import located

Layout = LinearLayout | str
TypeLike: TypeAlias = Type | str
"""A type, or its text."""
T = TypeVar("T", bound=Type)


@located
def tensor_type(shape: Sequence[int], element: TypeLike, layout: Layout) -> ir.RankedTensorType:
    """`tensor<…, #tile.layout<…>>`: a tile of a CTA, (register, lane, warp) -> (row, col)."""
    return _checked(tiles.tensor_type(tuple(shape), parsed_type(element), layout))


@located
def frag_type(shape: Sequence[int], element: TypeLike, layout: Layout) -> FragType:
    """`!tile.frag<tensor<…>, #tile.layout<…>>`: a warp's tile, (register, lane) -> (row, col)."""
    return _checked(tiles.frag_type(tuple(shape), parsed_type(element), layout))


@located
def operand_fragment(form: Form | str, operand: str) -> FragType | WmmaType:
    """The type of an instruction's operand: its fragment, `!tile.wmma<…>` of a `wmma` form."""
    found = find_form(form)
    if found.operand(operand).opaque:
        return wmma_type(found, operand)
    layout = operand_layout(found, operand)
    element = tiles.element_name(found.operand(operand))
    return tiles.frag_type(tuple(layout.out_sizes.values()), parsed_type(element), layout)


@located
def operand_tensor(
    form: Form | str, operand: str, rows: int, cols: int, *, warps: tuple[int, int]
) -> ir.RankedTensorType:
    """The type of a CTA's tile of an `mma` operand (`tilec.layout.tiling.operand_tile`).

    Args:
        form: the instruction or its mnemonic.
        operand: its name.
        rows: rows of the tile.
        cols: its columns.
        warps: warps along M and along N.
    """
    found = find_form(form)
    layout = operand_tile(found, operand, rows, cols, warps)
    element = tiles.element_name(found.operand(operand))
    return tiles.tensor_type((rows, cols), parsed_type(element), layout)


@located
def shared_type(
    shape: Sequence[int], element: TypeLike, swizzle: str | None = "none"
) -> ir.MemRefType:
    """A memref in shared memory: matrices in its last two dimensions, those before count them.

    Args:
        shape: extents; the last is a power of two.
        element: element type.
        swizzle: `none`, `32B`, `64B`, `128B` or `swizzle<B,M,S>`, of each matrix; None of an array
            of any extents, in upstream's space.
    """
    space: ir.Attribute = (
        ir.Attribute.parse("#gpu.address_space<workgroup>")
        if swizzle is None
        else SharedAttr.get(ir.StringAttr.get(swizzle))
    )
    return ir.MemRefType.get(list(shape), parsed_type(element), memory_space=space)


def parsed_type(type_: TypeLike) -> Type:
    """An MLIR type, from its text if it is one.

    Raises:
        TilecError: if the text is not a type.
    """
    if not isinstance(type_, str):
        return type_
    try:
        return ir.Type.parse(type_)
    except ir.MLIRError:
        raise TilecError(f"'{type_}' is not an MLIR type") from None


def retyped(
    value: Value, *, element: TypeLike | None = None, layout: Layout | None = None
) -> ir.RankedTensorType | FragType:
    """The type of `value` with another element type or layout."""
    if layout is None and (plain := tiles.plain_tile(value.type)) is not None:
        kept = plain.element if element is None else parsed_type(element)
        return ir.RankedTensorType.get(list(plain.shape), kept)
    tile = tile_of(value, "operand")
    make = tiles.frag_type if tile.is_fragment else tiles.tensor_type
    text = tiles.layout_text(value.type) if layout is None else layout
    return make(tile.shape, tile.element if element is None else parsed_type(element), text)


def find_form(given: Form | str, family: Family | None = None) -> Form:
    """The form, or the one of this mnemonic, of a family.

    Raises:
        TilecError: if there is none, or it is of another family.
    """
    name = given if isinstance(given, str) else given.ptx
    return form(name) if family is None else form_of(name, family)


def _checked(type_: T) -> T:
    tiles.tile_value(type_)
    return type_

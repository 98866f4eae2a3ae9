"""Functions that build the dialect's types, for `builders`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tilec.isa import Form
from tilec.isa import form as form_of
from tilec.layout import LinearLayout
from tilec.layout.tiling import operand_tile
from tilec.mlir import ir

from . import tiles
from .caller import located
from .dialect import SharedAttr
from .kernels import parsed_type
from .operands import operand_layout

Layout = LinearLayout | str


@located
def tensor_type(shape: Sequence[int], element: Any, layout: Layout) -> Any:
    """`tensor<…, #tile.layout<…>>`: a tile of a CTA, (register, lane, warp) -> (row, col)."""
    return _checked(tiles.tensor_type(tuple(shape), parsed_type(element), layout))


@located
def frag_type(shape: Sequence[int], element: Any, layout: Layout) -> Any:
    """`!tile.frag<tensor<…>, #tile.layout<…>>`: a warp's tile, (register, lane) -> (row, col)."""
    return _checked(tiles.frag_type(tuple(shape), parsed_type(element), layout))


@located
def operand_fragment(form: Form | str, operand: str) -> Any:
    """The type of an instruction's operand: its fragment."""
    found = find_form(form)
    layout = operand_layout(found, operand)
    element = tiles.element_name(found.operand(operand))
    return tiles.frag_type(tuple(layout.out_sizes.values()), parsed_type(element), layout)


@located
def operand_tensor(
    form: Form | str, operand: str, rows: int, cols: int, *, warps: tuple[int, int]
) -> Any:
    """The type of a CTA's tile of an `mma` operand (`tilec.layout.tiling.operand_tile`).

    Args:
        form: the instruction or its mnemonic.
        operand: `a`, `b`, `c` or `d`.
        rows: rows of the tile.
        cols: its columns.
        warps: warps along M and along N.
    """
    found = find_form(form)
    layout = operand_tile(found, operand, rows, cols, warps)
    element = tiles.element_name(found.operand(operand))
    return tiles.tensor_type((rows, cols), parsed_type(element), layout)


@located
def shared_type(shape: Sequence[int], element: Any, swizzle: str = "none") -> Any:
    """A memref in shared memory: matrices in its last two dimensions, those before count them.

    Args:
        shape: extents; the last two are powers of two.
        element: element type.
        swizzle: `none`, `32B`, `64B`, `128B` or `swizzle<B,M,S>`, of each matrix.
    """
    space = SharedAttr.get(ir.StringAttr.get(swizzle))
    return ir.MemRefType.get(list(shape), parsed_type(element), memory_space=space)


def find_form(given: Form | str) -> Form:
    """The form, or the one of this mnemonic."""
    return form_of(given) if isinstance(given, str) else given


def _checked(type_: Any) -> Any:
    tiles.tile_value(type_)
    return type_

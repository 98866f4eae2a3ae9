"""The dialect's class, its attributes and its type."""

from typing import TYPE_CHECKING, Any, Self

from tilec.ir.mlir import ext, ir

# MLIR's bindings read the annotations of these classes, so they must be objects: no
# `from __future__ import annotations` here and in `ops/`.


class Defined:
    """What the bindings give to each type, attribute and op: for type checkers."""

    if TYPE_CHECKING:
        OPERATION_NAME: str

        def __init_subclass__(cls, *, name: str = "") -> None: ...
        def __getattr__(self, name: str) -> Any: ...
        @classmethod
        def get(cls, *parameters: Any) -> Self:
            """Make one from its parameters."""
            ...


class Tile(ext.Dialect, name="tile"):  # type: ignore[call-arg]
    """Tiles, and the fragments of them that a warp's registers hold."""

    if TYPE_CHECKING:  # made by the bindings
        DIALECT_NAMESPACE: str

        class Operation(Defined):
            """Base of its ops."""

        class Type(Defined):
            """Base of its types."""

        class Attribute(Defined):
            """Base of its attributes."""


class LayoutAttr(Tile.Attribute, name="layout"):
    """`#tile.layout<"…">`: who holds which element of a tile.

    The text is a linear layout (`register [0,1] [8,0]; lane … -> row 16, col 8`) or names
    the fragment of an operand: shape, operand and element type, `m16n8k16 a f16`.
    """

    text: ir.StringAttr


class SharedAttr(Tile.Attribute, name="shared"):
    """`#tile.shared<"…">`: memory space of shared memory whose rows are swizzled.

    The text names a swizzle of the byte offsets, `none`, `32B`, `64B`, `128B`, or
    `swizzle<B,M,S>` as CuTe has it; or it is a linear layout `offset … -> row …, col …`, the
    offset counting elements.
    """

    swizzle: ir.StringAttr


class ByteType(Tile.Type, name="byte"):
    """`!tile.byte<f4E2M1FN>`: a byte that holds a 6- or 4-bit float as `kind::f8f6f4` wants it.

    e2m1 is in bits 5 to 2, e3m2 and e2m3 in bits 5 to 0; the rest is padding. In memory they
    are `i8`. PTX ISA, "Packed formats" of `mma`.
    """

    element: ir.Float4E2M1FNType | ir.Float6E2M3FNType | ir.Float6E3M2FNType


class FragType(Tile.Type, name="frag"):
    """`!tile.frag<tensor<16x16xf16>, #tile.layout<"…">>`: the part of a tile that a warp holds.

    The layout's outputs have the tile's extents; its inputs are `register`, counting the
    elements that a lane holds, and `lane`.
    """

    tile: ir.RankedTensorType
    layout: LayoutAttr


class WmmaType(Tile.Type, name="wmma"):
    """`!tile.wmma<"m16n16k16 a row f16">`: a fragment of the `wmma` instructions.

    The text gives shape, operand (`a`, `b`, or `c` of an accumulator), of `a` and `b` `.row` or
    `.col`, and PTX's element type. Which element a register holds is not defined.
    """

    operand: ir.StringAttr


def value_of(parameter: Any) -> Any:
    """The type or text inside a parameter of one of these types and attributes."""
    return parameter.maybe_downcast().value

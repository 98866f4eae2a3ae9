"""The dialect's class, its attributes and its type."""

from functools import partial
from io import BytesIO
from typing import ClassVar

from tilec.ir.assembly import ShortForm
from tilec.ir.mlir import ext, ir
from tilec.layout.operand_names import operand_name, operand_of

# MLIR's bindings read the annotations of these classes, so they must be objects: no
# `from __future__ import annotations` here and in `ops/`.


class Tile(ext.Dialect, name="tile"):
    """Tiles, and the fragments of them that a warp's registers hold."""

    _irdl: ClassVar[dict[int, bytes]] = {}

    @classmethod
    def _emit_module(cls) -> ir.Module:
        """The dialect in IRDL; written once, and read for each further context: that is cheaper."""
        declared = len(cls.operations)
        if declared in cls._irdl:
            return ir.Module.parse(cls._irdl[declared])
        module = super()._emit_module()
        written = BytesIO()
        module.operation.write_bytecode(written)
        cls._irdl[declared] = written.getvalue()
        return module


class TileAttr(Tile.Attribute):
    """An attribute of the dialect, whose parameters are what it declares."""

    @classmethod
    def __init_subclass__(cls, *, name: str) -> None:
        super().__init_subclass__(name=name)
        _define_parameters(cls)


class TileType(Tile.Type):
    """A type of the dialect, whose parameters are what it declares."""

    @classmethod
    def __init_subclass__(cls, *, name: str) -> None:
        super().__init_subclass__(name=name)
        _define_parameters(cls)


def _define_parameters(cls: type[TileAttr] | type[TileType]) -> None:
    """Let parameters be of the classes declared; the bindings give plain attributes."""
    for number, name in enumerate(cls.__annotations__):
        setattr(cls, name, property(partial(_parameter, number=number)))


def _parameter(declared: TileAttr | TileType, number: int) -> ir.Attribute | ir.Type:
    parameter = declared.params[number].maybe_downcast()
    return parameter.value if isinstance(parameter, ir.TypeAttr) else parameter


class LayoutAttr(TileAttr, name="layout"):
    """`#tile.layout<"…">`: which register, lane and warp hold an element of a tile.

    The text is a linear layout (`register [0,1] [8,0]; lane … -> row 16, col 8`) or names
    the fragment of an operand: shape, operand and element type, `m16n8k16 a f16`.

    The linear layout of an operand is printed and parsed as `#tile.operand<a, m16k16, b16>`, see
    `tilec.layout.operand_names`.
    """

    short_form = ShortForm("operand", operand_name, lambda name: str(operand_of(name)))

    text: ir.StringAttr


class SharedAttr(TileAttr, name="shared"):
    """`#tile.shared<"…">`: memory space of shared memory whose rows are swizzled.

    The text names a swizzle of the byte offsets, `none`, `32B`, `64B`, `128B`, or CuTe's
    `swizzle<B,M,S>`; or it is a linear layout `offset … -> row …, col …`, where the offset counts
    elements.
    """

    swizzle: ir.StringAttr


class TensorAttr(TileAttr, name="tensor"):
    """`#tile.tensor<"…">`: memory space of tensor memory, with the positions of elements.

    The text begins with the contents: `d`, an accumulator, with one 32-bit column per element;
    `a`, a left operand, packed along K; `scale`, four scale factors of a row in a column, the same
    in every quarter of the lanes; `e`, words of sparsity metadata, a row for each lane. After it,
    `cta_group::2` means that the last two dimensions are those of a pair of CTAs, and `ws` that the
    space is for products with `.ws`. `scale halves` is for B of a pair with M = 128: each half of
    the rows is in its half of the lanes. PTX ISA 9.7.16.10.5 and 9.7.16.10.7 give the lanes of
    rows: `tilec.layout.tensor_memory`.
    """

    text: ir.StringAttr


class ByteType(TileType, name="byte"):
    """`!tile.byte<f4E2M1FN>`: a byte that holds a 6- or 4-bit float as `kind::f8f6f4` requires.

    e2m1 is in bits 5 to 2, e3m2 and e2m3 in bits 5 to 0; the rest is padding. In memory they
    are `i8`. PTX ISA, "Packed formats" of `mma`.
    """

    element: ir.Float4E2M1FNType | ir.Float6E2M3FNType | ir.Float6E3M2FNType


class FragType(TileType, name="frag"):
    """`!tile.frag<tensor<16x16xf16>, #tile.layout<"…">>`: the part of a tile that a warp holds.

    The layout's outputs have the tile's extents; its inputs are `register`, counting the
    elements that a lane holds, and `lane`.
    """

    tile: ir.RankedTensorType
    layout: LayoutAttr


class WmmaType(TileType, name="wmma"):
    """`!tile.wmma<"m16n16k16 a row f16">`: a fragment of the `wmma` instructions.

    The text gives the shape, the operand (`a`, `b`, or `c` for an accumulator), `.row` or `.col`
    for `a` and `b`, and PTX's element type. The element that a register holds is not specified.
    """

    operand: ir.StringAttr

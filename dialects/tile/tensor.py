"""Buffers in tensor memory: what a memref in the space `#tile.tensor<…>` says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

from tilec.dialects.semantics.upstream import constant_of
from tilec.ir.aliases import Value
from tilec.ir.mlir import ir
from tilec.ir.state import per_context
from tilec.ir.types import is_row_major
from tilec.isa import TilecError
from tilec.layout import LayoutError

from .dialect import TensorAttr
from .tiles import bits_of

if TYPE_CHECKING:
    from tilec.layout.tensor_memory import TensorLayout

SCALES = 4
"""Scale factors of a row in a column."""
_HELD = ("d", "a", "scale", "e")
_WORD = 32
_PAIR, _STATIONARY, _HALVES = "cta_group::2", "ws", "halves"


@dataclass(frozen=True, slots=True)
class TensorBuffer:
    """Matrices in tensor memory, each in columns of its own, one after the other.

    Attributes:
        held: what lies there: `d`, `a`, `scale` or `e`.
        count: matrices, the product of the memref's leading extents.
        rows, cols: extents of one matrix, of both CTAs where a pair has it.
        element_bits: bits of an element.
        group: CTAs that have it, 1 or 2.
        stationary: whether it is for products with `.ws`.
        halves: whether the second half of its rows is in the other half of the lanes.
        layout: (row, bank, col) -> (cta, lane, column) of one matrix, `col` counting columns of 32
            bits; of scale factors those of the first quarter of the lanes.
    """

    held: str
    count: int
    rows: int
    cols: int
    element_bits: int
    group: int
    stationary: bool
    halves: bool
    layout: TensorLayout

    @property
    def packed(self) -> int:
        """Elements of a row in a column of 32 bits."""
        return 1 if self.held == "d" else 32 // self.element_bits

    @property
    def bank(self) -> int:
        """Columns of a matrix, in elements, that lie in one bank of lanes."""
        return self.layout.width * self.packed

    @property
    def matrix_columns(self) -> int:
        """Columns of one matrix."""
        return self.layout.columns

    @property
    def columns(self) -> int:
        """Columns of all."""
        return self.count * self.matrix_columns


def is_tensor(type_: ir.Type) -> bool:
    """Whether a type is a memref in tensor memory."""
    return isinstance(type_, ir.MemRefType) and isinstance(type_.memory_space, TensorAttr)


def tensor_buffer(value: Value, what: str) -> TensorBuffer:
    """The buffer that a value is.

    Raises:
        TilecError: if it is none in tensor memory, or has a shape that none has.
    """
    if not is_tensor(value.type):
        raise TilecError(f'{what} is a memref in #tile.tensor<"…">, not {value.type}')
    return buffer_of(ir.MemRefType(value.type))


def check_matrix(value: Value, at: Sequence[Value]) -> None:
    """Check that a buffer has the matrix that constant indices name, all but the last two.

    Raises:
        TilecError: saying how many there are.
    """
    for index, extent in zip(at[:-2], ir.MemRefType(value.type).shape, strict=False):
        known = constant_of(index)
        if known is not None and not 0 <= known < extent:
            raise TilecError(f"takes matrix {known} of a buffer of {extent}: {value.type}")


@per_context()
def buffer_of(type_: ir.MemRefType) -> TensorBuffer:
    """The buffer that a memref type in a `#tile.tensor` space describes.

    Raises:
        TilecError: for a shape that no buffer has, or a text that says nothing.
    """
    if not type_.has_static_shape or type_.rank < 2 or 0 in type_.shape:
        raise TilecError(
            f"a buffer in tensor memory has a static shape of rank 2 or more, not {type_}"
        )
    if not is_row_major(type_):
        raise TilecError(f"a buffer in tensor memory cannot have strides, unlike {type_}")
    assert isinstance(type_.memory_space, TensorAttr)
    held, words = _words(type_.memory_space.text.value)
    group, stationary, halves = 2 if _PAIR in words else 1, _STATIONARY in words, _HALVES in words
    *leading, rows, cols = type_.shape
    bits = bits_of(type_.element_type)
    try:
        layout = _layout(held, rows, cols, bits, group, stationary=stationary, halves=halves)
    except LayoutError as error:
        raise TilecError(f"{error}: {type_}") from None
    from tilec.isa.tensor_memory import COLUMNS  # noqa: PLC0415 (for Blackwell only)

    buffer = TensorBuffer(held, prod(leading), rows, cols, bits, group, stationary, halves, layout)
    if buffer.columns > COLUMNS:
        raise TilecError(
            f"takes {buffer.columns} columns of tensor memory, of which an SM has {COLUMNS}: "
            f"{type_}"
        )
    return buffer


def _words(text: str) -> tuple[str, frozenset[str]]:
    """What a space's text says: what is held, and the words after it."""
    held, *rest = text.split() or [""]
    legal = {_PAIR, _STATIONARY} | ({_HALVES} if held == "scale" else set())
    if held not in _HELD or not set(rest) <= legal or len(set(rest)) != len(rest):
        raise TilecError(
            f'#tile.tensor<"{text}"> is not a tensor memory layout; legal: '
            f"{', '.join(_HELD)}, each with {_PAIR} or {_STATIONARY} after it "
            f"where it is for such products, and scale with {_HALVES}"
        )
    return held, frozenset(rest)


def _layout(
    held: str, rows: int, cols: int, bits: int, group: int, *, stationary: bool, halves: bool
) -> TensorLayout:
    from tilec.isa.tensor_memory import LANES  # noqa: PLC0415 (for Blackwell only)
    from tilec.layout.tensor_memory import (  # noqa: PLC0415 (likewise)
        accumulator,
        left_operand,
        scale_columns,
    )

    if held == "d":
        if bits not in (16, 32):
            raise LayoutError(f"elements of D have 16 or 32 bits, not {bits}")
        return accumulator(rows, cols, group, stationary=stationary)
    if held == "a":
        if bits > 32 or cols % (32 // bits):
            raise LayoutError(f"{cols} elements of {bits} bits are not whole columns of 32 bits")
        return left_operand(rows, cols, bits, group, stationary=stationary)[0]
    if held == "e":
        if (rows, bits) != (LANES * group, _WORD) or cols % 2:
            raise LayoutError(
                f"metadata are words of {_WORD} bits in an even number of columns, in "
                f"{LANES * group} rows, not {rows}x{cols} of {bits} bits"
            )
        return left_operand(rows, cols, bits, group, stationary=stationary)[0]
    if bits != 8 or cols != SCALES:
        raise LayoutError(
            f"scale factors are of 8 bits, {SCALES} of a row, not {cols} of {bits} bits"
        )
    return scale_columns(rows, halves=halves)

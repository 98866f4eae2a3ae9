"""Shared-memory buffers: what a memref in the space `#tile.shared<…>` says."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import prod

from tilec.dialects.semantics.effects import is_shared_array
from tilec.ir.mlir import ir
from tilec.ir.state import per_context
from tilec.ir.types import is_row_major
from tilec.isa import TilecError
from tilec.isa.wording import counted
from tilec.layout import LinearLayout
from tilec.layout.swizzle import Swizzle, shared_layout

from .dialect import SharedAttr
from .tiles import bits_of

ALIGNMENT = 1024
"""Bytes to which buffers are aligned: every swizzle repeats within them."""


@dataclass(frozen=True, slots=True)
class SharedBuffer:
    """Row-major matrices in shared memory, one after the other.

    Attributes:
        count: matrices, the product of the memref's leading extents.
        rows, cols: extents of one matrix; columns are a power of two.
        element_bytes: bytes of an element.
        layout: (row, col) -> offset in elements, swizzled, within one matrix. If its rows are no
            power of two, that of the next: the offsets of the rows that there are fill the matrix.
    """

    count: int
    rows: int
    cols: int
    element_bytes: int
    layout: LinearLayout

    def together(self, count: int) -> bool:
        """Whether `count` elements of a row, from any multiple of `count` on, lie so in memory."""
        return _are_together(self.layout, count)

    @property
    def matrix_bytes(self) -> int:
        """Bytes of one matrix."""
        return self.rows * self.cols * self.element_bytes

    @property
    def bytes(self) -> int:
        """Bytes of all."""
        return self.count * self.matrix_bytes


@lru_cache(maxsize=1024)
def _are_together(layout: LinearLayout, count: int) -> bool:
    bits = count.bit_length() - 1
    bases = layout.bases
    own = [image for (image,) in bases["col"][:bits]]
    others = [image for (image,) in (*bases["col"][bits:], *bases["row"])]
    return own == [1 << i for i in range(bits)] and not any(i % count for i in others)


@per_context()
def shared_buffer(type_: ir.MemRefType) -> SharedBuffer:
    """The buffer that a memref type in a `#tile.shared` space describes.

    Raises:
        TilecError: for a shape or layout that no buffer has, or an unknown swizzle.
    """
    if not type_.has_static_shape or type_.rank < 2:
        raise TilecError(f"a shared buffer has a static shape of rank 2 or more, not {type_}")
    if not is_row_major(type_):
        raise TilecError(f"a shared buffer is row-major, not {type_}")
    *leading, rows, cols = type_.shape
    if 0 in type_.shape:
        raise TilecError(f"a shared buffer has elements, unlike {type_}")
    if cols & (cols - 1):
        raise TilecError(f"columns of a shared buffer are a power of two, unlike those of {type_}")
    bits = _whole_bytes(type_)
    assert isinstance(type_.memory_space, SharedAttr)
    swizzle = type_.memory_space.swizzle.value
    offsets = _offsets(swizzle, rows, cols, bits)
    return SharedBuffer(prod(leading), rows, cols, bits // 8, offsets)


@per_context()
def is_barriers(type_: ir.MemRefType) -> bool:
    """Whether a memref holds mbarriers: words of 64 bits in a row, without a swizzle."""
    space = type_.memory_space
    return (
        isinstance(space, SharedAttr)
        and space.swizzle.value == "none"
        and type_.rank == 1
        and type_.has_static_shape
        and type_.shape[0] > 0
        and str(type_.element_type) == "i64"
        and is_row_major(type_)
    )


@per_context()
def allocated_bytes(type_: ir.MemRefType) -> int:
    """Bytes of shared memory that a memref takes, of matrices, of mbarriers or of an array.

    Raises:
        TilecError: as `shared_buffer`.
    """
    if is_shared_array(type_):
        return _array_bytes(type_)
    return 8 * type_.shape[0] if is_barriers(type_) else shared_buffer(type_).bytes


def _array_bytes(type_: ir.MemRefType) -> int:
    """Bytes of an array in upstream's space."""
    if not type_.has_static_shape or 0 in type_.shape or not type_.rank:
        raise TilecError(f"an array in shared memory has known extents of 1 or more, not {type_}")
    if not is_row_major(type_):
        raise TilecError(f"an array in shared memory is row-major, not {type_}")
    return prod(type_.shape) * _whole_bytes(type_) // 8


def _whole_bytes(type_: ir.MemRefType) -> int:
    """Bits of an element, which has an address of its own."""
    bits = bits_of(type_.element_type)
    if bits % 8:
        raise TilecError(
            f"elements of type {type_.element_type} are smaller than a byte, so they have no "
            "address"
        )
    return bits


@lru_cache(maxsize=1024)
def _offsets(text: str, rows: int, cols: int, bits: int) -> LinearLayout:
    """(row, col) -> offset, in elements, of a swizzle's name or the text of its inverse."""
    extents = {"row": 1 << (rows - 1).bit_length(), "col": cols}
    if "->" not in text:
        swizzle = Swizzle.parse(text)
        moved = 1 << swizzle.bits + swizzle.base if swizzle.bits else 1
        if extents["row"] != rows and rows * cols * bits // 8 % moved:
            raise TilecError(
                f"{counted(rows, 'row')} of {cols * bits // 8} bytes are not a whole number of the "
                f"{counted(moved, 'byte')} "
                f"within which {text} moves them; legal: powers of two, and such multiples"
            )
        return shared_layout(extents, bits, swizzle).inverse()
    if extents["row"] != rows:
        raise TilecError(f"a layout of offsets needs a power of two of rows, not {rows}")
    places = LinearLayout.parse(text)
    if places.out_sizes != extents or list(places.in_sizes) != ["offset"]:
        raise TilecError(
            f"layout '{text}' is not one of a {rows}x{cols} matrix: "
            f"offset … -> row {rows}, col {cols}"
        )
    if not places.is_bijective:
        raise TilecError(f"layout '{text}' puts two elements at the same position")
    return places.inverse()

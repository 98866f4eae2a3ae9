"""The boxes by which TMA fills a matrix in shared memory, or empties it.

A box is packed: lines of its contiguous dimension, one after the other, swizzled by absolute
address. PTX ISA 5.5, "Tensors"; CUDA driver API, `cuTensorMapEncodeTiled`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from tilec.isa.limits import BOX_ALIGNMENT, BOX_EXTENTS
from tilec.isa.wording import counted

from .linear import LayoutError
from .shared_matrix import SharedMatrix
from .swizzle import CHUNK_BYTES, SWIZZLES, Swizzle

_MOST = BOX_EXTENTS[-1]


class Copy(NamedTuple):
    """One copy of a box.

    Attributes:
        place: index of the box's first element, contiguous index first.
        offset: bytes from the matrix's start to where it goes.
    """

    place: tuple[int, int]
    offset: int


@dataclass(frozen=True, slots=True)
class Boxes:
    """How copies of one box fill a matrix.

    Attributes:
        indices: the contiguous index, then the other: dimension 0 and 1 of the tensor map.
        box: extents of the box, in that order; of elements of less than a byte, in bytes first.
        swizzle: the map's.
        copies: what fills the matrix.
        bytes: of one copy, by which it advances its mbarrier.
    """

    indices: tuple[str, str]
    box: tuple[int, int]
    swizzle: Swizzle
    copies: tuple[Copy, ...]
    bytes: int


def find_boxes(matrix: SharedMatrix) -> Boxes:
    """The fewest copies of one box that fill a matrix.

    Raises:
        LayoutError: if none do, saying why.
    """
    if matrix.swizzle not in SWIZZLES.values():
        raise _failed(f"its swizzle, {matrix.swizzle}, is not one of {', '.join(SWIZZLES)}")
    inner, outer = _indices(matrix)
    width = _width(matrix, inner, outer)
    height = _height(matrix, outer, width * matrix.bits)
    copies = []
    for first in range(0, matrix.extents[inner], width):
        start = matrix.plain(inner, first)
        for at in range(width):
            if matrix.plain(inner, first + at) != start + at * matrix.bits:
                raise _failed(f"{inner}s {first} to {first + width - 1} are not contiguous")
        for line in range(0, matrix.extents[outer], height):
            offset = (start + matrix.plain(outer, line)) // 8
            if offset % BOX_ALIGNMENT:
                raise _failed(
                    f"a box would start at byte {offset}, not a multiple of {BOX_ALIGNMENT}"
                )
            copies.append(Copy((first, line), offset))
    elements = width * matrix.bits // 8 if matrix.bits < 8 else width
    if elements > _MOST:
        raise _failed(f"its lines have {counted(elements, 'element')}, and a box {_MOST} at most")
    size = width * matrix.bits // 8 * height
    return Boxes((inner, outer), (elements, height), matrix.swizzle, tuple(copies), size)


def _failed(why: str) -> LayoutError:
    return LayoutError(f"no box of TMA fills this matrix: {why}")


def _indices(matrix: SharedMatrix) -> tuple[str, str]:
    names = list(matrix.extents)
    contiguous = [name for name in names if matrix.plain(name, 1) == matrix.bits]
    if len(names) != 2 or not contiguous:
        raise _failed("neither of two indices is contiguous")
    (inner,) = contiguous
    (outer,) = (name for name in names if name != inner)
    return inner, outer


def _width(matrix: SharedMatrix, inner: str, outer: str) -> int:
    """Elements of a line of the box: lines follow each other without a gap."""
    pitch = matrix.plain(outer, 1)
    if pitch % (8 * CHUNK_BYTES):
        raise _failed(
            f"its lines are {counted(pitch // 8, 'byte')} apart, not a multiple of {CHUNK_BYTES}"
        )
    if matrix.swizzle.bits and pitch != 8 * matrix.line:
        raise _failed(
            f"its lines are {counted(pitch // 8, 'byte')} apart; with swizzle {matrix.swizzle} "
            "they are "
            f"{matrix.line}"
        )
    width = pitch // matrix.bits
    if matrix.extents[inner] % width:
        raise _failed(
            f"its lines are {counted(pitch // 8, 'byte')} apart, of which {matrix.extents[inner]} "
            f"{inner}s "
            "are not a multiple"
        )
    return width


def _height(matrix: SharedMatrix, outer: str, pitch: int) -> int:
    """Lines of the box: the most that divide all of them and lie one after the other."""
    extent = matrix.extents[outer]
    dense = 1
    while dense < extent and matrix.plain(outer, dense) == dense * pitch:
        dense += 1
    heights = (n for n in range(min(dense, _MOST), 0, -1) if extent % n == 0)
    return next(
        height
        for height in heights
        if all(
            matrix.plain(outer, first + at) == matrix.plain(outer, first) + at * pitch
            for first in range(0, extent, height)
            for at in range(height)
        )
    )

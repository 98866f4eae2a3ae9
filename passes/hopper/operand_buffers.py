"""How an operand of `wgmma` lies in shared memory: in panels as wide as a line of its swizzle."""

from __future__ import annotations

from typing import NamedTuple

from tilec.isa import TilecError
from tilec.isa.wording import counted
from tilec.layout.swizzle import SWIZZLES

_LINES = {SWIZZLES[name].line: name for name in ("128B", "64B", "32B")}
"""The swizzles by the bytes of a line, the widest first."""
_CORE = 8
"""Lines after which a swizzle repeats."""


class OperandBuffer(NamedTuple):
    """Panels in shared memory, each of so many lines.

    Attributes:
        shape: panels, lines, and elements of a line.
        swizzle: name of the swizzle, whose line is a panel's, or the text of a layout.
        transposed: whether M of A, or N of B, is contiguous.
        bytes: of all.
        wider: whether it also holds rows behind those of the tile, which may be outside the array.
    """

    shape: tuple[int, int, int]
    swizzle: str
    transposed: bool
    bytes: int
    wider: bool = False

    @property
    def order(self) -> str:
        """How a panel lies there, in words."""
        if self.swizzle in SWIZZLES:
            return f"swizzled as {self.swizzle}"
        return f"in the order '{self.swizzle}'"

    @property
    def extents(self) -> tuple[int, int]:
        """Rows and columns of the matrix, as memory holds it."""
        panels, lines, width = self.shape
        return lines, panels * width


def operand_buffer(
    name: str,
    shape: tuple[int, ...],
    bits: int,
    transposed_load: bool,
    turning: tuple[int, ...] = (16,),
) -> OperandBuffer:
    """The panels for a tile.

    Args:
        name: `a` or `b`.
        shape: rows and columns of the tile.
        bits: of an element.
        transposed_load: whether memory holds the tile's transpose.
        turning: bits of elements that descriptors tell along M and N, too.

    Raises:
        TilecError: if no descriptor tells such panels.
    """
    rows, cols = shape
    lines, width = (cols, rows) if transposed_load else (rows, cols)
    width //= max(1, 8 // bits)  # memory holds bytes
    transposed = transposed_load == (name == "a")
    if transposed and bits not in turning:
        along = {"a": "M", "b": "N"}[name]
        raise TilecError(f"is contiguous along {along}: elements of {bits} bits must be along K")
    size = max(1, bits // 8)
    line = next((n for n in _LINES if width * size % n == 0), None)
    if line is None or lines % _CORE:
        raise TilecError(
            f"has {counted(lines, 'line')} of {counted(width * size, 'byte')} in memory; lines are "
            "multiples of "
            f"{counted(min(_LINES), 'byte')}, and their number one of {_CORE}"
        )
    panels = width * size // line
    return OperandBuffer(
        (panels, lines, line // size),
        _LINES[line],
        transposed,
        lines * width * size,
    )

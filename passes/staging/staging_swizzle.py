"""The swizzle of a buffer between copies from global memory and loads of operands."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple

from tilec.dialects.tile.matrices import in_memory
from tilec.dialects.tile.ops.memory import NO_MATRICES
from tilec.dialects.tile.stored import stored_tile
from tilec.dialects.tile.tiles import TileValue
from tilec.isa import Target
from tilec.isa.wording import counted
from tilec.layout import LinearLayout
from tilec.layout.swizzle import shared_layout
from tilec.layout.synthesis import Pattern, Swizzling, find_swizzle
from tilec.layout.tiling import row_tile

from ..fragments.decomposition import Decomposition
from ..fragments.matrix_moves import matrix_moves

_find_swizzle = cache(find_swizzle)


class Reader(NamedTuple):
    """How a tile is loaded from the buffer.

    Attributes:
        tile: the tile, with its layout.
        parts: how it is taken apart.
        transposed: whether the buffer holds its transpose.
    """

    tile: TileValue
    parts: Decomposition
    transposed: bool


class Staging(NamedTuple):
    """How a tile lies in shared memory.

    Attributes:
        text: of the buffer's `#tile.shared`.
        forms: of each reader, the `ldmatrix` that loads it, or `none`.
        instructions: the same in words.
        found: the swizzle, with the wavefronts of the copy and of each reader under it.
    """

    text: str
    forms: tuple[str, ...]
    instructions: tuple[str, ...]
    found: Swizzling


def staging(
    shape: tuple[int, int],
    bits: int,
    vector: int,
    warps: int,
    readers: Sequence[Reader],
    target: Target | None,
) -> Staging:
    """The swizzle under which neither copies nor loads have conflicts, if there is one.

    Args:
        shape: rows and columns of the buffer.
        bits: bits of its elements.
        vector: elements that a thread copies at once.
        warps: warps of the CTA.
        readers: what is loaded from it.
        target: whose `ldmatrix` may be used.

    Raises:
        TilecError: if a reader's elements are narrower than a byte and lie apart.
    """
    rows, cols = shape
    extents = {"row": rows, "col": cols}
    unswizzled = shared_layout(extents, bits)
    plain = unswizzled.inverse()
    units = tuple(1 << bit for bit in range((rows * cols).bit_length() - 1))
    copied = row_tile(rows, cols, vector, warps).then(plain)
    run = units[: vector.bit_length() - 1]
    patterns = [Pattern.vector(copied, bits, run, store=True)]
    forms, instructions = [], []
    for reader in readers:
        memory = in_memory(
            stored_tile(reader.tile, transposed=reader.transposed), transposed=reader.transposed
        )
        offsets = memory.then(plain)
        nothing = NO_MATRICES, None
        form, pattern = next(_matrices(reader, offsets, bits, units, target), nothing)
        name = form
        if pattern is None:
            pattern = Pattern.vector(offsets, bits, units[:4], store=False)
            name = f"loads of {counted(pattern.width if pattern else 0, 'byte')}"
        forms.append(form)
        instructions.append(name)
        patterns.append(pattern)
    found = _find_swizzle(rows * cols, bits, tuple(p for p in patterns if p is not None))
    places = found.layout.inverse().then(unswizzled)
    text = str(found.swizzle if found.swizzle is not None else places)
    return Staging(text, tuple(forms), tuple(instructions), found)


def _matrices(
    reader: Reader, offsets: LinearLayout, bits: int, units: tuple[int, ...], target: Target | None
) -> Iterator[tuple[str, Pattern]]:
    """The `ldmatrix` forms that load the reader's fragments from rows that lie side by side."""
    moves = matrix_moves(
        reader.tile, reader.parts, target, store=False, transposed=reader.transposed
    )
    for move in moves:
        pattern = Pattern.matrix(move.form, offsets, bits)
        if pattern is not None and pattern.run == units[: len(pattern.run)]:
            yield move.form.ptx, pattern

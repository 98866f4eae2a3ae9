"""Which matrix instructions move the fragments of a tile from or to shared memory.

One answer for all who decide it: the stager, which lays out a buffer for them, the conversions that
go through shared memory, and `tile-to-fragments` where nobody has decided before.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from tilec.dialects.tile.matrices import matrices_of
from tilec.dialects.tile.shared import SharedBuffer
from tilec.dialects.tile.tiles import TileValue, bits_of
from tilec.isa import LANES, MatrixMemory, Target, forms_of
from tilec.layout import LinearLayout

from .decomposition import Decomposition, first_registers


class MatrixMove(NamedTuple):
    """A matrix instruction that moves whole fragments.

    Attributes:
        form: the `ldmatrix` or `stmatrix`.
        fragments: how many at once.
    """

    form: MatrixMemory
    fragments: int

    def finds_rows(self, buffer: SharedBuffer) -> bool:
        """Whether each row that it moves lies in one piece of a buffer."""
        row = self.row(buffer)
        return buffer.together(row) and buffer.cols >= row

    def row(self, buffer: SharedBuffer) -> int:
        """Elements of a row; what it is addressed at must be a multiple of them."""
        return self.form.row_bytes // buffer.element_bytes


def matrix_moves(
    tile: TileValue, parts: Decomposition, target: Target | None, *, store: bool, transposed: bool
) -> list[MatrixMove]:
    """The instructions that move a tile's fragments as they are, those of most fragments first.

    Args:
        tile: the tile.
        parts: how it is taken apart.
        target: what has the instructions; None stands for those that every target has.
        store: to shared memory rather than from it.
        transposed: whether memory holds the transpose.
    """
    one = TileValue(tuple(parts.unit.out_sizes.values()), tile.element, parts.unit, True)
    found = []
    for form in _forms(target, store=store):
        matrices = matrices_of(form, one, transposed=transposed)
        if matrices is None:
            continue
        count, rest = divmod(form.matrices, matrices.in_sizes["register"])
        if not rest and 0 < count <= parts.count:
            found.append(MatrixMove(form, count))
    return sorted(found, key=lambda move: -move.fragments)


def moved_at_once(form: str, tile: TileValue) -> LinearLayout | None:
    """(register, lane) -> place of what one matrix instruction moves: a tile's first registers.

    Args:
        form: the instruction's mnemonic.
        tile: the tile.

    None where there is no such instruction, or a thread holds less than it moves.
    """
    found = next((one for one in forms_of(MatrixMemory) if one.ptx == form), None)
    if found is None:
        return None
    bits = found.matrices * found.rows * found.row_bytes * 8
    return first_registers(tile.layout, bits // (LANES * bits_of(tile.element)))


@cache
def _forms(target: Target | None, *, store: bool) -> tuple[MatrixMemory, ...]:
    """The forms that leave elements as they are."""
    return tuple(
        form
        for form in forms_of(MatrixMemory)
        if form.is_store == store
        and form.source is None
        and (_is_everywhere(form) if target is None else form.min_ptx(target) is not None)
    )


def _is_everywhere(form: MatrixMemory) -> bool:
    """Whether every target has a form, as it has `ldmatrix` of 8x8 matrices."""
    return not form.is_store and form.rows == 8

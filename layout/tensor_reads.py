"""Which loads or stores of tensor memory move a wanted fragment, and how many: by the algebra.

A move fits if threads have the rows and columns that are wanted, and its registers are some of
those that are wanted. The others say how often it is repeated, and how far apart.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tilec.isa import form
from tilec.isa.tensor_moves import SHAPES, TensorMove, move_name

from .linear import LayoutError, LinearLayout
from .tensor_memory import TensorLayout
from .tensor_moves import moved_into


@dataclass(frozen=True, slots=True)
class Moves:
    """A load or store, and the fragments that several of them move.

    Attributes:
        move: the instruction.
        steps: of each bit of the instruction's number, rows and columns on to its fragment.
    """

    move: TensorMove
    steps: tuple[tuple[int, int], ...]

    @property
    def count(self) -> int:
        """How many."""
        return 1 << len(self.steps)

    @property
    def places(self) -> tuple[tuple[int, int], ...]:
        """Row and column, from the wanted fragment's on, of each."""
        found = [(0, 0)]
        for row, col in self.steps:
            found += [(r + row, c + col) for r, c in found]
        return tuple(found)


def moves_for(
    matrix: TensorLayout, packed: int, wanted: LinearLayout, *, store: bool, halves: bool = False
) -> tuple[Moves, ...]:
    """Every way to move a warp's fragment, that of the fewest instructions first.

    Args:
        matrix: where its elements lie.
        packed: elements of a row in a column of 32 bits.
        wanted: (register, lane) -> (row, col), of rows in the lanes that the warp reaches.
        store: whether to tensor memory.
        halves: whether elements of 16 bits have a column each, as those of D.
    """
    registers, lanes = ([_pair(one) for one in wanted.bases[name]] for name in ("register", "lane"))
    found = []
    for move, held in _moves(matrix, packed, store=store, halves=halves):
        own = [_pair(one) for one in held.bases["register"]]
        if [_pair(one) for one in held.bases["lane"]] == lanes and {*own} <= {*registers}:
            found.append(Moves(move, tuple(one for one in registers if one not in own)))
    return tuple(sorted(found, key=lambda one: one.count))


def _pair(place: tuple[int, ...]) -> tuple[int, int]:
    row, col = place
    return row, col


def _moves(
    matrix: TensorLayout, packed: int, *, store: bool, halves: bool
) -> Iterator[tuple[TensorMove, LinearLayout]]:
    """Each load or store, and what it moves."""
    for shape in SHAPES:
        for count in shape.repetitions:
            found = form(move_name(shape, count, store=store, packed=halves))
            assert isinstance(found, TensorMove)
            try:
                yield found, moved_into(found, matrix, packed)
            except LayoutError:
                break  # wider ones reach beyond the matrix, too

"""Contractions of upstream's dialects as batches of products of matrices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tilec.ir.aliases import Op
from tilec.ir.attributes import attribute
from tilec.ir.mlir import ir
from tilec.isa import TilecError
from tilec.isa.wording import counted

_MATRICES = "the last two dimensions of operands and result, in either order, are a matrix"


@dataclass(frozen=True, slots=True)
class Contraction:
    """A contraction of two inputs as a batch of products of matrices.

    Attributes:
        left: which of the inputs is A, the one with the rows of the result: 0 or 1.
        depth: the loop that is summed over.
        maps: of A, of B and of the result, the loop that each dimension belongs to.
    """

    left: int
    depth: int
    maps: tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]

    @property
    def transposed(self) -> tuple[bool, bool]:
        """Whether A, KxM, and whether B, NxK, is stored as its transpose."""
        return self.maps[0][-2] == self.depth, self.maps[1][-1] == self.depth


def indexing_maps(op: Op) -> list[ir.AffineMap]:
    """The indexing maps of an op: from its loops to the dimensions of its operands."""
    maps = []
    for each in attribute(op, "indexing_maps", ir.ArrayAttr):
        assert isinstance(each, ir.AffineMapAttr)
        maps.append(each.value)
    return maps


def contraction(maps: Sequence[ir.AffineMap]) -> Contraction:
    """The products of matrices that indexing maps describe.

    Args:
        maps: from loops to dimensions: those of the inputs, then the result's.

    Raises:
        TilecError: unless one loop is summed over and the last two dimensions are matrices MxK,
            KxN and MxN, each perhaps stored as its transpose.
    """
    *inputs, result = map(_loops, maps)
    if len(inputs) != 2:
        raise TilecError(f"has {counted(len(inputs), 'input')}; a product of matrices has two")
    summed = set().union(*inputs) - set(result)
    if len(summed) != 1:
        raise TilecError(
            f"sums over {len(summed)} of its loops; a product of matrices sums over one"
        )
    (depth,) = summed
    ranks = [len(each) for each in (*inputs, result)]
    if min(ranks) < 2:
        raise TilecError(f"takes or gives something of rank {min(ranks)}; {_MATRICES}")
    rows, cols = result[-2:]
    left = 0 if rows in inputs[0] and cols in inputs[1] else 1
    a, b = inputs[left], inputs[1 - left]
    distinct = len(set(result)) == len(result)
    if not distinct or {*a[-2:]} != {rows, depth} or {*b[-2:]} != {depth, cols}:
        raise TilecError(f"is not a product of matrices MxK and KxN; {_MATRICES}")
    if not {*a[:-2], *b[:-2]} <= {*result[:-2]}:
        raise TilecError("has a dimension before a matrix that the result does not have")
    return Contraction(left, depth, (a, b, result))


def _loops(map_: ir.AffineMap) -> tuple[int, ...]:
    """The loop that each dimension belongs to."""
    loops = [result for result in map_.results if isinstance(result, ir.AffineDimExpr)]
    if len(loops) != len(map_.results):
        raise TilecError(f"is indexed by {map_}; each dimension must be one of the loops")
    return tuple(loop.position for loop in loops)

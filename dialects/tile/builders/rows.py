"""Builders of copies of four rows of a matrix, each at a number of its own."""

from __future__ import annotations

from collections.abc import Sequence

from tilec.ir.aliases import Value
from tilec.ir.mlir import ir

from ..ops.tma_rows import TmaGatherOp, TmaGatherPrefetchOp, TmaScatterOp
from .caller import located
from .emit import Index, emit, indices_of


@located
def tma_gather(
    source: Value, target: Value, barriers: Value, *indices: Index, shape: Sequence[int]
) -> None:
    """`tile.tma_gather`: four rows of a matrix to shared memory.

    Args:
        source: the matrix, an argument of the kernel.
        target: the buffer.
        barriers: mbarriers, of which one counts the bytes.
        indices: the numbers of the four rows, the column where each begins, where they go in the
            buffer, which mbarrier, and the mask of the CTAs of the cluster that they arrive in, if
            these are not the own one alone.
        shape: 4, and the columns.
    """
    emit(TmaGatherOp, [source, target, barriers, *indices_of(indices)], attributes=_rows(shape))


@located
def tma_scatter(source: Value, target: Value, *indices: Index, shape: Sequence[int]) -> None:
    """`tile.tma_scatter`: four rows from shared memory; the rows' numbers, column, then buffer."""
    emit(TmaScatterOp, [source, target, *indices_of(indices)], attributes=_rows(shape))


@located
def tma_gather_prefetch(source: Value, *indices: Index, shape: Sequence[int]) -> None:
    """`tile.tma_gather_prefetch`: four rows to L2; the rows' numbers, and the column."""
    emit(TmaGatherPrefetchOp, [source, *indices_of(indices)], attributes=_rows(shape))


def _rows(shape: Sequence[int]) -> dict[str, ir.Attribute]:
    return {"shape": ir.DenseI64ArrayAttr.get(list(shape))}

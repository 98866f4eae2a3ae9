"""`tile.tma_gather`, `tile.tma_scatter`: four rows of an array, each at a number, by one copy.

PTX ISA 9.7.9.27.1.2, "tiled::gather4 and tiled::scatter4 modes".
"""

from collections.abc import Sequence
from typing import Any

from tilec.dialects.semantics import Access, Resource, Scope, Semantics, Touch
from tilec.dialects.semantics.effects import reads
from tilec.ir.mlir import ext

from .tensor_memory import GROUP
from .tma import BoxOp, IncomingOp, OutgoingOp


class TmaGatherOp(IncomingOp, name="tma_gather"):
    """Copy four rows of a matrix to shared memory, by one thread (`…tile::gather4`).

    Operands: array, buffer, mbarriers, the numbers of four rows, the column where each begins, the
    indices of the buffer and of the mbarrier. Rows may come in any order, and more than once. The
    mbarrier counts the bytes of all four; rows and columns outside the array are zeros. The array
    is an argument of the kernel: the launch makes the tensor map of it.

    With `multicast` it arrives, and with `cta_group = 2` it tells an mbarrier, as `tile.tma_load`
    does.
    """

    assembly_format = (
        "$source `[` $row0 `,` $row1 `,` $row2 `,` $row3 `,` $column `]` "
        "`to` $target `[` ranked($indices, $target) `]` "
        "`signal` $barriers `[` ranked($indices, $barriers) `]` "
        "(`multicast` $indices^)? `shape` list($shape) attr-dict "
        "`:` type($source) `to` type($target) `signal` type($barriers)"
    )
    inferred_types = dict.fromkeys(("row0", "row1", "row2", "row3", "column", "indices"), "index")

    OPTIONAL = frozenset({GROUP})
    BY_ROWS = True

    source: ext.Operand[Any]
    target: ext.Operand[Any]
    barriers: ext.Operand[Any]
    row0: ext.Operand[Any]
    row1: ext.Operand[Any]
    row2: ext.Operand[Any]
    row3: ext.Operand[Any]
    column: ext.Operand[Any]
    indices: Sequence[ext.Operand[Any]]
    shape: Any

    @property
    def mnemonic(self) -> str:
        """A gather to the own CTA, or to several of the cluster, which fewer targets have."""
        space = "cta" if self.mask is None and not self.pair else "cluster"
        return f"cp.async.bulk.tensor.2d.shared::{space}.global.tile::gather4.{self._signals}"


class TmaScatterOp(OutgoingOp, name="tma_scatter"):
    """Copy four rows from shared memory to rows of a matrix, by one thread (`…tile::scatter4`).

    Operands: buffer, array, the numbers of four rows, the column where each begins, the indices of
    the buffer. What lies outside the array is not stored; of rows with one number any may remain.
    It is of the thread's bulk group, as `tile.tma_store`.
    """

    assembly_format = (
        "$target `[` $row0 `,` $row1 `,` $row2 `,` $row3 `,` $column `]` "
        "`from` $source `[` ranked($indices, $source) `]` "
        "`shape` list($shape) attr-dict `:` type($target) `from` type($source)"
    )
    inferred_types = dict.fromkeys(("row0", "row1", "row2", "row3", "column", "indices"), "index")

    OPTIONAL = frozenset()
    BY_ROWS = True

    source: ext.Operand[Any]
    target: ext.Operand[Any]
    row0: ext.Operand[Any]
    row1: ext.Operand[Any]
    row2: ext.Operand[Any]
    row3: ext.Operand[Any]
    column: ext.Operand[Any]
    indices: Sequence[ext.Operand[Any]]
    shape: Any

    @property
    def mnemonic(self) -> str:
        """A scatter."""
        return "cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group"


class TmaGatherPrefetchOp(BoxOp, name="tma_gather_prefetch"):
    """Prefetch four rows of a matrix to L2; operands: array, the rows' numbers, the column."""

    assembly_format = (
        "$source `[` $row0 `,` $row1 `,` $row2 `,` $row3 `,` $column `]` "
        "`shape` list($shape) attr-dict `:` type($source)"
    )
    inferred_types = dict.fromkeys(("row0", "row1", "row2", "row3", "column"), "index")

    SEMANTICS = Semantics(
        scope=Scope.ONE_THREAD, effects=(reads(0), Touch(Access.WRITE, Resource.COPIES))
    )
    OPTIONAL = frozenset()
    BY_ROWS = True
    BUFFER = -1
    FIXED = 1

    source: ext.Operand[Any]
    row0: ext.Operand[Any]
    row1: ext.Operand[Any]
    row2: ext.Operand[Any]
    row3: ext.Operand[Any]
    column: ext.Operand[Any]
    shape: Any

    @property
    def mnemonic(self) -> str:
        """A prefetch."""
        return "cp.async.bulk.prefetch.tensor.2d.L2.global.tile::gather4"

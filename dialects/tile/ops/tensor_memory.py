"""Tensor memory: `tile.alloc_tensor`, and the columns behind it. PTX ISA 9.7.16.1, 9.7.16.7."""

from typing import Any

from tilec.dialects.semantics import Access, Resource, Scope, Semantics, Touch, Variation
from tilec.dialects.semantics.declaration import PURE
from tilec.ir.aliases import Value
from tilec.ir.mlir import ext, ir
from tilec.isa import TilecError

from ..dialect import SharedAttr
from ..tensor import tensor_buffer
from .base import TileOp, integer, memory

GROUP = "cta_group"
"""The attribute that says how many CTAs take part, 1 where it is not there."""
_GROUPS = (1, 2)


def cta_group(op: TileOp) -> int:
    """How many CTAs take part in an op.

    Raises:
        TilecError: for a number that is not legal.
    """
    group = integer(op, GROUP) if GROUP in op.attributes else 1
    if group not in _GROUPS:
        raise TilecError(f"{GROUP} is 1 or 2, not {group}")
    return group


class GroupedOp(TileOp):
    """What one CTA does with tensor memory, or a pair of them."""

    OPTIONAL = frozenset({GROUP})

    @property
    def group(self) -> int:
        """How many CTAs take part.

        Raises:
            TilecError: for a number that is not legal.
        """
        return cta_group(self)

    def check(self) -> None:
        """Verify the group."""
        _ = self.group


def check_slot(value: Value) -> None:
    """Check that a value is the word of shared memory that holds an address of tensor memory.

    Raises:
        TilecError: saying what would be.
    """
    type_ = memory(value, "slot")
    space = type_.memory_space
    plain = isinstance(space, SharedAttr) and space.swizzle.value == "none"
    if not plain or list(type_.shape) != [1, 1] or str(type_.element_type) != "i32":
        raise TilecError(f'a slot is memref<1x1xi32, #tile.shared<"none">>, not {type_}')


class AllocTensorOp(GroupedOp, name="alloc_tensor"):
    """Set a buffer in tensor memory aside, uninitialised, until the kernel ends.

    At the top of a kernel. `tile-allocate-tensor-memory` finds columns for all of a kernel's.
    """

    assembly_format = "attr-dict `:` type($buffer)"

    SEMANTICS = Semantics(
        scope=Scope.CTA, effects=(Touch(Access.ALLOCATE, Resource.TENSOR),), varies=Variation.CTA
    )

    buffer: ext.Result[Any]

    @property
    def mnemonic(self) -> str:
        """The instruction without which there is none."""
        return _alloc(self.group)

    def check(self) -> None:
        """Verify the type."""
        buffer = tensor_buffer(self.results[0], "buffer")
        if buffer.group > self.group:
            raise TilecError(
                f"a buffer of a pair of CTAs needs {GROUP} = 2: {self.results[0].type}"
            )


def _alloc(group: int, words: str = "") -> str:
    return f"tcgen05.alloc{words}.cta_group::{group}.sync.aligned.shared::cta.b32"


class ColumnsOp(GroupedOp):
    """What gives columns of tensor memory out or back, by one warp, of each CTA of a pair."""

    UNITS = frozenset({"exclusive"})

    @property
    def words(self) -> str:
        """What the mnemonic says of columns that no other CTA gets."""
        return ".exclusive" * ("exclusive" in self.attributes)

    def check(self) -> None:
        """Verify the slot and the number of columns."""
        from tilec.isa.tensor_memory import ALLOCATIONS  # noqa: PLC0415 (for Blackwell only)

        super().check()
        check_slot(self.operands[0])
        columns = integer(self, "columns")
        if columns not in ALLOCATIONS:
            legal = ", ".join(map(str, ALLOCATIONS))
            raise TilecError(f"columns of an allocation are {legal}, not {columns}")


class Tcgen05AllocOp(ColumnsOp, name="tcgen05_alloc"):
    """Allocate columns of tensor memory, whose address goes to a word of shared memory.

    One warp does it, and waits until the SM has so many. Others see the word behind a barrier. With
    `exclusive`, from PTX 9.4 on, they are columns that no other CTA gets.
    """

    assembly_format = "$slot `columns` $columns attr-dict `:` type($slot)"

    SEMANTICS = Semantics(
        scope=Scope.WARP,
        effects=(Touch(Access.WRITE, None, 0), Touch(Access.WRITE, Resource.TENSOR)),
    )

    slot: ext.Operand[Any]
    columns: ir.IntegerAttr

    @property
    def mnemonic(self) -> str:
        """`tcgen05.alloc`."""
        return _alloc(self.group, self.words)


class Tcgen05DeallocOp(ColumnsOp, name="tcgen05_dealloc"):
    """Give columns of tensor memory back, all of an allocation, by one warp.

    Nothing may be under way there, in either CTA of a pair: it stands behind a barrier. It is
    `exclusive` where the allocation is.
    """

    assembly_format = "$slot `columns` $columns attr-dict `:` type($slot)"

    SEMANTICS = Semantics(
        scope=Scope.WARP,
        effects=(Touch(Access.READ, None, 0), Touch(Access.WRITE, Resource.TENSOR)),
    )

    slot: ext.Operand[Any]
    columns: ir.IntegerAttr

    @property
    def mnemonic(self) -> str:
        """`tcgen05.dealloc`."""
        return f"tcgen05.dealloc{self.words}.cta_group::{self.group}.sync.aligned.b32"


class Tcgen05RelinquishOp(GroupedOp, name="tcgen05_relinquish"):
    """Let other CTAs of the SM allocate: this one does not any more. By one warp."""

    assembly_format = "attr-dict"

    SEMANTICS = Semantics(scope=Scope.WARP, effects=(Touch(Access.WRITE, Resource.TENSOR),))

    @property
    def mnemonic(self) -> str:
        """`tcgen05.relinquish_alloc_permit`."""
        return f"tcgen05.relinquish_alloc_permit.cta_group::{self.group}.sync.aligned"


class TensorBufferOp(TileOp, name="tensor_buffer"):
    """A buffer in the columns of an allocation, from `column` on.

    The slot must hold the address: a barrier stands between the allocation and this.
    """

    assembly_format = "$slot `column` $column attr-dict `:` type($slot) `->` type($buffer)"

    SEMANTICS = PURE.but(effects=(Touch(Access.READ, None, 0),), varies=Variation.CTA)

    slot: ext.Operand[Any]
    column: ir.IntegerAttr
    buffer: ext.Result[Any]

    def check(self) -> None:
        """Verify the slot, the buffer, and that it ends within tensor memory."""
        from tilec.isa.tensor_memory import COLUMNS  # noqa: PLC0415 (for Blackwell only)

        check_slot(self.operands[0])
        buffer = tensor_buffer(self.results[0], "buffer")
        first = integer(self, "column")
        if not 0 <= first <= COLUMNS - buffer.columns:
            raise TilecError(
                f"takes columns {first} to {first + buffer.columns - 1}; there are {COLUMNS}"
            )

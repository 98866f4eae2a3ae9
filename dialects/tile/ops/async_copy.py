"""`tile.async_copy` and its groups: from global to shared memory behind the warps' backs."""

from collections.abc import Sequence
from typing import Any

from tilec.dialects.semantics import Access, Resource, Scope, Semantics, Touch
from tilec.ir.aliases import Op
from tilec.ir.mlir import ext, ir
from tilec.isa import TilecError

from ..dialect import SharedAttr
from ..shared import shared_buffer
from ..tiles import bits_of
from .base import Region, TileOp, check_indices, memory
from .memory import vector_of


def _scope(op: Op) -> Scope:
    return Scope.WARP if "warps" in op.attributes else Scope.CTA


class AsyncCopyOp(TileOp, name="async_copy"):
    """Copy a tile of `shape` from global to shared memory, by all threads of the CTA.

    Operands: source, target, the source's indices, the target's indices. `vector` elements (as in
    `tile.load`) are copied at once: 4, 8 or 16 bytes by `cp.async`, fewer by plain loads and
    stores, as on targets without `cp.async`. With `masked`, elements outside the source's extents
    are copied as zeros. `cp.async` is exact to the element; plain loads assume that a vector is
    inside or outside as a whole, as `vector` guarantees. With `warps`, the number of a warp and how
    many there are from it on, these alone come to it and share the copy; each of their threads
    fences what it has copied for the asynchronous proxy, where that reads it.
    """

    assembly_format = (
        "$source `[` ranked($indices, $source) `]` `to` $target `[` ranked($indices, $target) `]` "
        "`shape` list($shape) (`masked` $masked^)? attr-dict `:` type($source) `to` type($target)"
    )
    inferred_types = {"indices": "index"}

    UNITS = frozenset({"masked"})
    OPTIONAL = frozenset({"vector", "warps"})
    SEMANTICS = Semantics(
        scope=_scope,
        effects=(
            Touch(Access.READ, None, 0, asynchronous=True),
            Touch(Access.WRITE, None, 1, asynchronous=True),
            Touch(Access.WRITE, Resource.COPIES),
        ),
        uniform=lambda op: op.indices,
    )

    source: ext.Operand[Any]
    target: ext.Operand[Any]
    indices: Sequence[ext.Operand[Any]]
    shape: Any

    def check(self) -> None:
        """Verify memrefs, indices, shape and vector."""
        source, target = memory(self.operands[0], "source"), memory(self.operands[1], "target")
        check_indices(list(self.operands)[2:], source.rank + target.rank, "source and target")
        if not isinstance(target.memory_space, SharedAttr):
            raise TilecError(f'target must be in the space #tile.shared<"…">, not {target}')
        if isinstance(source.memory_space, SharedAttr):
            raise TilecError("source must be in global memory")
        if source.element_type != target.element_type:
            raise TilecError(
                f"element types differ: {source.element_type} and {target.element_type}"
            )
        if not isinstance(self.shape, ir.DenseI64ArrayAttr):
            raise TilecError(f"shape must be array<i64: ROWS, COLUMNS>, not {self.shape}")
        extents = list(self.shape)
        buffer = shared_buffer(target)
        if len(extents) != 2:
            raise TilecError(f"shape has two extents, rows and columns, not {len(extents)}")
        cols = extents[1]
        if min(extents) < 1 or (cols & (cols - 1) and cols % buffer.cols):
            raise TilecError(
                f"copies rows of a power of two elements, or whole rows of {buffer.cols} of the "
                f"buffer, not {extents}"
            )
        if source.rank < 2:
            raise TilecError(f"source must have rank 2 or more, not {source.rank}")
        behind = target.shape[-3] if target.rank > 2 else 1
        if extents[0] > buffer.rows or extents[1] > buffer.cols * behind:
            raise TilecError(f"shape {extents[0]}x{extents[1]} is larger than the buffer {target}")
        vector = vector_of(self)
        if vector * bits_of(source.element_type) > 128 or vector > min(extents[1], buffer.cols):
            raise TilecError(
                f"vector {vector} of {source.element_type} is more than 16 bytes or than a row"
            )
        self._check_warps()

    def _check_warps(self) -> None:
        """Verify which warps copy: as many as a power of two, from a multiple of that on."""
        if "warps" not in self.attributes:
            return
        warps = self.attributes["warps"]
        first, count = (
            warps if isinstance(warps, ir.DenseI64ArrayAttr) and len(warps) == 2 else (0, 0)
        )
        if count < 1 or count & (count - 1) or first < 0 or first % count:
            raise TilecError(
                "warps must be array<i64: FIRST, COUNT>, COUNT a power of two and FIRST a multiple "
                f"of it, not {warps}"
            )

    @property
    def warps(self) -> tuple[int, int] | None:
        """The number of the first warp that copies, and how many do; None of the whole CTA."""
        if "warps" not in self.attributes:
            return None
        first, count = ir.DenseI64ArrayAttr(self.attributes["warps"])
        return first, count

    @property
    def source_indices(self) -> list[ir.Value]:
        """The place of the tile's first element in global memory."""
        source, _, *indices = self.operands
        return indices[: ir.MemRefType(source.type).rank]

    @property
    def target_indices(self) -> list[ir.Value]:
        """The place of the tile's first element in shared memory."""
        source, _, *indices = self.operands
        return indices[ir.MemRefType(source.type).rank :]

    @property
    def panels(self) -> int:
        """Matrices of the buffer that the tile goes on in."""
        target = ir.MemRefType(self.operands[1].type)
        _, cols = ir.DenseI64ArrayAttr(self.shape)
        return max(1, cols // target.shape[-1])

    def overwritten(self) -> Region:
        """The whole copy; what is outside the source's extents arrives as zero."""
        return Region(self.target_indices, tuple(ir.DenseI64ArrayAttr(self.shape)))


class AsyncCommitOp(TileOp, name="async_commit"):
    """Close the group of this thread's copies so far (`cp.async.commit_group`)."""

    assembly_format = "attr-dict"

    SEMANTICS = Semantics(scope=Scope.LANE, effects=(Touch(Access.WRITE, Resource.COPIES),))


class AsyncWaitOp(TileOp, name="async_wait"):
    """Wait until at most `pending` of this thread's latest groups are in flight."""

    assembly_format = "$pending attr-dict"

    SEMANTICS = Semantics(
        scope=Scope.LANE,
        effects=(
            Touch(Access.ORDER, Resource.COPIES),
            Touch(Access.WRITE, Resource.SHARED, asynchronous=True),
        ),
    )

    pending: ir.IntegerAttr

    def check(self) -> None:
        """Verify the count."""
        if int(self.pending.value) < 0:
            raise TilecError(f"pending must be 0 or more, not {int(self.pending.value)}")

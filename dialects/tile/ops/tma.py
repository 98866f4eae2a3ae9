"""`tile.tma_*`: boxes of arrays copied by the tensor memory accelerator, one instruction each."""

from collections.abc import Sequence
from math import gcd
from typing import Any

from tilec.dialects.semantics import Access, Resource, Scope, Semantics, Touch
from tilec.dialects.semantics.effects import reads
from tilec.ir.aliases import Value
from tilec.ir.mlir import ext, ir
from tilec.isa import TilecError
from tilec.isa.limits import (
    BOX_ALIGNMENT,
    BOX_EXTENTS,
    MAP_ALIGNMENT,
    MAP_RANKS,
    ROWS_OF_COPY,
    TENSOR_REDUCTIONS,
)
from tilec.isa.wording import counted
from tilec.layout.swizzle import SWIZZLES

from ..dialect import SharedAttr
from ..shared import shared_buffer
from ..tiles import bits_of
from .barrier import check_barrier
from .base import Region, TileOp, check_indices, memory
from .box_modes import LOWER, STEPS, UPPER, check_modes, element_strides, spanned
from .tensor_memory import GROUP, cta_group

_MATRIX = 2
_RANKS = MAP_RANKS[1:]
SIGNALS = "mbarrier::complete_tx::bytes"


class BoxOp(TileOp):
    """What copies of boxes have in common; `shape` is the box's last two extents.

    A box lies in one matrix of the buffer, whose rows are the box's: the swizzle's lines. Further
    dimensions of the array have an extent of 1 in the box. `element_strides`, one per dimension of
    the array, says that only every so-manieth element is copied; `shape` is of those.
    """

    OPTIONAL = frozenset({STEPS})

    BY_ROWS = False
    """Whether it copies four rows of a matrix, each at a number of its own."""
    ARRAY = 0
    BUFFER = 1  # -1 of an op without
    FIXED = 2
    """Operands before the indices: those of the array, of the buffer, and of what follows."""

    @property
    def array(self) -> Value:
        """The array in global memory."""
        return self.operands[self.ARRAY]

    @property
    def buffer(self) -> Value | None:
        """The buffer in shared memory, if the op has one."""
        return None if self.BUFFER < 0 else self.operands[self.BUFFER]

    @property
    def array_indices(self) -> list[Value]:
        """Where the box begins in the array."""
        return list(self.operands)[self.FIXED : self.FIXED + self.index_count]

    @property
    def index_count(self) -> int:
        """Indices of the array: one per dimension; the numbers of four rows, then the column."""
        return ROWS_OF_COPY + 1 if self.BY_ROWS else self.rank

    @property
    def coordinates(self) -> list[Value]:
        """The indices of the array as the instruction takes them: the last dimension first."""
        *rows, column = self.array_indices
        return [column, *rows] if self.BY_ROWS else [column, *rows[::-1]]

    @property
    def buffer_indices(self) -> list[Value]:
        """Where it begins in the buffer."""
        buffer = self.buffer
        if buffer is None:
            return []
        first = self.FIXED + self.index_count
        return list(self.operands)[first : first + ir.MemRefType(buffer.type).rank]

    @property
    def row_multiple(self) -> int:
        """What the row where it begins in the buffer is a multiple of."""
        line = self.extents[1] * bits_of(ir.MemRefType(self.array.type).element_type) // 8
        of_pattern = 1 if self.swizzle == "none" else ROWS_OF_COPY if self.BY_ROWS else 8
        return max(BOX_ALIGNMENT // gcd(BOX_ALIGNMENT, line), of_pattern)

    @property
    def extents(self) -> tuple[int, int]:
        """Rows and columns of what is copied; pixels and channels where it walks pixels."""
        rows, cols = ir.DenseI64ArrayAttr(self.attributes["shape"])
        return rows, cols

    @property
    def box(self) -> tuple[int, ...]:
        """What the box spans of the array, elements that are stepped over included; of rows one."""
        if self.BY_ROWS:
            return 1, self.extents[1]
        return spanned(self._counts, element_strides(self, self.rank))

    @property
    def _counts(self) -> tuple[int, ...]:
        """Elements that are copied along each dimension of the array."""
        return (*(1,) * (self.rank - 2), *self.extents)

    @property
    def swizzle(self) -> str:
        """The swizzle of the buffer; of no buffer, none."""
        buffer = self.buffer
        if buffer is None:
            return "none"
        space = ir.MemRefType(buffer.type).memory_space
        assert isinstance(space, SharedAttr)
        return space.swizzle.value

    @property
    def rank(self) -> int:
        """Dimensions of the array."""
        return ir.MemRefType(self.array.type).rank

    @property
    def mode(self) -> str:
        """How it walks the array, as mnemonics have it."""
        return "im2col" if LOWER in self.attributes else "tile"

    @property
    def offset_count(self) -> int:
        """Offsets of im2col."""
        return self.rank - 2 if LOWER in self.attributes else 0

    def extra(self) -> int:
        """Operands after the indices of array and buffer."""
        return 0

    def check(self) -> None:
        """Verify array, buffer, indices and box."""
        array = memory(self.array, "array")
        if array.memory_space is not None and not isinstance(array.memory_space, ir.IntegerAttr):
            raise TilecError(f"array must be in global memory, not {array}")
        if self.BY_ROWS and array.rank != _MATRIX:
            raise TilecError(f"array must have rank {_MATRIX}, rows by columns, not {array.rank}")
        if array.rank not in _RANKS:
            raise TilecError(f"array must have rank {_RANKS[0]} to {_RANKS[-1]}, not {array.rank}")
        buffer = self.buffer
        rank = self.index_count + (memory(buffer, "buffer").rank if buffer is not None else 0)
        indices = list(self.operands)[self.FIXED :]
        check_indices(indices, rank + self.extra(), "the copy")
        _check_shape(self)
        check_modes(self, self._counts)
        if buffer is not None:
            _check_buffer(self, array, memory(buffer, "buffer"))


def _check_shape(op: BoxOp) -> None:
    given = op.attributes["shape"]
    if not isinstance(given, ir.DenseI64ArrayAttr) or len(given) != 2:
        raise TilecError(f"shape must be array<i64: ROWS, COLUMNS>, not {given}")
    walks = LOWER in op.attributes
    if op.BY_ROWS and given[0] != ROWS_OF_COPY:
        raise TilecError(
            f"shape must be array<i64: {ROWS_OF_COPY}, COLUMNS>, with a number for each row, not "
            f"{given}"
        )
    for name, extent in zip(("rows", "columns"), given, strict=True):
        if extent not in BOX_EXTENTS and not (walks and name == "rows"):
            raise TilecError(f"a box has 1 to {BOX_EXTENTS[-1]} {name}, not {extent}")
    line = given[1] * bits_of(ir.MemRefType(op.array.type).element_type) // 8
    if line % MAP_ALIGNMENT:
        raise TilecError(
            f"rows of a box are multiples of {counted(MAP_ALIGNMENT, 'byte')}; these are of {line}"
        )


def _check_buffer(op: BoxOp, array: ir.MemRefType, type_: ir.MemRefType) -> None:
    if not isinstance(type_.memory_space, SharedAttr):
        raise TilecError(f'buffer must be in the space #tile.shared<"…">, not {type_}')
    if array.element_type != type_.element_type:
        raise TilecError(f"element types differ: {array.element_type} and {type_.element_type}")
    matrix = shared_buffer(type_)
    if op.swizzle not in SWIZZLES:
        raise TilecError(
            f'the buffer has swizzle "{op.swizzle}"; tensor maps have {", ".join(SWIZZLES)}'
        )
    rows, cols = op.extents
    if cols != matrix.cols or rows > matrix.rows:
        raise TilecError(
            f"a box of {rows}x{cols} does not fill rows of the buffer's {matrix.rows}x"
            f"{matrix.cols}; it has {counted(matrix.cols, 'column')}, and at most {matrix.rows} "
            "rows"
        )
    line, wanted = cols * matrix.element_bytes, SWIZZLES[op.swizzle].line
    if op.swizzle != "none" and line != wanted:
        raise TilecError(
            f"rows of {line} bytes are not a line of swizzle {op.swizzle}, which is {wanted} bytes"
        )


class IncomingOp(BoxOp):
    """What copies boxes of an array to shared memory, where an mbarrier counts the bytes."""

    SEMANTICS = Semantics(
        scope=Scope.ONE_THREAD,
        effects=(
            Touch(Access.READ, None, 0, asynchronous=True),
            Touch(Access.WRITE, None, 1, asynchronous=True),
            Touch(Access.WRITE, Resource.BARRIERS, asynchronous=True),
        ),
    )
    FIXED = 3

    @property
    def pair(self) -> bool:
        """Whether the mbarrier is that of the even CTA of the pair.

        Raises:
            TilecError: for a number of CTAs that is not legal.
        """
        return GROUP in self.attributes and cta_group(self) > 1

    @property
    def _signals(self) -> str:
        """How the mnemonic ends: what counts the bytes, and whose."""
        cast = "" if self.mask is None else ".multicast::cluster"
        return f"{SIGNALS}{cast}{'.cta_group::2' * self.pair}"

    @property
    def _behind(self) -> list[Value]:
        """The index of the mbarrier, the offsets, the mask."""
        buffer = ir.MemRefType(self.operands[self.BUFFER].type)
        return list(self.operands)[self.FIXED + self.index_count + buffer.rank :]

    @property
    def barrier_index(self) -> Value:
        """Which mbarrier counts the bytes."""
        return self._behind[0]

    @property
    def offsets(self) -> list[Value]:
        """What is added to the places of pixels, one a dimension that these have."""
        return self._behind[1 : 1 + self.offset_count]

    def reached(self) -> Region:
        """The whole box."""
        return Region(self.buffer_indices, self.extents)

    @property
    def mask(self) -> Value | None:
        """The ranks of the CTAs that it arrives in, as bits; None for the own CTA alone."""
        rest = self._behind[1 + self.offset_count :]
        return rest[0] if len(rest) == 1 else None

    def extra(self) -> int:
        """The index of the mbarrier, the offsets, the mask."""
        return 1 + self.offset_count + (self.mask is not None)

    def check(self) -> None:
        """Verify the box, the mbarrier and the CTAs."""
        super().check()
        _ = self.pair
        check_barrier(self.operands[2], [self.barrier_index])


class TmaLoadOp(IncomingOp, name="tma_load"):
    """Copy a box of an array to shared memory, by one thread (`cp.async.bulk.tensor`).

    Operands: array, buffer, mbarriers, the indices of array, buffer and mbarrier. The mbarrier
    counts the bytes of the whole box when they are there; elements outside the array are zeros. The
    array is an argument of the kernel: the launch makes the tensor map of it.

    With `im2col`, of arrays of images by pixels by channels, it copies pixels by channels: from the
    pixel of the indices on, row after row, those within the corners `lower` and `upper`, which are
    relative to an image's first and last pixel; the offsets are added to each pixel's place.

    With `multicast`, it arrives in each CTA of the cluster whose rank is a bit of the mask, at the
    same place, and each one's mbarrier counts the bytes.

    With `cta_group = 2`, in a cluster of pairs of CTAs, the mbarrier of the even CTA of the pair
    counts the bytes, at the same place, whichever of the two they arrive in: the thread of that CTA
    that multiplies for both waits for nothing else.
    """

    assembly_format = (
        "$source `[` ranked($indices, $source) `]` `to` $target `[` ranked($indices, $target) `]` "
        "`signal` $barriers `[` ranked($indices, $barriers) `]` "
        "(`im2col` list($lower)^ `to` list($upper) "
        "`offsets` `[` inner-ranked($indices, $source) `]`)? "
        "(`multicast` $indices^)? `shape` list($shape) attr-dict "
        "`:` type($source) `to` type($target) `signal` type($barriers)"
    )
    inferred_types = {"indices": "index"}

    OPTIONAL = frozenset({STEPS, LOWER, UPPER, GROUP})

    source: ext.Operand[Any]
    target: ext.Operand[Any]
    barriers: ext.Operand[Any]
    indices: Sequence[ext.Operand[Any]]
    shape: Any

    @property
    def mnemonic(self) -> str:
        """A load of its rank, of which an mbarrier counts the bytes."""
        to = f"cp.async.bulk.tensor.{self.rank}d.shared::cluster.global.{self.mode}"
        return f"{to}.{self._signals}"


class OutgoingOp(BoxOp):
    """What copies a box from shared memory to an array."""

    SEMANTICS = Semantics(
        scope=Scope.ONE_THREAD,
        effects=(
            Touch(Access.READ, None, 0, asynchronous=True),
            Touch(Access.WRITE, None, 1, asynchronous=True),
            Touch(Access.WRITE, Resource.COPIES),
        ),
    )
    ARRAY = 1
    BUFFER = 0


class TmaStoreOp(OutgoingOp, name="tma_store"):
    """Copy a box from shared memory to an array, by one thread.

    Operands: buffer, array, the indices of array and buffer. What lies outside the array is not
    stored. It is of the thread's bulk group: `nvvm.cp.async.bulk.commit.group` closes that,
    `nvvm.cp.async.bulk.wait_group` waits.
    """

    assembly_format = (
        "$target `[` ranked($indices, $target) `]` "
        "`from` $source `[` ranked($indices, $source) `]` "
        "`shape` list($shape) attr-dict `:` type($target) `from` type($source)"
    )
    inferred_types = {"indices": "index"}

    source: ext.Operand[Any]
    target: ext.Operand[Any]
    indices: Sequence[ext.Operand[Any]]
    shape: Any

    @property
    def mnemonic(self) -> str:
        """A store of its rank."""
        return f"cp.async.bulk.tensor.{self.rank}d.global.shared::cta.tile.bulk_group"


class TmaReduceOp(OutgoingOp, name="tma_reduce"):
    """Reduce a box from shared memory into an array, by one thread; as `tile.tma_store`.

    `fn` is one of add, min, max, inc, dec, and, or, xor; each element is updated on its own.
    """

    assembly_format = (
        "keyword($fn) $target `[` ranked($indices, $target) `]` "
        "`from` $source `[` ranked($indices, $source) `]` "
        "`shape` list($shape) attr-dict `:` type($target) `from` type($source)"
    )
    inferred_types = {"indices": "index"}

    source: ext.Operand[Any]
    target: ext.Operand[Any]
    indices: Sequence[ext.Operand[Any]]
    shape: Any
    fn: ir.StringAttr

    @property
    def mnemonic(self) -> str:
        """A reduction of its rank."""
        fn = ir.StringAttr(self.attributes["fn"]).value
        return f"cp.reduce.async.bulk.tensor.{self.rank}d.global.shared::cta.{fn}.tile.bulk_group"

    def check(self) -> None:
        """Verify the box and the function."""
        super().check()
        found = ir.StringAttr(self.attributes["fn"]).value
        if found not in TENSOR_REDUCTIONS:
            raise TilecError(f"fn is one of {', '.join(TENSOR_REDUCTIONS)}, not {found}")


class TmaPrefetchOp(BoxOp, name="tma_prefetch"):
    """Prefetch a box of an array to L2; `im2col` as in `tile.tma_load`."""

    assembly_format = (
        "$source `[` ranked($indices, $source) `]` "
        "(`im2col` list($lower)^ `to` list($upper) "
        "`offsets` `[` inner-ranked($indices, $source) `]`)? "
        "`shape` list($shape) attr-dict `:` type($source)"
    )
    inferred_types = {"indices": "index"}

    SEMANTICS = Semantics(
        scope=Scope.ONE_THREAD, effects=(reads(0), Touch(Access.WRITE, Resource.COPIES))
    )
    BUFFER = -1
    FIXED = 1
    OPTIONAL = frozenset({STEPS, LOWER, UPPER})

    source: ext.Operand[Any]
    indices: Sequence[ext.Operand[Any]]
    shape: Any

    @property
    def mnemonic(self) -> str:
        """A prefetch of its rank."""
        return f"cp.async.bulk.prefetch.tensor.{self.rank}d.L2.global.{self.mode}"

    @property
    def offsets(self) -> list[Value]:
        """What is added to the places of pixels, one a dimension that these have."""
        return list(self.operands)[self.FIXED + self.rank :]

    def extra(self) -> int:
        """The offsets."""
        return self.offset_count

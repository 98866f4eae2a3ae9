"""`tile.alloc_shared`, `tile.load`, `tile.store`: tiles and fragments in memory."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tilec.dialects.semantics import LayoutRule, Scope, Semantics, Variation
from tilec.dialects.semantics.effects import (
    ALLOCATES_SHARED,
    is_shared_array,
    reads,
    writes_to,
)
from tilec.ir.aliases import Op, Value
from tilec.ir.mlir import ext, ir
from tilec.isa import Family, Target, TilecError

from ..dialect import FragType, SharedAttr
from ..shared import SharedBuffer, allocated_bytes, shared_buffer
from ..stored import stored_elements, stored_tile
from ..tiles import PlainTile, TileValue, bits_of, tile_value
from .base import (
    Region,
    TileOp,
    any_tile_of,
    check_indices,
    form_of,
    integer,
    memory,
    scope_of_fragment,
)


class AllocSharedOp(TileOp, name="alloc_shared"):
    """A buffer in shared memory, uninitialised, for the whole run of the kernel.

    The memref is static, row-major, in the space `#tile.shared<"swizzle">`; its last two dimensions
    are the swizzled matrix, those before count buffers; of rank 1, in `"none"` and of `i64`, it
    holds mbarriers. In the space `#gpu.address_space<workgroup>` it is an array of any rank, which
    `tile.load`, `tile.store`, `tile.gather`, `tile.scatter` and the atomic ops access like one in
    global memory, in program order. `offset` (i64) is its position in the kernel's shared memory,
    in bytes. Either all buffers of a kernel have one, or none; then they follow one another. With
    `apart` (i64) each warpgroup that takes tiles in turn has such a buffer, this number of bytes
    after that of the warpgroup before it.
    """

    assembly_format = "(`at` $offset^)? attr-dict `:` type($buffer)"

    OPTIONAL = frozenset({"offset", "apart"})
    SEMANTICS = Semantics(
        scope=Scope.LANE, effects=(ALLOCATES_SHARED,), varies=Variation.AS_OPERANDS
    )

    buffer: ext.Result[Any]

    def check(self) -> None:
        """Verify the type."""
        type_ = memory(self.results[0], "result")
        space = type_.memory_space
        if isinstance(space, ir.IntegerAttr) or not (
            isinstance(space, SharedAttr) or is_shared_array(type_)
        ):
            raise TilecError(
                'result must be in the space #tile.shared<"…"> or #gpu.address_space<workgroup>, '
                f"not {type_}"
            )
        allocated_bytes(type_)
        for name in sorted(self.OPTIONAL & set(self.attributes)):
            if integer(self, name) < 0:
                raise TilecError(f"{name} must be 0 or more, not {integer(self, name)}")


def check_access(
    tile: PlainTile | TileValue, type_: ir.MemRefType, indices: Sequence[Value], *, transposed: bool
) -> None:
    """Check a tile against the memory it comes from or goes to.

    Raises:
        TilecError: for ranks, element types or extents that do not fit.
    """
    if len(tile.shape) > type_.rank:
        raise TilecError(f"a tile of rank {len(tile.shape)} needs a memref of that rank or more")
    check_indices(indices, type_.rank, "the access")
    legal = stored_elements(tile.element)
    if str(type_.element_type) not in legal:
        note = f"; {tile.element} is {legal[0]} in memory" if legal[0] != str(tile.element) else ""
        raise TilecError(
            f"element types differ: {tile.element} in the tile, {type_} in memory{note}"
        )
    if transposed and len(tile.shape) < 2:
        raise TilecError("a tile of rank 1 cannot be transposed")
    if isinstance(tile, PlainTile):
        return
    tile = stored_tile(tile, transposed=transposed)
    if isinstance(type_.memory_space, SharedAttr):
        if len(tile.shape) != 2:
            raise TilecError(f"a tile in shared memory has rank 2, not {len(tile.shape)}")
        buffer = shared_buffer(type_)
        rows, cols = reversed(tile.shape) if transposed else tile.shape
        # What is wider than a matrix of the buffer goes on in the matrix behind.
        behind = type_.shape[-3] if type_.rank > 2 else 1
        if rows > buffer.rows or cols > buffer.cols * behind:
            raise TilecError(f"the tile is larger than the buffer {type_}")


NO_MATRICES = "none"
"""The attribute `form` of a load or store that no matrix instruction makes."""


class MemoryOp(TileOp):
    """What the ops that move a tile or fragment from or to memory have in common."""

    if TYPE_CHECKING:  # fields of each

        @property
        def tile(self) -> ir.Value: ...  # noqa: D102
        @property
        def indices(self) -> Sequence[ir.Value]: ...  # noqa: D102

    @property
    def memref(self) -> ir.Value:
        """The memory."""
        raise NotImplementedError

    @property
    def update(self) -> str | None:
        """The upstream op by which elements of memory change; None where they are read or set."""
        return None

    @property
    def by_element(self) -> Sequence[ir.Value]:
        """The tiles that say where, or whether, each element is moved, as of `IndexedOp`."""
        return ()

    def check_on(self, target: Target) -> None:
        """Verify that a target has its instruction.

        Raises:
            TilecError: naming those that have.
        """

    @property
    def along(self) -> tuple[int, ...]:
        """The dimensions of memory along which elements have offsets of their own."""
        return ()

    @property
    def offsets(self) -> Sequence[ir.Value]:
        """The tiles of those offsets."""
        return ()

    @property
    def mask(self) -> ir.Value | None:
        """Which elements are moved, a tile of i1; None if all are, as of most ops."""
        return None

    @property
    def is_transposed(self) -> bool:
        """Whether memory holds the transpose."""
        return "transposed" in self.attributes

    @property
    def form(self) -> str | None:
        """The matrix instruction that shall move a tile's fragments, or `none`; None if open."""
        found = self.attributes.get("form")
        return found.value if isinstance(found, ir.StringAttr) else None

    @property
    def is_masked(self) -> bool:
        """Whether elements may lie outside the memory's extents."""
        return "masked" in self.attributes


def stored_shape(tile: Value, *, transposed: bool) -> tuple[int, ...]:
    """The extents of a tile or fragment in memory."""
    shape = any_tile_of(tile, "value").shape
    return (*shape[:-2], *shape[:-3:-1]) if transposed else shape


def indices_of_tile(op: MemoryOp) -> Sequence[ir.Value]:
    """The indices of a tile that a CTA's threads move together; none of a warp's fragment."""
    return () if isinstance(op.tile.type, FragType) else op.indices


class LoadOp(MemoryOp, name="load"):
    """Load a tile or fragment from memory: element (r, c) is `memory[…, i + r, j + c]`.

    Unit attributes: `transposed`, memory holds the transpose, the element is `memory[…, i + c, j +
    r]`; `masked`, elements outside the memref's extents are zero and not read. `vector` (i64,
    default 1) guarantees that this many elements, starting at each multiple of it in the memref's
    last dimension, are contiguous and aligned as one access and, in a masked load, are in or out of
    bounds together.

    Elements narrower than a byte are stored in a memref of `i8`, low bits first along its last
    dimension; that dimension, the indices and `vector` count bytes. Narrow floats in `!tile.byte`
    are also `i8`.

    `form`, for a tile in shared memory, names the `ldmatrix` that loads its fragments, or is `none`
    for plain loads; without it `tile-to-fragments` chooses.
    """

    assembly_format = (
        "$source `[` $indices `]` (`masked` $masked^)? (`transposed` $transposed^)? attr-dict "
        "`:` type($source) `->` type($tile)"
    )
    inferred_types = {"indices": "index"}

    UNITS = frozenset({"masked", "transposed"})
    OPTIONAL = frozenset({"form", "vector"})
    SEMANTICS = Semantics(
        scope=scope_of_fragment(Scope.LANE, Scope.WARP),
        effects=(reads(0),),
        varies=Variation.AS_OPERANDS,
        layouts=LayoutRule.MOVED,
        uniform=indices_of_tile,
    )

    source: ext.Operand[Any]
    indices: Sequence[ext.Operand[Any]]
    tile: ext.Result[Any]

    def check(self) -> None:
        """Verify the types."""
        source, *indices = self.operands
        _check(self, any_tile_of(self.results[0], "result"), memory(source, "source"), indices)
        _check_form(self, Family.LDMATRIX)

    @property
    def memref(self) -> ir.Value:
        """What is read."""
        return self.operands[0]


class StoreOp(MemoryOp, name="store"):
    """Store a tile or fragment to memory; the attributes are those of `tile.load`.

    For a tile stored to shared memory, `form` names the `stmatrix`, or is `none`.
    """

    assembly_format = (
        "$tile `,` $target `[` $indices `]` (`masked` $masked^)? (`transposed` $transposed^)? "
        "attr-dict `:` type($tile) `,` type($target)"
    )
    inferred_types = {"indices": "index"}

    UNITS = frozenset({"masked", "transposed"})
    OPTIONAL = frozenset({"form", "vector"})
    SEMANTICS = Semantics(
        scope=scope_of_fragment(Scope.LANE, Scope.WARP),
        effects=(writes_to(1),),
        layouts=LayoutRule.MOVED,
        uniform=indices_of_tile,
    )

    tile: ext.Operand[Any]
    target: ext.Operand[Any]
    indices: Sequence[ext.Operand[Any]]

    def check(self) -> None:
        """Verify the types."""
        tile, target, *indices = self.operands
        _check(self, any_tile_of(tile, "value"), memory(target, "target"), indices)
        _check_form(self, Family.STMATRIX)

    @property
    def memref(self) -> ir.Value:
        """What is written."""
        return self.operands[1]

    def overwritten(self) -> Region | None:
        """The whole tile, if its extents are known."""
        of_threads = isinstance(self.tile.type, FragType)  # each with indices of its own
        return None if self.is_masked or of_threads else self.reached()

    def reached(self) -> Region:
        """The whole tile, masked or not."""
        return Region(self.indices, stored_shape(self.tile, transposed=self.is_transposed))


def _check(
    op: MemoryOp, tile: PlainTile | TileValue, type_: ir.MemRefType, indices: Sequence[Value]
) -> None:
    check_access(tile, type_, indices, transposed="transposed" in op.attributes)
    vector_of(op)
    if "masked" in op.attributes:
        if isinstance(type_.memory_space, SharedAttr):
            raise TilecError(
                "an access to shared memory is not masked: its extents are the buffer's"
            )
    else:
        _check_extents(tile, type_, transposed="transposed" in op.attributes)


def _check_form(op: MemoryOp, family: Family) -> None:
    """Check the attribute `form`, which speaks of tiles with layouts in shared memory."""
    if "form" not in op.attributes:
        return
    tile = tile_value(op.tile.type)
    in_shared = isinstance(memory(op.memref).memory_space, SharedAttr)
    if tile is None or tile.is_fragment or not in_shared:
        raise TilecError("form says how a tile with a layout is moved from or to shared memory")
    if op.form is None:
        raise TilecError(f"form must be a string, not {op.attributes['form']}")
    if op.form != NO_MATRICES:
        form_of(op.form, family)


def _check_extents(tile: PlainTile | TileValue, type_: ir.MemRefType, *, transposed: bool) -> None:
    """Refuse a whole tile that memory of known extents has no room for."""
    if isinstance(tile, TileValue):
        return
    *leading, row, col = (1, *tile.shape)
    shape = [*leading, col, row] if transposed else [*leading, row, col]
    for dim, extent in zip(range(1, 1 + len(tile.shape)), reversed(shape), strict=False):
        there = type_.shape[type_.rank - dim]
        bits = bits_of(tile.element) if dim == 1 else 8
        if there != ir.ShapedType.get_dynamic_size() and extent * min(bits, 8) > there * 8:
            text = "x".join(str(n) for n in tile.shape)
            raise TilecError(
                f"a tile of {text} is larger than {type_}; take a smaller one, or let the access "
                "be masked"
            )


def vector_of(op: Op) -> int:
    """The attribute `vector` of an access, in elements.

    Raises:
        TilecError: if it is not a power of two.
    """
    if "vector" not in op.attributes:
        return 1
    attribute = op.attributes["vector"]
    if not isinstance(attribute, ir.IntegerAttr):
        raise TilecError(f"vector must be an integer, not {attribute}")
    elements = int(attribute.value)
    if elements < 1 or elements & (elements - 1):
        raise TilecError(f"vector must be a power of two, not {elements}")
    return elements


__all__ = [
    "AllocSharedOp",
    "LoadOp",
    "MemoryOp",
    "SharedBuffer",
    "StoreOp",
    "check_access",
    "indices_of_tile",
    "vector_of",
]

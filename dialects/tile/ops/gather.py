"""`tile.gather`, `tile.scatter`, `tile.atomic_scatter`: elements at places of their own."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tilec.dialects.semantics import LayoutRule, Scope, Semantics, Variation
from tilec.dialects.semantics.effects import reads, writes_to
from tilec.dialects.semantics.effects import updates as updates_memory
from tilec.ir.assembly.signature import OPERAND_SIZES
from tilec.ir.mlir import ext, ir
from tilec.isa import Target, TilecError
from tilec.isa.wording import counted

from ..dialect import SharedAttr
from ..stored import stored_elements
from ..tiles import PlainTile, TileValue, bits_of, plain_tile, tile_value
from .atomic import updates
from .base import any_tile_of, check_indices, memory, scope_of_fragment
from .memory import MemoryOp, indices_of_tile, vector_of

OFFSETS = ("i32", "i64")
"""The element types of tiles of offsets, which have a sign."""


class IndexedOp(MemoryOp):
    """What the ops have in common whose elements have indices, or conditions, of their own.

    Along dimensions of the memory that `along` names, elements do not follow each other from the
    index on, but lie as far from it as a tile of offsets says of each. The condition is a tile of
    i1. Both have the shape and layout of the tile that is moved.
    """

    if TYPE_CHECKING:  # fields of each

        @property
        def offsets(self) -> Sequence[ir.Value]: ...  # noqa: D102
        @property
        def condition(self) -> Sequence[ir.Value]: ...  # noqa: D102

    @property
    def along(self) -> tuple[int, ...]:
        """The dimensions of memory along which elements have offsets of their own."""
        found = self.attributes.get("along")
        return tuple(found) if isinstance(found, ir.DenseI64ArrayAttr) else ()

    @property
    def mask(self) -> ir.Value | None:
        """Which elements are moved, if not all."""
        return self.condition[0] if self.condition else None

    @property
    def by_element(self) -> Sequence[ir.Value]:
        """The tiles of offsets and the condition."""
        return (*self.offsets, *self.condition)

    def check(self) -> None:
        """Verify indices, offsets, condition, element types and extents."""
        _check_sizes(self)
        tile, type_ = any_tile_of(self.tile, "the tile"), memory(self.memref)
        _check_memory(tile, type_)
        check_indices(self.indices, type_.rank, "the access")
        _check_along(self, type_.rank)
        for dim, offsets in zip(self.along, self.offsets, strict=True):
            _check_alike(f"what lies along dimension {dim}", offsets, tile, OFFSETS)
        for condition in self.condition:
            _check_alike("the condition", condition, tile, ("i1",))
        vector_of(self)


def _check_sizes(op: IndexedOp) -> None:
    sizes = op.attributes.get(OPERAND_SIZES)
    groups = op.DECLARED.operands + 3  # indices, offsets, condition
    if (
        not isinstance(sizes, ir.DenseI32ArrayAttr)
        or len(sizes) != groups
        or sum(sizes) != len(op.operands)
    ):
        raise TilecError(
            f"takes {OPERAND_SIZES}, the number of operands in each of {groups} groups"
        )
    if sizes[groups - 1] > 1:
        raise TilecError("takes at most one condition")


def _check_along(op: IndexedOp, rank: int) -> None:
    along = op.along
    if len(along) != len(op.offsets):
        raise TilecError(
            f"along names {counted(len(along), 'dimension')} for "
            f"{counted(len(op.offsets), 'tile')} of offsets"
        )
    if list(along) != sorted(set(along)) or not all(0 <= dim < rank for dim in along):
        raise TilecError(
            f"along names dimensions of the memory from 0 to {rank - 1}, each once and in order, "
            f"not {list(along)}"
        )


def _check_memory(tile: PlainTile | TileValue, type_: ir.MemRefType) -> None:
    """Check the memory that the tile comes from or goes to."""
    if isinstance(type_.memory_space, SharedAttr):
        raise TilecError(
            "moves tiles from and to global memory, or an array in "
            f"#gpu.address_space<workgroup>, not the shared buffer {type_}"
        )
    if len(tile.shape) > type_.rank:
        raise TilecError(f"a tile of rank {len(tile.shape)} needs a memref of that rank or more")
    if bits_of(tile.element) < 8:
        raise TilecError(
            f"elements of {tile.element} share a byte of memory; gather them as i8 and unpack them"
        )
    legal = stored_elements(tile.element)
    if str(type_.element_type) not in legal:
        raise TilecError(
            f"element types differ: {tile.element} in the tile, {type_} in memory; "
            f"{tile.element} is {' or '.join(legal)} there"
        )


def _check_alike(
    what: str, value: ir.Value, tile: PlainTile | TileValue, elements: Sequence[str]
) -> None:
    """Check that a tile of offsets or a condition has an element for each of the tile's."""
    found = plain_tile(value.type) or tile_value(value.type)
    extents, kind = "x".join(map(str, tile.shape)), " or ".join(elements)
    if found is None or str(found.element) not in elements or found.shape != tile.shape:
        raise TilecError(
            f"{what} has an element for each of the tile's: {extents}x{kind}, not {value.type}"
        )
    own, other = (one.layout if isinstance(one, TileValue) else None for one in (found, tile))
    if own != other:
        raise TilecError(
            f"{what} has the tile's layout '{other}', not '{own}': convert it first"
            if own and other
            else f"takes tiles that either all have a layout or all have none, unlike {value.type}"
        )


MOVED = Semantics(
    scope=scope_of_fragment(Scope.LANE, Scope.WARP),
    layouts=LayoutRule.MOVED,
    uniform=indices_of_tile,
)
PLACES = (
    "`[` $indices `]` (`along` list($along) `by` $offsets^)? (`where` $condition^)? "
    "(`masked` $masked^)? attr-dict "
)
TYPES = "(`by` type($offsets)^)? (`where` type($condition)^)?"


class GatherOp(IndexedOp, name="gather"):
    """Load a tile or fragment from memory, each element from its own position.

    Along the dimensions in `along`, the position of an element is the index plus its offset; along
    the others it is as in `tile.load`. With offsets %o along dimension 0, element (r, c) is
    `memory[%i + %o(r, c), %j + c]`. Elements whose condition is false are zero and not read. With
    `masked`, so are elements outside the memref's extents, on either side.

    `vector` (i64, default 1) guarantees the same as in `tile.load`, and that this many elements
    share an offset and a condition. Elements with offsets along the last dimension are moved one by
    one.
    """

    assembly_format = f"$source {PLACES} `:` type($source) {TYPES} `->` type($tile)"
    inferred_types = {"indices": "index"}

    UNITS = frozenset({"masked"})
    OPTIONAL = frozenset({"along", "vector"})
    SEMANTICS = MOVED.but(effects=(reads(0),), varies=Variation.AS_OPERANDS)

    source: ext.Operand[Any]
    indices: Sequence[ext.Operand[Any]]
    offsets: Sequence[ext.Operand[Any]]
    condition: Sequence[ext.Operand[Any]]
    tile: ext.Result[Any]

    @property
    def memref(self) -> ir.Value:
        """What is read."""
        return self.operands[0]


class ScatterOp(IndexedOp, name="scatter"):
    """Store a tile or fragment to memory, each element to its own position.

    Offsets, condition and attributes are those of `tile.gather`. If several elements have the same
    position, one of them remains; which one is unspecified.
    """

    assembly_format = f"$tile `,` $target {PLACES} `:` type($tile) `,` type($target) {TYPES}"
    inferred_types = {"indices": "index"}

    UNITS = frozenset({"masked"})
    OPTIONAL = frozenset({"along", "vector"})
    SEMANTICS = MOVED.but(effects=(writes_to(1),))

    tile: ext.Operand[Any]
    target: ext.Operand[Any]
    indices: Sequence[ext.Operand[Any]]
    offsets: Sequence[ext.Operand[Any]]
    condition: Sequence[ext.Operand[Any]]

    @property
    def memref(self) -> ir.Value:
        """What is written."""
        return self.operands[1]


class AtomicScatterOp(IndexedOp, name="atomic_scatter"):
    """Combine a tile or fragment into memory by `fn`, atomically, each element at its own position.

    Offsets, condition and attributes are those of `tile.gather`; `tile.atomic` says how and in
    which order memory is updated.
    """

    assembly_format = (
        f"keyword($fn) $tile `,` $target {PLACES} `:` type($tile) `,` type($target) {TYPES}"
    )
    inferred_types = {"indices": "index"}

    UNITS = frozenset({"masked"})
    OPTIONAL = frozenset({"along", "vector"})
    SEMANTICS = MOVED.but(effects=updates_memory(1))

    tile: ext.Operand[Any]
    target: ext.Operand[Any]
    indices: Sequence[ext.Operand[Any]]
    offsets: Sequence[ext.Operand[Any]]
    condition: Sequence[ext.Operand[Any]]
    fn: ir.StringAttr

    def check(self) -> None:
        """Verify the access, and that there is such an instruction."""
        super().check()
        updates(self.fn.value, any_tile_of(self.tile, "the tile").element)

    @property
    def memref(self) -> ir.Value:
        """What is updated."""
        return self.operands[1]

    @property
    def update(self) -> str:
        """`fn`."""
        return self.fn.value

    def check_on(self, target: Target) -> None:
        """Verify that the target has the instruction."""
        updates(self.fn.value, any_tile_of(self.operands[0], "value").element, target)

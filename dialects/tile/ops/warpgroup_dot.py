"""`tile.warpgroup_dot` and its kin: a CTA's products that warpgroups read from shared memory."""

from collections.abc import Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from tilec.dialects.semantics import (
    Access,
    LayoutRule,
    Resource,
    Scope,
    Semantics,
    Touch,
    Variation,
)
from tilec.dialects.semantics.declaration import PURE
from tilec.ir.aliases import Value
from tilec.ir.mlir import ext, ir
from tilec.isa import WARPGROUP_WARPS, Family, Form, TilecError
from tilec.isa.wording import counted
from tilec.layout import LinearLayout
from tilec.layout.tiling import warpgroup_tile

from ..dots import Tile, check_element
from ..tiles import TileValue
from .base import TileOp, any_tile_of, check_indices, form_of, integer, memory

if TYPE_CHECKING:
    from ..matrix_operands import MatrixOperand


_FORMAT = (
    "$a (`[` ranked($indices, $a)^ `]`)? `,` $b `[` ranked($indices, $b) `]` `,` $c attr-dict "
    "`:` type($a) `,` type($b) `,` type($c) (`->` type($d)^)?"
)
_SPARSE_FORMAT = (
    "$a (`[` ranked($indices, $a)^ `]`)? `,` $b `[` ranked($indices, $b) `]` `,` $c `,` $e "
    "attr-dict `:` type($a) `,` type($b) `,` type($c) `,` type($e) (`->` type($d)^)?"
)
_INFERRED = {"indices": "index", "d": "$c"}
_PRODUCT = PURE.but(scope=Scope.WARPGROUP, layouts=LayoutRule.PRODUCT)


class WarpgroupProduct(TileOp):
    """What products have in common, dense or sparse, awaited or in flight."""

    OPTIONAL = frozenset({"imm_trans_a", "imm_trans_b"})
    FAMILY = Family.WGMMA
    FIXED = 3
    """Operands before the indices: a, b, c, and the metadata of a sparse one."""
    COLUMNS_OF_STORED = 1
    """Columns of A for each that is stored."""
    MATRICES = MappingProxyType({"a": 0, "b": 1})
    """By name the numbers of the operands that are memrefs, or may be, in the order of indices."""

    if TYPE_CHECKING:  # fields of each

        @property
        def a(self) -> ir.Value: ...  # noqa: D102
        @property
        def b(self) -> ir.Value: ...  # noqa: D102
        @property
        def c(self) -> ir.Value: ...  # noqa: D102
        @property
        def d(self) -> ir.Value: ...  # noqa: D102

    @property
    def key(self) -> Form:
        """The instruction.

        Raises:
            TilecError: if `form` names none of the op's family.
        """
        return form_of(ir.StringAttr(self.attributes["form"]).value, self.FAMILY)

    @property
    def grid(self) -> tuple[int, int]:
        """Warps along M and along N."""
        along_m, along_n = ir.DenseI64ArrayAttr(self.attributes["warps"])
        return along_m, along_n

    def is_transposed(self, name: str) -> bool:
        """Whether M of operand `a`, or N of `b`, is contiguous in memory."""
        selector = f"imm_trans_{name}"
        return selector in self.attributes and bool(integer(self, selector))

    def memories(self) -> dict[str, int]:
        """By name the numbers of the operands that are memrefs."""
        operands = list(self.operands)
        return {name: at for name, at in self.MATRICES.items() if _is_in_memory(operands[at])}

    def indices_of(self, name: str) -> list[Value]:
        """Where an operand begins in its memref; none of one in registers."""
        operands, at = list(self.operands), self.FIXED
        for other, number in self.memories().items():
            rank = memory(operands[number]).rank
            if other == name:
                return operands[at : at + rank]
            at += rank
        return []

    def matrix(self, name: str) -> "MatrixOperand":
        """Operand `a` or `b` in shared memory.

        Raises:
            TilecError: if no descriptor tells it.
        """
        from ..matrix_operands import described_operand  # noqa: PLC0415 (for Hopper only)

        value = self.operands["ab".index(name)]
        return described_operand(self.key, name, value, transposed=self.is_transposed(name))

    def tiles(self) -> dict[str, int]:
        """By name the numbers of the operands that are tiles: `c`, `e`, and `a` in registers."""
        found = {} if _is_in_memory(self.operands[0]) else {"a": 0}
        return found | dict(zip("ce", range(2, self.FIXED), strict=False))

    def tile_values(self) -> dict[str, Value]:
        """The operands that are tiles, by name."""
        operands = list(self.operands)
        return {name: operands[number] for name, number in self.tiles().items()}

    def layout(self, name: str, rows: int, cols: int) -> LinearLayout:
        """The layout of an operand in registers, or of the result."""
        return warpgroup_tile(self.key, name, rows, cols, self.grid)

    def depth(self) -> int:
        """K."""
        return self._depth("b", ir.RankedTensorType(self.results[0].type).shape[1])

    def check(self) -> None:
        """Verify form, extents, layouts, and that descriptors tell the matrices."""
        form = self.key
        self._check_grid()
        known: dict[str, Tile] = {
            name: any_tile_of(self.operands[number], f"operand {name}")
            for name, number in self.tiles().items()
        }
        known["d"] = any_tile_of(self.results[0], "result")
        for name, tile in known.items():
            check_element(form, name, tile)
            if len(tile.shape) != 2:
                raise TilecError(f"operand {name} is a matrix, not of rank {len(tile.shape)}")
            layout = self.layout(name, *tile.shape)
            if isinstance(tile, TileValue) and tile.layout != layout:
                raise TilecError(
                    f"operand {name} of {form.ptx} over "
                    f"{self.grid[0]}x{self.grid[1]} warps has "
                    f"the layout '{layout}', not '{tile.layout}'"
                )
        if self.results[0].type != self.operands[2].type:
            raise TilecError("C and D are tiles of one type")
        self._check_memory(known)

    def _check_grid(self) -> None:
        given = self.attributes["warps"]
        warps = list(given) if isinstance(given, ir.DenseI64ArrayAttr) else []
        powers = len(warps) == 2 and all(n > 0 and not n & (n - 1) for n in warps)
        if not powers or warps[0] % WARPGROUP_WARPS:
            raise TilecError(
                f"warps must be array<i64: M, N>, powers of two, M a multiple of "
                f"{WARPGROUP_WARPS}, not {given}"
            )

    def _check_memory(self, known: dict[str, Tile]) -> None:
        """Check the operands in memory against the tiles."""
        rows, cols = known["d"].shape
        names = [name for name in "ab" if name not in known]
        operands = list(self.operands)
        given = {n: operands[at] for n, at in self.MATRICES.items() if n not in known}
        total = sum(memory(value, f"operand {name}").rank for name, value in given.items())
        check_indices(operands[self.FIXED :], total, " and ".join(given))
        depths = {name: self._depth(name, rows if name == "a" else cols) for name in names}
        if "a" in known:
            depths["a"] = known["a"].shape[1]
        depths["a"] *= self.COLUMNS_OF_STORED
        if len(set(depths.values())) > 1:
            raise TilecError(
                f"A has {counted(depths['a'], 'column')}, B {counted(depths['b'], 'row')}"
            )

    def packed(self, name: str) -> int:
        """Elements of K in each of a memref that holds operand `a` or `b`."""
        held = self.matrix(name).buffer.element_bytes * 8
        return max(1, held // self.key.operand(name).container)

    def _depth(self, name: str, extent: int) -> int:
        """K of an operand in memory, whose other extent is given."""
        found = self.matrix(name).buffer
        type_ = ir.MemRefType(self.operands["ab".index(name)].type)
        along = found.cols * (type_.shape[-3] if type_.rank > 2 else 1) * self.packed(name)
        own, depth = (along, found.rows) if self.is_transposed(name) else (found.rows, along)
        ctas = self._ctas_of(name)
        if own * ctas != extent:
            raise TilecError(
                f"operand {name} has {own} {'rows' if name == 'a' else 'columns'} in "
                f"memory{f' of each of {ctas} CTAs' * (ctas > 1)}, and C has {extent}"
            )
        return depth

    def _ctas_of(self, name: str) -> int:  # noqa: ARG002 (of pairs)
        """CTAs in whose memory parts of an operand lie."""
        return 1


class AwaitedProduct(WarpgroupProduct):
    """What is complete with its result, dense or sparse."""

    @property
    def accumulator_registers(self) -> int:
        """Registers of a thread that an instruction's accumulator takes."""
        return self.key.operand("d").registers


class WarpgroupDotOp(AwaitedProduct, name="warpgroup_dot"):
    """`d = a · b + c` on a CTA's tiles, by as many `wgmma` as needed; complete with `d`.

    `b` is in shared memory, and `a` in shared memory or in registers, as `form` says. The last two
    dimensions of a memref are those of `tile.wgmma`, and the preceding dimension counts the panels
    of a row. `imm_trans_a` and `imm_trans_b` mean that M or N is contiguous. `warps` gives the
    number of warps along the rows, a multiple of four, and along the columns of C. The operands are
    visible to the asynchronous proxy when the op begins, and are no longer read when it ends.
    """

    assembly_format = _FORMAT
    inferred_types = _INFERRED

    SEMANTICS = _PRODUCT.but(effects=(Touch(Access.READ, Resource.SHARED),))

    a: ext.Operand[Any]
    b: ext.Operand[Any]
    c: ext.Operand[Any]
    indices: Sequence[ext.Operand[Any]]
    form: ir.StringAttr
    warps: Any
    d: ext.Result[Any]


class WarpgroupDotSpOp(AwaitedProduct, name="warpgroup_dot_sp"):
    """`tile.warpgroup_dot` with a sparse A, by `wgmma.mma_async.sp`.

    `a` is the half of A that is stored, MxK/2, and `e` its metadata: i4, MxK/4, MxK/2 of tf32. One
    register of `e` serves two instructions along K, or one of 8-bit elements; K is whole such
    registers.
    """

    assembly_format = _SPARSE_FORMAT
    inferred_types = _INFERRED

    FAMILY = Family.WGMMA_SP
    FIXED = 4
    COLUMNS_OF_STORED = 2
    SEMANTICS = _PRODUCT.but(effects=(Touch(Access.READ, Resource.SHARED),))

    a: ext.Operand[Any]
    b: ext.Operand[Any]
    c: ext.Operand[Any]
    e: ext.Operand[Any]
    indices: Sequence[ext.Operand[Any]]
    form: ir.StringAttr
    warps: Any
    d: ext.Result[Any]

    def check(self) -> None:
        """Verify what a dense product has, and the extents of the metadata."""
        super().check()
        sparsity = self.key.sparsity
        assert sparsity is not None
        codes = any_tile_of(self.operands[3], "operand e").shape
        legal = any_tile_of(self.results[0], "result").shape[0], self.depth() // sparsity.chunk
        if codes != legal:
            given, wanted = ("x".join(map(str, extents)) for extents in (codes, legal))
            raise TilecError(f"operand e is {wanted}, a code for each chunk of a row, not {given}")


class WarpgroupStartOp(WarpgroupProduct, name="warpgroup_start"):
    """A `tile.warpgroup_dot` whose result `d` is still in flight.

    Only a `tile.warpgroup_wait` in the same block may use `d`, and nothing may overwrite the
    operands in shared memory before that. Products of one shape on one accumulator need no other
    order.
    """

    assembly_format = _FORMAT
    inferred_types = _INFERRED

    SEMANTICS = _PRODUCT.but(
        effects=(
            Touch(Access.READ, Resource.SHARED, asynchronous=True),
            Touch(Access.WRITE, Resource.ACCUMULATORS, asynchronous=True),
        )
    )

    a: ext.Operand[Any]
    b: ext.Operand[Any]
    c: ext.Operand[Any]
    indices: Sequence[ext.Operand[Any]]
    form: ir.StringAttr
    warps: Any
    d: ext.Result[Any]

    def check_uses(self) -> None:
        """Check that nothing takes the result but what waits for it, in the same block.

        Raises:
            TilecError: naming what does.
        """
        for use in self.results[0].uses:
            user = use.owner.operation
            if not isinstance(user.opview, WarpgroupWaitOp) or user.block != self.operation.block:
                raise TilecError(
                    f"is in flight, and '{user.name}' takes its result; legal: a "
                    "tile.warpgroup_wait of the same block"
                )


class WarpgroupWaitOp(TileOp, name="warpgroup_wait"):
    """Wait until at most `pending` of the warpgroup's latest products are in flight.

    It returns the result of a `tile.warpgroup_start` that is not among those.
    """

    assembly_format = "$pending $started attr-dict `:` type($started)"
    inferred_types = {"tile": "$started"}

    SEMANTICS = Semantics(
        scope=Scope.WARPGROUP,
        effects=(Touch(Access.ORDER, Resource.ACCUMULATORS),),
        varies=Variation.AS_OPERANDS,
        layouts=LayoutRule.JOINED,
    )

    started: ext.Operand[Any]
    pending: ir.IntegerAttr
    tile: ext.Result[Any]

    @property
    def product(self) -> WarpgroupStartOp:
        """The product that it waits for.

        Raises:
            TilecError: if it is none.
        """
        owner = self.operands[0].owner
        view = None if isinstance(owner, ir.Block) else owner.operation.opview
        if not isinstance(view, WarpgroupStartOp):
            raise TilecError("waits for the result of a tile.warpgroup_start")
        return view

    def check(self) -> None:
        """Verify the product, and that the result is its."""
        pending = integer(self, "pending")
        if pending < 0:
            raise TilecError(f"pending must be 0 or more, not {pending}")
        if self.results[0].type != self.operands[0].type:
            raise TilecError("returns the tile that it takes")
        _ = self.product

    def check_pending(self) -> None:
        """Check that the product is not among the latest, which may stay in flight.

        Raises:
            TilecError: saying how many there are after it.
        """
        ops = [op.operation for op in self.operation.block.operations]
        between = ops[ops.index(self.product.operation) + 1 : ops.index(self.operation)]
        behind = sum(isinstance(op.opview, WarpgroupProduct) for op in between)
        pending = integer(self, "pending")
        if pending > behind:
            raise TilecError(
                f"leaves {counted(pending, 'product')} in flight, and {behind} begin after the one "
                "that it "
                "gives back"
            )


def _is_in_memory(value: Value) -> bool:
    return isinstance(value.type, ir.MemRefType)

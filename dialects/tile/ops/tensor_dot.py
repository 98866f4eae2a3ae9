"""`tile.tensor_dot` and its kin: a CTA's products whose accumulators tensor memory holds."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tilec.dialects.semantics import Access, LayoutRule, Resource, Scope, Touch
from tilec.dialects.semantics.declaration import PURE, Semantics
from tilec.dialects.semantics.spread import Variation
from tilec.ir.aliases import Value
from tilec.ir.mlir import ext, ir
from tilec.isa import TilecError
from tilec.isa.wording import counted
from tilec.layout import LinearLayout

from ..tensor import tensor_buffer
from ..tensor_dots import QUARTERS, accumulator_tile, accumulator_unit, described_dot, move_key
from ..tiles import TileValue
from .base import TileOp, any_tile_of
from .tcgen05 import tensor_product
from .warpgroup_dot import AwaitedProduct

if TYPE_CHECKING:
    from tilec.isa.described_product import DescribedProduct

    from ..matrix_operands import MatrixOperand

_FLAGS = ("transpose_a", "transpose_b")


class TensorDot(AwaitedProduct):
    """What such products have in common, with scale factors or without."""

    OPTIONAL = frozenset[str]()
    UNITS = frozenset(_FLAGS)
    SCALED = False
    """Whether its products take scale factors."""
    SEMANTICS = PURE.but(
        scope=Scope.CTA,
        layouts=LayoutRule.PRODUCT,
        effects=(Touch(Access.READ, Resource.SHARED),),
    )

    @property
    def key(self) -> "DescribedProduct":
        """The product that each of the instructions computes.

        Raises:
            TilecError: if `form` and `types` make none of the tiles.
        """
        name = ir.StringAttr(self.attributes["form"]).value
        found = tensor_product(name, scaled=self.SCALED)
        in_memory = "a" in self.memories()
        if found.group != 1 or found.stationary or (found.a == "descriptor") != in_memory:
            where = "shared" if in_memory else "tensor"
            tile = "" if in_memory else ", where a tile is stored"
            raise TilecError(
                f"is made of products of one CTA with A in {where} memory{tile}, unlike {name}"
            )
        type_ = self.results[0].type
        if not isinstance(type_, ir.RankedTensorType) or type_.rank != 2:
            raise TilecError(f"the result is a matrix that is a tile of a CTA, not {type_}")
        rows, cols = type_.shape
        types = ir.StringAttr(self.attributes["types"]).value
        if types.count(".") != 2:
            raise TilecError("types are those of D, A and B, such as f32.f16.f16")
        flags = tuple(name for name in _FLAGS if name in self.attributes)
        return described_dot(found, types, (rows, cols), flags)

    @property
    def mnemonic(self) -> str:
        """The instruction."""
        return ir.StringAttr(self.attributes["form"]).value

    @property
    def accumulator_registers(self) -> int:
        """Registers of a thread that an instruction's accumulator takes: none."""
        return 0

    def is_transposed(self, name: str) -> bool:
        """Whether M of operand `a`, or N of `b`, is contiguous in memory."""
        return f"transpose_{name}" in self.attributes

    def matrix(self, name: str) -> "MatrixOperand":
        """Operand `a` or `b` in shared memory.

        Raises:
            TilecError: if no descriptor tells it.
        """
        from ..matrix_operands import tensor_operand  # noqa: PLC0415 (for Blackwell only)

        value = self.operands["ab".index(name)]
        return tensor_operand(self.key, name, value, transposed=self.is_transposed(name))

    def layout(self, name: str, rows: int, cols: int) -> LinearLayout:
        """The layout in which warps load the result."""
        product = self.key
        d = product.operand("d")
        if name == "a":
            packed = 32 // product.operand("a").container
            return accumulator_tile((d.rows, cols), rows, cols, self.grid, packed)
        return accumulator_tile((d.rows, d.cols), rows, cols, self.grid)  # c has that of d

    @property
    def held(self) -> Value:
        """The result."""
        return self.results[0]

    @property
    def unit(self) -> LinearLayout:
        """(register, lane) -> (row, col) of what a warp loads of the result at once.

        Raises:
            TilecError: as of `key`, and if there is no such load.
        """
        d, cols = self.key.operand("d"), ir.RankedTensorType(self.results[0].type).shape[1]
        return accumulator_unit((d.rows, d.cols), cols // self.grid[1])

    def check(self) -> None:
        """Verify form, extents, layouts, and that descriptors tell the matrices."""
        super().check()
        product = self.key
        step, depth = product.operand("b").rows, self.depth()
        if depth % step:
            raise TilecError(f"{depth} of K are not a multiple of the {step} of {product.ptx}")


class TensorDotOp(TensorDot, name="tensor_dot"):
    """`d = a · b + c` on a CTA's tiles, by as many `tcgen05.mma` as needed; complete with `d`.

    `a` and `b` are in shared memory: the last two dimensions of a memref are those of
    `tile.tcgen05_mma`, and the preceding dimension counts the panels of a row. `transpose_a` and
    `transpose_b` mean that M or N is contiguous. If `form` has A in tensor memory, `a` is a tile,
    of whole 128 rows, in the layout in which `warps` store it there. The accumulator is in tensor
    memory meanwhile; `c` and `d` have the layout in which `warps` load it: warps along the rows, a
    multiple of four, and along the columns. The operands are visible to the asynchronous proxy when
    the op begins, and are no longer read when it ends. `tile-place-accumulators` gives it its
    tensor memory.
    """

    assembly_format = (
        "$a (`[` ranked($indices, $a)^ `]`)? `,` $b `[` ranked($indices, $b) `]` `,` $c attr-dict "
        "`:` type($a) `,` type($b) `,` type($c) (`->` type($d)^)?"
    )
    inferred_types = {"indices": "index", "d": "$c"}

    a: ext.Operand[Any]
    b: ext.Operand[Any]
    c: ext.Operand[Any]
    indices: Sequence[ext.Operand[Any]]
    form: ir.StringAttr
    types: ir.StringAttr
    warps: Any
    d: ext.Result[Any]


class AccumulatorMoveOp(TileOp):
    """What loads and stores of a whole accumulator, or of a left operand, have in common."""

    MEMORY = 0
    """The operand that is the buffer."""
    HELD = ("d",)
    """What the buffer may hold."""

    @property
    def held(self) -> Value:
        """The tile."""
        raise NotImplementedError

    @property
    def grid(self) -> tuple[int, int]:
        """Warps along M and along N."""
        along_m, along_n = ir.DenseI64ArrayAttr(self.attributes["warps"])
        return along_m, along_n

    @property
    def matrices(self) -> tuple[int, int, int, int]:
        """Matrices along M and N, and rows and columns of each."""
        m, n, rows, cols = ir.MemRefType(self.operands[self.MEMORY].type).shape
        return m, n, rows, cols

    def move(self, *, store: bool) -> str:
        """The instruction by which a warp moves a piece of it.

        Raises:
            TilecError: if there is none.
        """
        _, many, rows, cols = self.matrices
        return move_key(rows, many * cols // self.grid[1], store=store, packed=self.packed)

    @property
    def packed(self) -> int:
        """Columns of the tile in one of 32 bits."""
        return tensor_buffer(self.operands[self.MEMORY], "buffer").packed

    @property
    def unit(self) -> LinearLayout:
        """(register, lane) -> (row, col) of what a warp moves at once.

        Raises:
            TilecError: as of `move`.
        """
        _, many, rows, cols = self.matrices
        return accumulator_unit((rows, cols), many * cols // self.grid[1], self.packed)

    def check(self) -> None:
        """Verify the buffer, the warps, and the tile with its layout."""
        type_ = self.operands[self.MEMORY].type
        buffer = tensor_buffer(self.operands[self.MEMORY], "buffer")
        if ir.MemRefType(type_).rank != 4 or buffer.held not in self.HELD or buffer.group > 1:
            what = "an accumulator" + " or left operand" * (len(self.HELD) > 1)
            raise TilecError(f"is of the matrices of {what}, along M and N, of one CTA: {type_}")
        warps = self.attributes["warps"]
        grid = list(warps) if isinstance(warps, ir.DenseI64ArrayAttr) else []
        if len(grid) != 2 or grid[0] % QUARTERS or any(n < 1 or n & (n - 1) for n in grid):
            raise TilecError(
                f"warps must be array<i64: M, N>, powers of two, M a multiple of {QUARTERS}, not "
                f"{warps}"
            )
        m, n, rows, cols = self.matrices
        tile, shape = any_tile_of(self.held, "tile"), (m * rows, n * cols)
        if tile.shape != shape or tile.element != ir.MemRefType(type_).element_type:
            raise TilecError(
                f"{type_} is of {counted(m * n, 'matrix', 'matrices')}, a tile of "
                f"{shape[0]}x{shape[1]}, not {self.held.type}"
            )
        layout = accumulator_tile((rows, cols), *shape, self.grid, self.packed)
        if isinstance(tile, TileValue) and tile.layout != layout:
            raise TilecError(f"moves a tile of the layout '{layout}', not '{tile.layout}'")


class TensorLoadOp(AccumulatorMoveOp, name="tensor_load"):
    """Load an accumulator from tensor memory to registers, complete with the result.

    A memref of matrices along M and N, of M and N of an instruction each. All that has written
    there is done, and this thread has waited for it.
    """

    assembly_format = "$source attr-dict `:` type($source) `->` type($tile)"

    SEMANTICS = Semantics(
        scope=Scope.WARP,
        effects=(Touch(Access.READ, None, 0), Touch(Access.ORDER, Resource.TENSOR)),
        varies=Variation.AS_OPERANDS,
    )

    source: ext.Operand[Any]
    warps: Any
    tile: ext.Result[Any]

    @property
    def held(self) -> Value:
        """The result."""
        return self.results[0]


class TensorStoreOp(AccumulatorMoveOp, name="tensor_store"):
    """Store a tile to an accumulator or left operand in tensor memory; done when the op ends."""

    assembly_format = "$tile `,` $target attr-dict `:` type($tile) `,` type($target)"

    MEMORY = 1
    HELD = ("d", "a")
    SEMANTICS = Semantics(
        scope=Scope.WARP,
        effects=(Touch(Access.WRITE, None, 1), Touch(Access.ORDER, Resource.TENSOR)),
    )

    tile: ext.Operand[Any]
    target: ext.Operand[Any]
    warps: Any

    @property
    def held(self) -> Value:
        """Operand 0."""
        return self.operands[0]

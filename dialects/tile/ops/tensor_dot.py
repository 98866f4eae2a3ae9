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
from ..tensor_dots import (
    MOST_ROWS,
    QUARTERS,
    accumulator_tile,
    accumulator_unit,
    described_dot,
    move_key,
)
from ..tiles import TileValue
from .base import TileOp, any_tile_of, check_indices
from .tcgen05 import tensor_product
from .warpgroup_dot import AwaitedProduct

if TYPE_CHECKING:
    from tilec.isa.described_product import DescribedProduct

    from ..matrix_operands import MatrixOperand

_HALF = 16
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
        groups = (1, 2) if in_memory else (1,)
        if found.group not in groups or found.stationary or (found.a == "descriptor") != in_memory:
            where = "shared" if in_memory else "tensor"
            tile = "" if in_memory else ", where a tile is stored"
            ctas = "one CTA or a pair" if in_memory else "one CTA"
            raise TilecError(
                f"is made of products of {ctas} with A in {where} memory{tile}, unlike {name}"
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
    def group(self) -> int:
        """CTAs that compute it together, 1 or 2."""
        return self.key.group

    @property
    def matrix_shape(self) -> tuple[int, int]:
        """Rows and columns of D that an instruction computes in each CTA."""
        product = self.key
        d = product.operand("d")
        return d.rows // product.group, d.cols

    def _ctas_of(self, name: str) -> int:
        """CTAs in whose memory parts of an operand lie: of B halves, if it is of a pair."""
        return self.group if name == "b" else 1

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
        halves = d.type.bits == _HALF
        return accumulator_tile(self.matrix_shape, rows, cols, self.grid, halves=halves)

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
        halves = d.type.bits == _HALF
        return accumulator_unit(self.matrix_shape, cols // self.grid[1], halves=halves)

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

    With a `form` of `cta_group::2` both CTAs of a cluster of two execute it, each for its own rows:
    `a` has these, of whole 128 rows, and `b` half of the columns of D, the first half in the CTA of
    rank 0.
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
    FIXED = 1
    """Operands in front of the number of an accumulator, of several in a memref of rank 5."""
    HELD = tuple[str, ...](("d",))
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
        """Matrices along M and N, and rows and columns of each; of a pair those of one CTA."""
        m, n, rows, cols = ir.MemRefType(self.operands[self.MEMORY].type).shape[-4:]
        return m, n, rows // tensor_buffer(self.operands[self.MEMORY], "buffer").group, cols

    def move(self, columns: int, *, store: bool) -> str:
        """The instruction by which a warp moves a fragment of it.

        Args:
            columns: of the fragment, which is no more than `unit`.
            store: whether it stores.

        Raises:
            TilecError: if there is none.
        """
        rows = self.matrices[2]
        return move_key(rows, columns, store=store, packed=self.packed, halves=self.halves)

    @property
    def halves(self) -> bool:
        """Whether it is an accumulator of 16 bits, each element in a column of 32."""
        buffer = tensor_buffer(self.operands[self.MEMORY], "buffer")
        return buffer.held == "d" and buffer.element_bits == _HALF

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
        columns = many * cols // self.grid[1]
        return accumulator_unit((rows, cols), columns, self.packed, halves=self.halves)

    def check(self) -> None:
        """Verify the buffer, the warps, and the tile with its layout."""
        type_ = self.operands[self.MEMORY].type
        buffer = tensor_buffer(self.operands[self.MEMORY], "buffer")
        stages = list(self.operands)[self.FIXED :]
        if ir.MemRefType(type_).rank != 4 + len(stages) or buffer.held not in self.HELD:
            what = "an accumulator" + " or left operand" * (len(self.HELD) > 1)
            several = ", of several that the index says" if stages else ""
            raise TilecError(f"is of the matrices of {what}, along M and N{several}: {type_}")
        check_indices(stages, min(len(stages), 1), f"one of the accumulators of {type_}")
        if buffer.group > 1 and (buffer.held != "d" or buffer.rows != 2 * MOST_ROWS):
            raise TilecError(
                f"is of a pair of CTAs; legal: accumulators of {2 * MOST_ROWS} rows, not {type_}"
            )
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
        layout = accumulator_tile((rows, cols), *shape, self.grid, self.packed, halves=self.halves)
        if isinstance(tile, TileValue) and tile.layout != layout:
            raise TilecError(f"moves a tile of the layout '{layout}', not '{tile.layout}'")


class TensorLoadOp(AccumulatorMoveOp, name="tensor_load"):
    """Load an accumulator from tensor memory to registers, complete with the result.

    A memref of matrices along M and N, of M and N of an instruction each; with an index one of
    several such accumulators. All that has written there is done, and this thread has waited for
    it.
    """

    assembly_format = "$source (`[` $stage^ `]`)? attr-dict `:` type($source) `->` type($tile)"
    inferred_types = {"stage": "index"}

    SEMANTICS = Semantics(
        scope=Scope.WARP,
        effects=(Touch(Access.READ, None, 0), Touch(Access.ORDER, Resource.TENSOR)),
        varies=Variation.AS_OPERANDS,
    )

    source: ext.Operand[Any]
    stage: Sequence[ext.Operand[Any]]
    warps: Any
    tile: ext.Result[Any]

    @property
    def held(self) -> Value:
        """The result."""
        return self.results[0]


class TensorStoreOp(AccumulatorMoveOp, name="tensor_store"):
    """Store a tile to an accumulator or left operand in tensor memory; done when the op ends."""

    assembly_format = (
        "$tile `,` $target (`[` $stage^ `]`)? attr-dict `:` type($tile) `,` type($target)"
    )
    inferred_types = {"stage": "index"}

    MEMORY = 1
    FIXED = 2
    HELD = tuple[str, ...](("d", "a"))
    SEMANTICS = Semantics(
        scope=Scope.WARP,
        effects=(Touch(Access.WRITE, None, 1), Touch(Access.ORDER, Resource.TENSOR)),
    )

    tile: ext.Operand[Any]
    target: ext.Operand[Any]
    stage: Sequence[ext.Operand[Any]]
    warps: Any

    @property
    def held(self) -> Value:
        """Operand 0."""
        return self.operands[0]

"""Whether one thread's `tcgen05.mma` can compute a product of tiles, and by which."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import prod
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from tilec.dialects.semantics import Spread
from tilec.dialects.tile.ops import DotOp, DotScaledOp, LoadOp
from tilec.dialects.tile.ops.dots import dot_values, is_of_tensor_memory
from tilec.dialects.tile.ops.tcgen05 import tensor_product
from tilec.dialects.tile.signs import FLAGS
from tilec.dialects.tile.tensor_dots import (
    MOST_ROWS,
    QUARTERS,
    accumulator_tile,
    described_dot,
    dot_types,
)
from tilec.dialects.tile.tiles import PlainTile, bits_of
from tilec.ir.aliases import Value
from tilec.ir.attributes import attribute
from tilec.ir.mlir import ir, scf
from tilec.isa import LANES, Target, TilecError
from tilec.isa.wording import counted

from ..analysis.costs import BESIDES
from ..analysis.uniformity import Uniformity, control_of
from ..hopper.operand_buffers import OperandBuffer
from ..hopper.wgmma_choice import loaded_operand, tile_of
from ..kernel_pass import Kernel
from ..layouts.tile_classes import plain
from .scale_factors import check_factors, factor_buffer, factor_columns

if TYPE_CHECKING:
    from tilec.isa.described_product import DescribedProduct
    from tilec.isa.tensor_products import TensorProduct

_KINDS = ("f16", "f8f6f4", "tf32", "i8")
_SCALED_KINDS = tuple(
    f"{kind}.block_scale.{blocks}"
    for kind, blocks in (("mxf4", "block32"), ("mxf4nvf4", "block16"), ("mxf8f6f4", "block32"))
)
_TURNING = (8, 16)
"""Bits of elements that descriptors tell along M and N."""
_WORD, _HALF = 32, 16


TensorProductOfTiles: TypeAlias = DotOp | DotScaledOp
"""What `tcgen05.mma` computes of a CTA's tiles."""


class TensorChoice(NamedTuple):
    """How one thread's instructions compute a product.

    Attributes:
        key: the instruction.
        types: of D, A and B.
        product: what each instruction computes.
        warps: that load the sums, along M and along N.
        buffers: of each operand the load that fills it, and how it lies in shared memory.
        columns: of tensor memory that the accumulator, A and scale factors take.
        factor_columns: of those, what scale factors take.
    """

    key: TensorProduct
    types: str
    product: DescribedProduct
    warps: tuple[int, int]
    buffers: dict[str, tuple[LoadOp, OperandBuffer]]
    columns: int
    factor_columns: int = 0

    @property
    def instruction(self) -> str:
        """The instruction's key."""
        return self.key.ptx


def chooser(kernel: Kernel, target: Target) -> Callable[[TensorProductOfTiles], TensorChoice]:
    """How the products of a kernel are computed, as `choose` says."""
    uniformity = Uniformity(kernel.function)
    return lambda dot: choose(dot, kernel.warps, target, uniformity)


def choose(
    dot: TensorProductOfTiles, warps: int, target: Target, uniformity: Uniformity
) -> TensorChoice:
    """The `tcgen05.mma` for a product of tiles without layouts.

    Args:
        dot: the product; a `form` that it has stays, and so do its `warps`.
        warps: of the CTA.
        target: what has the instructions.
        uniformity: of the kernel.

    Raises:
        TilecError: if there is none, saying why.
    """
    tiles = {name: tile_of(value) for name, value in dot_values(dot).items()}
    _check_control(dot, uniformity)
    unsigned = tuple(name for name, flag in FLAGS.items() if flag in dot.attributes)
    key, types = _instruction(dot, tiles, unsigned, target)
    values = dot_values(dot)
    buffers = {}
    with _of("A"):
        found = _left(dot, values["a"], key, uniformity)
    if found is None:
        key = tensor_product(_in_tensor(key), scaled=False)
    else:
        buffers["a"] = found
    with _of("B"):
        buffers["b"] = loaded_operand("b", values["b"], uniformity, _TURNING)
    rows, cols = tiles["d"].shape
    flags = tuple(f"transpose_{n}" for n, (_, buffer) in buffers.items() if buffer.transposed)
    product = described_dot(key, types, (rows, cols), flags)
    _check_packing(product, tiles)
    step, depth = product.operand("b").rows, tiles["b"].shape[0]
    if depth % step:
        raise TilecError(f"{depth} of K are not a multiple of the {step} of {product.ptx}")
    grid = _grid(dot, tiles["d"], product, warps)
    _check_registers(tiles["d"], warps, target)
    columns, factors = prod(tiles["d"].shape) // product.operand("d").rows, 0
    if found is None:
        packed = _WORD // bits_of(tiles["a"].element)
        accumulator_tile((MOST_ROWS, depth), rows, depth, grid, packed)
        columns += rows // MOST_ROWS * depth // packed
    for name in (name for name in ("sfa", "sfb") if name in values):
        with _of(name):
            buffers[name] = factor_buffer(name, values[name], uniformity)
        factors += factor_columns(buffers[name][1])
    return TensorChoice(key, types, product, grid, buffers, columns + factors, factors)


def _left(
    dot: TensorProductOfTiles, value: Value, key: TensorProduct, uniformity: Uniformity
) -> tuple[LoadOp, OperandBuffer] | None:
    """How A lies in shared memory; None if it is stored to tensor memory.

    Raises:
        TilecError: if it does neither.
    """
    if key.a == "tensor":
        return None
    try:
        return loaded_operand("a", value, uniformity, _TURNING)
    except TilecError:
        tile, pinned = tile_of(value), "form" in dot.attributes
        if pinned or key.scaled or tile.shape[0] % MOST_ROWS or bits_of(tile.element) > _HALF:
            raise
        return None


def _in_tensor(key: TensorProduct) -> str:
    """The instruction with A in tensor memory."""
    return key.ptx.replace(".a::descriptor", ".a::tensor")


@contextmanager
def _of(name: str) -> Iterator[None]:
    """Let errors say what operand they are of."""
    try:
        yield
    except TilecError as error:
        raise TilecError(f"{name} {error}") from None


def dots_of(kernel: Kernel) -> list[TensorProductOfTiles]:
    """The products that may be of tensor memory: of level 1, and naming no other instruction."""
    dots: list[TensorProductOfTiles] = [*kernel.named(DotOp), *kernel.named(DotScaledOp)]
    found = [dot for dot in dots if plain(dot.d) is not None]
    return [dot for dot in found if "form" not in dot.attributes or is_of_tensor_memory(dot)]


def _check_packing(product: DescribedProduct, tiles: dict[str, PlainTile]) -> None:
    """Check that memory holds elements as the instruction reads them."""
    for name in "ab":
        bits, container = bits_of(tiles[name].element), product.operand(name).container
        if bits != container:
            raise TilecError(
                f"{name.upper()} has elements of {bits} bits in memory, which {product.ptx} reads "
                f"from {container} each"
            )


def _check_control(dot: TensorProductOfTiles, uniformity: Uniformity) -> None:
    """Check that all threads come to a product, as often as loops around it say."""
    if control_of(uniformity, dot, Spread.CTA) is not None:
        raise TilecError("not all threads of the CTA reach it")
    parent = dot.operation.parent
    while parent is not None and parent.name != "gpu.func":
        if not isinstance(parent.opview, scf.ForOp):
            raise TilecError(
                f"it is in an '{parent.name}'; only scf.for carries the phase of its mbarrier"
            )
        parent = parent.operation.parent


def _instruction(
    dot: TensorProductOfTiles,
    tiles: dict[str, PlainTile],
    unsigned: tuple[str, ...],
    target: Target,
) -> tuple[TensorProduct, str]:
    """The instruction of the target that has the types: the one that is named, if one is."""
    scaled = isinstance(dot, DotScaledOp)
    if is_of_tensor_memory(dot):
        key = tensor_product(attribute(dot, "form", ir.StringAttr).value, scaled=scaled)
        if key.group != 1 or key.stationary or (scaled and key.a != "descriptor"):
            raise TilecError(f"{key.ptx} is not for one CTA with B in shared memory, and A there")
        return key, dot_types(key, tiles, unsigned)
    for kind in _SCALED_KINDS if scaled else _KINDS:
        key = tensor_product(f"tcgen05.mma.cta_group::1.kind::{kind}.a::descriptor", scaled=scaled)
        if key.min_ptx(target) is None:
            continue
        try:
            types = _of_words(dot_types(key, tiles, unsigned))
            if scaled:
                check_factors(key, types, tiles)
        except TilecError:
            continue
        return key, types
    types = " by ".join(str(tiles[name].element) for name in "ab")
    if scaled:
        k, each = tiles["b"].shape[0], tiles["sfa"].shape[1]
        raise TilecError(
            f"no tcgen05.mma of {target} multiplies {types} with {each} {tiles['sfa'].element} for "
            f"{k} of K; legal: 8-bit floats with an f8E8M0FNU for 32, f4E2M1FN with an f8E8M0FNU "
            "for 32 or an f8E4M3FN for 16"
        )
    raise TilecError(
        f"no tcgen05.mma of {target} multiplies {types}, giving {tiles['d'].element} of 32 bits"
    )


def _of_words(types: str) -> str:
    """Types of which those of D have a column each."""
    if types.startswith("f16."):
        raise TilecError("sums of 16 bits are not loaded as tiles")
    return types


def _grid(
    dot: TensorProductOfTiles, tile: PlainTile, product: DescribedProduct, warps: int
) -> tuple[int, int]:
    """Warps along M and N that load the sums: one matrix of M rows for each four, if there are."""
    rows, cols = tile.shape
    d = product.operand("d")
    if warps % QUARTERS:
        raise TilecError(
            f"{counted(warps, 'warp')} do not load all lanes of tensor memory: legal are multiples "
            f"of {QUARTERS}"
        )
    if "warps" in dot.attributes:
        along_m, along_n = attribute(dot, "warps", ir.DenseI64ArrayAttr)
        if along_m % QUARTERS or along_m * along_n != warps:
            raise TilecError(f"warps are pinned to {along_m}x{along_n}")
    else:
        along_m = min(warps, rows // d.rows * QUARTERS)
        along_n = warps // along_m
    if d.rows not in (MOST_ROWS // 2, MOST_ROWS):
        raise TilecError(f"{rows} rows are neither 64 nor a multiple of {MOST_ROWS}")
    accumulator_tile((d.rows, d.cols), rows, cols, (along_m, along_n))
    return along_m, along_n


def _check_registers(tile: PlainTile, warps: int, target: Target) -> None:
    """Check that threads have registers for the sums, when they have loaded them."""
    threads = warps * LANES
    held = prod(tile.shape) * bits_of(tile.element) // _WORD // threads
    entry = target.registers_at_entry(threads)
    if held + BESIDES > entry:
        raise TilecError(
            f"its sums take {counted(held, 'register')} of each of {threads} threads, which have "
            f"{entry}"
        )

"""Whether one thread's `tcgen05.mma` can compute a product of tiles, and by which."""

from __future__ import annotations

from collections.abc import Iterable
from math import prod
from typing import TYPE_CHECKING, NamedTuple

from tilec.dialects.semantics import Spread
from tilec.dialects.tile.ops import DotOp, LoadOp
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
from tilec.ir.aliases import Op, Value
from tilec.ir.attributes import attribute
from tilec.ir.mlir import ir, scf
from tilec.isa import LANES, Target, TilecError
from tilec.isa.wording import counted

from ..analysis.costs import BESIDES
from ..analysis.uniformity import Uniformity, control_of
from ..hopper.operand_buffers import OperandBuffer
from ..hopper.wgmma_choice import loaded_operand
from ..layouts.tile_classes import plain

if TYPE_CHECKING:
    from tilec.isa.described_product import DescribedProduct
    from tilec.isa.tensor_products import TensorProduct

_KINDS = ("f16", "f8f6f4", "tf32", "i8")
_TURNING = (8, 16)
"""Bits of elements that descriptors tell along M and N."""
_WORD = 32


class TensorChoice(NamedTuple):
    """How one thread's instructions compute a product.

    Attributes:
        key: the instruction.
        types: of D, A and B.
        product: what each instruction computes.
        warps: that load the sums, along M and along N.
        buffers: of each operand the load that fills it, and how it lies in shared memory.
        columns: of tensor memory that the accumulator takes.
    """

    key: TensorProduct
    types: str
    product: DescribedProduct
    warps: tuple[int, int]
    buffers: dict[str, tuple[LoadOp, OperandBuffer]]
    columns: int


def choose(dot: DotOp, warps: int, target: Target, uniformity: Uniformity) -> TensorChoice:
    """The `tcgen05.mma` for a product of tiles without layouts.

    Args:
        dot: the product; a `form` that it has stays, and so do its `warps`.
        warps: of the CTA.
        target: what has the instructions.
        uniformity: of the kernel.

    Raises:
        TilecError: if there is none, saying why.
    """
    tiles = {name: _tile(value) for name, value in dot_values(dot).items()}
    _check_control(dot, uniformity)
    unsigned = tuple(name for name, flag in FLAGS.items() if flag in dot.attributes)
    key, types = _instruction(dot, tiles, unsigned, target)
    buffers = {}
    for name, value in zip("ab", list(dot.operands)[:2], strict=True):
        try:
            buffers[name] = loaded_operand(name, value, uniformity, _TURNING)
        except TilecError as error:
            raise TilecError(f"{name.upper()} {error}") from None
    rows, cols = tiles["d"].shape
    flags = tuple(f"transpose_{n}" for n, (_, buffer) in buffers.items() if buffer.transposed)
    product = described_dot(key, types, (rows, cols), flags)
    step, depth = product.operand("b").rows, tiles["b"].shape[0]
    if depth % step:
        raise TilecError(f"{depth} of K are not a multiple of the {step} of {product.ptx}")
    grid = _grid(dot, tiles["d"], product, warps)
    _check_registers(tiles["d"], warps, target)
    columns = prod(tiles["d"].shape) // product.operand("d").rows
    return TensorChoice(key, types, product, grid, buffers, columns)


def dots_of(ops: Iterable[Op]) -> list[DotOp]:
    """The products that may be of tensor memory: of level 1, and naming no other instruction."""
    found = [op for op in ops if isinstance(op, DotOp) and plain(op.d) is not None]
    return [dot for dot in found if "form" not in dot.attributes or is_of_tensor_memory(dot)]


def _tile(value: Value) -> PlainTile:
    found = plain(value)
    assert found is not None
    return found


def _check_control(dot: DotOp, uniformity: Uniformity) -> None:
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
    dot: DotOp, tiles: dict[str, PlainTile], unsigned: tuple[str, ...], target: Target
) -> tuple[TensorProduct, str]:
    """The instruction of the target that has the types: the one that is named, if one is."""
    if is_of_tensor_memory(dot):
        key = tensor_product(attribute(dot, "form", ir.StringAttr).value, scaled=False)
        if key.group != 1 or key.stationary or key.a != "descriptor":
            raise TilecError(f"{key.ptx} is not for one CTA with A and B in shared memory")
        return key, dot_types(key, tiles, unsigned)
    for kind in _KINDS:
        key = tensor_product(f"tcgen05.mma.cta_group::1.kind::{kind}.a::descriptor", scaled=False)
        if key.min_ptx(target) is None:
            continue
        try:
            return key, _of_words(dot_types(key, tiles, unsigned))
        except TilecError:
            continue
    types = " by ".join(str(tiles[name].element) for name in "ab")
    raise TilecError(
        f"no tcgen05.mma of {target} multiplies {types}, giving {tiles['d'].element} of 32 bits"
    )


def _of_words(types: str) -> str:
    """Types of which those of D have a column each."""
    if types.startswith("f16."):
        raise TilecError("sums of 16 bits are not loaded as tiles")
    return types


def _grid(dot: DotOp, tile: PlainTile, product: DescribedProduct, warps: int) -> tuple[int, int]:
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

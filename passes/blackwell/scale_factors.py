"""Scale factors of products in tensor memory: how they lie in shared memory, and their copies."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from tilec.dialects.tile.emit import emit, emit_effect, i64
from tilec.dialects.tile.ops import AllocTensorOp, LoadOp, Tcgen05CpOp, TensorDotScaledOp
from tilec.dialects.tile.ops.tensor_dot import TensorDot
from tilec.dialects.tile.ops.tensor_dot_scaled import FACTOR_NAMES
from tilec.dialects.tile.scale_images import FACTORS, image_rows, image_space
from tilec.dialects.tile.stored import stored_elements
from tilec.dialects.tile.tensor_dots import MOST_ROWS
from tilec.dialects.tile.tiles import PlainTile, bits_of
from tilec.ir.aliases import Op, Value
from tilec.ir.mlir import ir
from tilec.ir.types import element_of, memref_of
from tilec.isa import TilecError, element_type
from tilec.isa.wording import counted

from ..analysis.uniformity import Uniformity
from ..emit import add_constant, index_constant
from ..hopper.operand_buffers import OperandBuffer
from ..hopper.wgmma_choice import tile_of, whole_load
from ..kernel_pass import Kernel

if TYPE_CHECKING:
    from tilec.isa.tensor_products import TensorProduct

_COPY = "tcgen05.cp.cta_group::{}.32x128b.warpx4"
_WORD = 32
_ROWS_OF_COLUMN = 32
"""Rows whose four factors a column of tensor memory holds."""


def check_factors(key: TensorProduct, types: str, tiles: dict[str, PlainTile]) -> None:
    """Check that scale factors are of the type that an instruction takes, and of as many elements.

    Raises:
        TilecError: if they are not.
    """
    descriptor = key.describe(types.split("."))
    legal = element_type(descriptor.scale).mlir
    wanted = tiles["b"].shape[0] // descriptor.shape.k * key.chunks
    for name, found in (("sfa", tiles["sfa"].shape[1]), ("sfb", tiles["sfb"].shape[0])):
        if str(tiles[name].element) != legal or found != wanted:
            raise TilecError(f"{name} is not of {wanted} {legal} along K")


def factor_buffer(name: str, value: Value, uniformity: Uniformity) -> tuple[LoadOp, OperandBuffer]:
    """The load of an operand's scale factors, and how these lie in shared memory.

    Args:
        name: `sfa` or `sfb`.
        value: the tile, without a layout.
        uniformity: of the kernel.

    Raises:
        TilecError: if nothing loads them whole, or a row's are not contiguous, or not fours.
    """
    load, tile = whole_load(value, uniformity), tile_of(value)
    if str(element_of(load.memref.type)) not in stored_elements(tile.element):
        raise TilecError(f"lies in memory as {load.memref.type}")
    rows, count = tile.shape if name == "sfa" else reversed(tile.shape)
    if load.is_transposed != (name == "sfb"):
        of = "rows of A" if name == "sfa" else "columns of B"
        raise TilecError(f"is contiguous along {of}; scale factors must be along K")
    if count % FACTORS:
        raise TilecError(
            f"has {counted(count, 'factor')} along K; tcgen05.cp copies whole {FACTORS}s: let the "
            "step along K be larger"
        )
    whole = image_rows(rows)
    shape = count // FACTORS, whole, FACTORS
    space = image_space(whole).swizzle.value
    return load, OperandBuffer(shape, space, False, whole * count, whole > rows)


def factor_columns(buffer: OperandBuffer) -> int:
    """Columns of tensor memory that scale factors take."""
    fours, rows, _ = buffer.shape
    return fours * rows // _ROWS_OF_COLUMN


def stages_of_factors(kernel: Kernel, loop: Op) -> int:
    """Stages of a loop's ring whose scale factors tensor memory has columns for, beside all else.

    As many as an SM has columns, and more than any ring has, if its products have none.

    Args:
        kernel: the kernel.
        loop: whose products read the stages.
    """
    from tilec.isa.tensor_memory import COLUMNS  # noqa: PLC0415 (for Blackwell only)

    left, each = COLUMNS, 0
    for dot in kernel.named(TensorDot):
        left -= columns_of_sums(dot)
        factors = columns_of_factors(dot) if isinstance(dot, TensorDotScaledOp) else 0
        if dot.operation.block.owner.operation == loop.operation:
            each += factors
        else:
            left -= factors
    return left // each if each else COLUMNS


def columns_of_factors(dot: TensorDotScaledOp) -> int:
    """Columns of tensor memory that a product's scale factors take, of a step of its loop."""
    held = (memref_of(dot.operands[dot.MATRICES[name]]) for name in FACTOR_NAMES)
    return sum(type_.shape[-3] * type_.shape[-2] // _ROWS_OF_COLUMN for type_ in held)


def columns_of_sums(dot: TensorDot) -> int:
    """Columns of tensor memory that a product's sums take, and its left operand if it is there."""
    rows, cols = ir.RankedTensorType(dot.d.type).shape
    columns = rows * cols // dot.matrix_shape[0]
    if "a" in dot.tiles():
        left = ir.RankedTensorType(dot.a.type)
        columns += prod(left.shape) // MOST_ROWS * bits_of(left.element_type) // _WORD
    return columns


class ScaleFactors:
    """The scale factors of one product in tensor memory, as many as a step of its loop takes.

    A buffer is of matrices along K, each of four factors of a row, and along M or N, each of the
    rows of an instruction. Of a product that reads stages of a ring each stage has columns of its
    own, as nothing orders a copy behind the products before; then only the leading index differs.

    Args:
        dot: the product; the buffers are made where ops are inserted.
        stages: of the ring; 1 where threads wait for the products of each step.
    """

    def __init__(self, dot: TensorDotScaledOp, stages: int = 1) -> None:
        self._dot = dot
        self._stages = stages
        rows, cols = dot.matrix_shape
        self._buffers: dict[str, Value] = {}
        space = ir.Attribute.parse('#tile.tensor<"scale">')
        group = {"cta_group": i64(dot.group)} if dot.group > 1 else {}
        for name, each in zip(FACTOR_NAMES, map(image_rows, (rows, cols)), strict=True):
            held = memref_of(self._image(name))
            shape = [stages, held.shape[-3], held.shape[-2] // each, each, FACTORS]
            type_ = ir.MemRefType.get(shape[stages == 1 :], held.element_type, memory_space=space)
            self._buffers[name] = emit(AllocTensorOp, [], type_, **group)

    def _image(self, name: str) -> Value:
        return self._dot.operands[self._dot.MATRICES[name]]

    def _stage(self, dot: TensorDotScaledOp) -> list[Value]:
        """The leading index of the buffers, if they have one: that of the stage which is read."""
        if self._stages == 1:
            return []
        return dot.indices_of(FACTOR_NAMES[0])[:1]

    def copy(self, dot: TensorDotScaledOp) -> None:
        """Copy all to tensor memory, by one thread, in front of its products.

        Args:
            dot: the product, which says where its factors begin.
        """
        zero, form = index_constant(0), ir.StringAttr.get(_COPY.format(dot.group))
        piece = image_rows(1)
        for name, buffer in self._buffers.items():
            fours, many, each, _ = memref_of(buffer).shape[-4:]
            *leading, four, row, col = dot.indices_of(name)
            for number in range(fours):
                for first in range(0, many * each, piece):
                    matrix, inside = divmod(first, each)
                    at = [*leading, add_constant(four, number), add_constant(row, first), col]
                    to = [index_constant(number), index_constant(matrix), index_constant(inside)]
                    given = [dot.operands[dot.MATRICES[name]], buffer, *at]
                    given += [*self._stage(dot), *to, zero]
                    emit_effect(Tcgen05CpOp, given, dot.location, form=form)

    @property
    def buffers(self) -> list[Value]:
        """Those of A and of B."""
        return list(self._buffers.values())

    def indices(self, dot: TensorDotScaledOp, number: int, step: int) -> list[Value]:
        """Where an instruction's begin in the buffer of A or B.

        Args:
            dot: the product.
            number: of the instruction along M or N.
            step: of it along K.
        """
        product = dot.key
        assert product.scaling is not None
        four, byte = divmod(step * product.scaling.chunks, FACTORS)
        zero = index_constant(0)
        inside = [index_constant(four), index_constant(number), zero, index_constant(byte)]
        return [*self._stage(dot), *inside]

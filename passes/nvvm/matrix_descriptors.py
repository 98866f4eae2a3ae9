"""Matrix descriptors of operands in shared memory, as words of a program that runs."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import TYPE_CHECKING

from tilec.ir.aliases import Value
from tilec.ir.mlir import ir
from tilec.ir.ops import arith, llvm
from tilec.ir.types import i32, i64
from tilec.isa import TilecError

from .indices import Index, split

if TYPE_CHECKING:
    from tilec.dialects.tile.matrix_operands import MatrixOperand


def descriptor_of(
    matrix: MatrixOperand, fixed: int, memref: Value, base: Value, indices: Sequence[Value]
) -> Value:
    """The descriptor of an operand, an i64.

    Args:
        matrix: the operand.
        fixed: what the descriptor says besides where the operand starts.
        memref: what it lies in.
        base: a pointer to that.
        indices: where it begins there.

    Raises:
        TilecError: if it is not known to begin where a descriptor can tell.
    """
    from tilec.layout.descriptors import ADDRESSES  # noqa: PLC0415 (for Hopper only)
    from tilec.layout.swizzle import CHUNK_BYTES  # noqa: PLC0415

    buffer = matrix.buffer
    *leading, row, col = (split(index) for index in indices)
    line = buffer.cols * buffer.element_bytes
    chunk = CHUNK_BYTES // buffer.element_bytes
    _check_multiple(matrix.name, "row", row, 8)
    _check_multiple(matrix.name, "column", col, chunk)
    shape = ir.MemRefType(memref.type).shape
    terms = [(row, line // CHUNK_BYTES)]
    stride = buffer.matrix_bytes // CHUNK_BYTES
    for number, extent in zip(reversed(leading), reversed(shape[:-2]), strict=True):
        terms.append((number, stride))
        stride *= extent
    # What varies is in the low word, and never leaves it: starts have fourteen bits.
    address = llvm.and_(llvm.ptrtoint(base, i32()), llvm.constant_i32(ADDRESSES - 1))
    parts = [llvm.lshr(address, llvm.constant_i32(CHUNK_BYTES.bit_length() - 1))]
    constant = col.constant // chunk
    for index, scale in terms:
        constant += index.constant * scale
        if index.value is not None:
            word = arith.index_castui(index.value, i32())
            parts.append(llvm.mul(word, llvm.constant_i32(scale)))
    if col.value is not None:
        word = arith.index_castui(col.value, i32())
        parts.append(llvm.lshr(word, llvm.constant_i32(chunk.bit_length() - 1)))
    start = llvm.or_(llvm.zext(reduce(llvm.add, parts), i64()), llvm.constant_i64(fixed))
    # Of bits that it knows LLVM would make words of further constants, each of its own registers.
    start = llvm.opaque_i64(start)
    return llvm.add(start, llvm.constant_i64(constant)) if constant else start


def _check_multiple(name: str, what: str, index: Index, wanted: int) -> None:
    if index.constant % wanted or (index.value is not None and index.multiple % wanted):
        raise TilecError(
            f"the {what} where operand {name} starts is not known to be a multiple of {wanted}"
        )

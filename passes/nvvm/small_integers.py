"""Integers of 4 and 8 bits as f16, two at a time.

They become mantissa bits of 1024, a sign bit turned over, which adds an offset; what is
subtracted then leaves the integer. All of it is exact.
"""

from __future__ import annotations

from tilec.ir.aliases import Value
from tilec.ir.mlir import ir
from tilec.ir.ops import arith, llvm
from tilec.ir.types import i32

from .lowering import Lowering
from .narrow_floats import constant, f16x2, integer
from .registers import bitcast

_HIGH_BYTE = 0x64
"""Of the f16 1024, whose units are its mantissa's bits; the low byte is 0."""
_OTHER = 4
"""The selector of `prmt` for the low byte of its second operand."""


def widen_integers(
    kernel: Lowering, word: Value, bits: int, pairs: int, *, signed: bool
) -> list[Value]:
    """The lowest integers of an i32, each two as `vector<2xf16>`.

    Args:
        kernel: the kernel.
        word: the integers, low to high.
        bits: 4 or 8, of each.
        pairs: how many twos.
        signed: whether they have a sign.
    """
    if signed:  # the sign bits of all of them
        flipped = 0x88888888 if bits == 4 else 0x80808080
        word = integer(arith.xori, word, flipped - (1 << 32))
    widen = _nibbles if bits == 4 else _bytes
    return [widen(kernel, word, pair, 1 << (bits - 1) if signed else 0) for pair in range(pairs)]


def _bytes(kernel: Lowering, word: Value, pair: int, offset: int) -> Value:
    """Two bytes as the low bytes of 1024, less that."""
    raised = _prmt(kernel, word, 2 * pair, 2 * pair + 1)
    bias = 1024.0 + offset
    return arith.subf(bitcast(raised, f16x2()), _pair(bias, bias))


def _nibbles(kernel: Lowering, word: Value, pair: int, offset: int) -> Value:
    """Both nibbles of a byte, the upper one as sixteen times itself until the end."""
    raised = integer(arith.andi, _prmt(kernel, word, pair, pair), 0xFFF0FF0F - (1 << 32))
    return llvm.fma(
        bitcast(raised, f16x2()), _pair(1.0, 1 / 16), _pair(-1024.0 - offset, -64.0 - offset)
    )


def _prmt(kernel: Lowering, word: Value, low: int, high: int) -> Value:
    """Two bytes of a word in the low bytes of two times 1024."""
    selector = low | _OTHER << 4 | high << 8 | _OTHER << 12
    operands = [word, constant(_HIGH_BYTE), constant(selector)]
    return kernel.intrinsic("llvm.nvvm.prmt", operands, i32())


def _pair(low: float, high: float) -> Value:
    """A constant `vector<2xf16>`."""
    numbers = [ir.FloatAttr.get(ir.F16Type.get(), number) for number in (low, high)]
    return arith.constant(f16x2(), ir.DenseElementsAttr.get(numbers, f16x2()))

"""Integers of 4 and 8 bits as f16, two at a time.

They become mantissa bits of 1024, a sign bit turned over, which adds an offset; what is
subtracted then leaves the integer. All of it is exact.
"""

from __future__ import annotations

from typing import Any

from tilec.ir.mlir import ir

from ..emit import create
from .kernel import Kernel
from .narrow_floats import constant, f16x2, integer
from .registers import bitcast, i32

_HIGH_BYTE = 0x64
"""Of the f16 1024, whose units are its mantissa's bits; the low byte is 0."""
_OTHER = 4
"""The selector of `prmt` for the low byte of its second operand."""


def widen_integers(kernel: Kernel, word: Any, bits: int, pairs: int, *, signed: bool) -> list[Any]:
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
        word = integer("xori", word, flipped - (1 << 32))
    widen = _nibbles if bits == 4 else _bytes
    return [widen(kernel, word, pair, 1 << (bits - 1) if signed else 0) for pair in range(pairs)]


def _bytes(kernel: Kernel, word: Any, pair: int, offset: int) -> Any:
    """Two bytes as the low bytes of 1024, less that."""
    raised = _prmt(kernel, word, 2 * pair, 2 * pair + 1)
    bias = 1024.0 + offset
    return create("arith.subf", [bitcast(raised, f16x2()), _pair(bias, bias)], f16x2())


def _nibbles(kernel: Kernel, word: Any, pair: int, offset: int) -> Any:
    """Both nibbles of a byte, the upper one as sixteen times itself until the end."""
    raised = integer("andi", _prmt(kernel, word, pair, pair), 0xFFF0FF0F - (1 << 32))
    terms = [bitcast(raised, f16x2()), _pair(1.0, 1 / 16), _pair(-1024.0 - offset, -64.0 - offset)]
    return create("llvm.intr.fma", terms, f16x2())


def _prmt(kernel: Kernel, word: Any, low: int, high: int) -> Any:
    """Two bytes of a word in the low bytes of two times 1024."""
    selector = low | _OTHER << 4 | high << 8 | _OTHER << 12
    operands = [word, constant(_HIGH_BYTE), constant(selector)]
    return kernel.intrinsic("llvm.nvvm.prmt", operands, i32())


def _pair(low: float, high: float) -> Any:
    """A constant `vector<2xf16>`."""
    numbers = [ir.FloatAttr.get(ir.F16Type.get(), number) for number in (low, high)]
    value = ir.DenseElementsAttr.get(numbers, f16x2())
    return create("arith.constant", [], f16x2(), value=value)

"""`tile.cast` of narrow floats, tf32 and small integers: by pairs, through f16 and f32.

From any narrow type to f16 a conversion is exact, and so it is on to f32. The target's `cvt` is
taken where it has one (`tilec.isa.conversions`), else `narrow_floats`.
"""

from __future__ import annotations

from dataclasses import replace

from tilec.dialects.tile.casts import NarrowElement, check_cast, is_special, narrow_element
from tilec.dialects.tile.ops import CastOp
from tilec.dialects.tile.tiles import Element, TileValue
from tilec.ir.aliases import Number, Type, Value
from tilec.ir.mlir import ir
from tilec.ir.ops import arith, llvm
from tilec.ir.types import element_of, i16, i32, number_of, width_of
from tilec.ir.types import integer as integer_type
from tilec.isa.conversions import Conversion, conversion

from ..fragments.expansion import Expansion, Values
from . import elementwise
from .lowering import Lowering
from .narrow_floats import (
    constant,
    f16x2,
    integer,
    narrow,
    round_tf32,
    widen,
)
from .rearrangement import rearranged
from .registers import (
    Packing,
    bitcast,
    elements,
    fragment,
    packing_of,
    registers_of,
    vector,
)
from .small_integers import widen_integers

_ZERO_BYTE = 4
"""The selector of `prmt` for a byte of its second operand, here 0."""


class Casts:
    """Lowering of the casts of one kernel."""

    def __init__(self, kernel: Lowering) -> None:
        self._kernel = kernel

    def cast(self, op: CastOp, expansion: Expansion) -> list[Values]:
        """`tile.cast`."""
        operand, value = op.source, op.result
        source, result = fragment(operand), fragment(value)
        before, after = packing_of(operand), packing_of(value)
        held = expansion.values(operand)
        name, attributes = elementwise.function(op)
        # Upstream's op on a tensor allows more.
        check_cast(name, source.element, result.element, attributes)
        if name == "arith.bitcast":
            return [[bitcast(register, after.type) for register in held]]
        if name in ("arith.sitofp", "arith.uitofp") and _through_f16(source, result):
            bits, signed = before.element.width, name == "arith.sitofp"
            count = max(1, before.per_register // 2)
            pairs = [
                pair
                for word in _wholes(held, before)
                for pair in widen_integers(self._kernel, word, bits, count, signed=signed)
            ]
            return [self._given(pairs, result.element, after, source.registers)]
        is_nibble = 1 < before.element.width < 8
        if name in ("arith.extsi", "arith.extui") and is_nibble and after.bits <= 32:
            values = _extended(held, before, signed=name == "arith.extsi")
            return [registers_of([_resized(v, after.element) for v in values], after)]
        special = is_special(source.element) or is_special(result.element)
        if not special and name != "arith.convertf":
            return [elementwise.cast(name, attributes, held, before, after)]
        pairs = self._read(held, source.element, before)
        exact = not isinstance(source.element, ir.F32Type)
        return [self._given(pairs, result.element, after, source.registers, exact=exact)]

    def _read(self, held: list[Value], element: Element, packed: Packing) -> list[Value]:
        """The elements in pairs, as `vector<2xf16>` or `vector<2xf32>`."""
        small = narrow_element(element)
        if small is not None:
            return self._widened(held, small, packed)
        if isinstance(element, ir.FloatTF32Type):
            f32 = ir.F32Type.get()
            held = [bitcast(integer(arith.andi, value, -0x2000), f32) for value in held]
            packed = replace(packed, element=f32)
        count = len(held) * packed.per_register
        order = range(count) if count > 1 else [0, 0]  # one alone stands twice
        return rearranged(held, packed, order, Packing(packed.element, 2, len(order) // 2))

    def _widened(self, held: list[Value], small: NarrowElement, packed: Packing) -> list[Value]:
        form = conversion(f"{small.type}x2", "f16x2", self._kernel.target)
        if form is None:
            shift = small.container - small.shift - small.type.bits
            words = self._words(held, packed)
            moved = [integer(arith.shli, word, shift) if shift else word for word in words]
            return [widen(word, small.type) for word in moved]
        return [
            self._call(form, [_resized(codes, i16())], f16x2())
            for codes in (_compact(piece, small) for piece in _pieces(held, packed))
        ]

    def _words(self, held: list[Value], packed: Packing) -> list[Value]:
        """Each pair of elements as a word, the elements in the upper bits of its halves."""
        words: list[Value] = []
        bits = packed.element.width
        for whole in _wholes(held, packed):
            for pair in range(max(1, packed.per_register // 2)):
                low, high = (2 * pair, 2 * pair + 1) if bits == 8 else (pair, pair)
                selector = _ZERO_BYTE | low << 4 | _ZERO_BYTE << 8 | high << 12
                operands = [whole, constant(0), constant(selector)]
                word = self._kernel.intrinsic("llvm.nvvm.prmt", operands, i32())
                if bits == 4:  # one byte in both halves
                    lower = integer(arith.andi, integer(arith.shli, word, 4), 0xF000)
                    word = arith.ori(lower, integer(arith.andi, word, -(1 << 28)))
                words.append(word)
        return words

    def _given(
        self,
        pairs: list[Value],
        element: Element,
        packed: Packing,
        count: int,
        *,
        exact: bool = True,
    ) -> list[Value]:
        """The registers of the result.

        Args:
            pairs: the elements, as `vector<2xf16>`, `<2xbf16>` or `<2xf32>`.
            element: the result's element type.
            packed: how it lies in registers.
            count: elements; one less than in the pairs if it is one.
            exact: whether all of them are numbers of a type with no more mantissa than tf32.
        """
        small = narrow_element(element)
        if small is not None:
            return _registers([self._codes(pair, small) for pair in pairs], packed)
        is_tf32 = isinstance(element, ir.FloatTF32Type)
        wanted = ir.F32Type.get() if is_tf32 else number_of(element)
        pairs = [_converted(pair, wanted) for pair in pairs]
        held = Packing(_element(pairs[0]), 2, len(pairs))
        if not is_tf32:
            return rearranged(pairs, held, range(count), packed)
        values = elements(pairs, held)[:count]
        return [bitcast(v, i32()) if exact else self._tf32(v) for v in values]

    def _call(self, form: Conversion, arguments: list[Value], result: Type) -> Value:
        return self._kernel.intrinsic(form.intrinsic, arguments, result)

    def _tf32(self, value: Value) -> Value:
        form = conversion("f32", "tf32", self._kernel.target)
        return self._call(form, [value], i32()) if form is not None else round_tf32(value)

    def _codes(self, pair: Value, small: NarrowElement) -> Value:
        """A pair of codes side by side, an integer of twice the container's bits."""
        target, result = self._kernel.target, f"{small.type}x2"
        if pair.type == f16x2() and (form := conversion("f16x2", result, target)) is not None:
            return self._call(form, [pair], i16())
        low, high = _both(_converted(pair, ir.F32Type.get()))
        wide = integer_type(2 * small.container)
        form = conversion("f32", result, target)
        if form is None:
            codes = [narrow(value, small.type) for value in (low, high)]
        else:
            packed = self._call(form, [high, low], i16())
            if small.shift == 0:
                return _resized(packed, wide)
            packed = _resized(packed, i32())
            codes = [integer(arith.andi, packed, 0xF), integer(arith.shrui, packed, 4)]
        above = integer(arith.shli, codes[1], small.container)
        whole: Value = arith.ori(codes[0], above)
        whole = integer(arith.shli, whole, small.shift) if small.shift else whole
        return _resized(whole, wide)


def _through_f16(source: TileValue, result: TileValue) -> bool:
    """Whether f16 holds the integers, and the result is not an f64."""
    return width_of(source.element) in (4, 8) and width_of(result.element) <= 32


def _wholes(held: list[Value], packed: Packing) -> list[Value]:
    """Each register as an i32."""
    whole = integer_type(packed.bits)
    return [_resized(bitcast(register, whole), i32()) for register in held]


def _extended(held: list[Value], packed: Packing, *, signed: bool) -> list[Value]:
    """Integers of less than a byte as i32, by shifts."""
    width, shift = packed.element.width, arith.shrsi if signed else arith.shrui
    values: list[Value] = []
    for word in _wholes(held, packed):
        for at in range(packed.per_register):
            top = integer(arith.shli, word, 32 - width * (at + 1))
            values.append(integer(shift, top, 32 - width))
    return values


def _element(pair: Value) -> Number:
    return number_of(element_of(pair.type))


def _both(pair: Value) -> list[Value]:
    return elements([pair], Packing(_element(pair), 2, 1))


def _converted(pair: Value, element: Number) -> Value:
    """A pair of floats of 16 or 32 bits as another, rounded to nearest even."""
    held = _element(pair)
    if held == element:
        return pair
    if held.width == element.width:  # f16 and bf16: f32 holds both
        pair = _converted(pair, ir.F32Type.get())
    convert = arith.extf if _element(pair).width < element.width else arith.truncf
    return convert(pair, ir.VectorType.get([2], element))


def _pieces(held: list[Value], packed: Packing) -> list[Value]:
    """Each pair of elements as one integer."""
    if packed.per_register == 1:
        (value,) = held
        return [_resized(value, integer_type(2 * packed.bits))]
    count = packed.per_register // 2
    wide = Packing(integer_type(packed.bits // count), count, len(held))
    return elements([bitcast(register, wide.type) for register in held], wide)


def _registers(pieces: list[Value], packed: Packing) -> list[Value]:
    """The registers that hold pairs of elements, each pair one integer."""
    if packed.per_register == 1:
        (piece,) = pieces
        return [_resized(piece, packed.element)]
    count = packed.per_register // 2
    return [
        bitcast(vector(pieces[at : at + count]), packed.type) for at in range(0, len(pieces), count)
    ]


def _compact(piece: Value, small: NarrowElement) -> Value:
    """A pair of codes as `cvt` reads it: those of 4 bits in one byte."""
    if small.shift == 0:
        return piece
    wide = _resized(piece, i32())
    low = integer(arith.andi, integer(arith.shrui, wide, small.shift), 0xF)
    high = integer(arith.andi, integer(arith.shrui, wide, small.shift + 4), 0xF0)
    return arith.ori(low, high)


def _resized(value: Value, type_: Number) -> Value:
    """An integer of another width, its bits the low ones."""
    if value.type == type_:
        return value
    resize = llvm.zext if width_of(value.type) < type_.width else llvm.trunc
    return resize(value, type_)

"""A second, plain model: scalar loops over integers and fractions, written from the rules alone.

Nothing of tilec is used. Fragments are the ISA's formulas as printed (with the slips of the
document corrected), arithmetic is the published rule for one output element.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache
from typing import NamedTuple

import numpy as np

FORMATS = {
    # exponent bits, mantissa bits, infinity, NaN
    "f32": (8, 23, True, True),
    "tf32": (8, 10, True, True),
    "f16": (5, 10, True, True),
    "bf16": (8, 7, True, True),
    "e5m2": (5, 2, True, True),
    "e4m3": (4, 3, False, True),
    "e3m2": (3, 2, False, False),
    "e2m3": (2, 3, False, False),
    "e2m1": (2, 1, False, False),
}


class Number(NamedTuple):
    """A float: sign · significand · 2^exponent, the significand in [0, 2); or a special."""

    sign: int
    significand: Fraction
    exponent: int
    special: str = ""  # "", "inf", "nan"

    @property
    def value(self) -> Fraction:
        return self.sign * self.significand * Fraction(2) ** self.exponent

    @property
    def zero(self) -> bool:
        return not self.special and self.significand == 0


@cache
def read(name: str, bits: int) -> Number:
    """The number that `bits` are in a format."""
    if name == "ue8m0":
        return (
            Number(1, Fraction(1), 0, "nan") if bits == 255 else Number(1, Fraction(1), bits - 127)
        )
    if name == "ue4m3":
        return read("e4m3", bits & 0x7F)
    if name == "tf32":
        bits >>= 13
    e, m, infinity, nan = FORMATS[name]
    field, low = bits >> m & (1 << e) - 1, bits & (1 << m) - 1
    sign = -1 if bits >> (e + m) & 1 else 1
    if field == (1 << e) - 1:
        if infinity:
            return Number(sign, Fraction(0), 0, "nan" if low else "inf")
        if nan and low == (1 << m) - 1:
            return Number(sign, Fraction(0), 0, "nan")
    bias = (1 << e - 1) - 1
    if field == 0:
        return Number(sign, Fraction(low, 1 << m), 1 - bias)
    return Number(sign, 1 + Fraction(low, 1 << m), field - bias)


# Rounding


def log2_floor(x: Fraction) -> int:
    """The exponent of a positive fraction."""
    e = x.numerator.bit_length() - x.denominator.bit_length()
    return e if x >= Fraction(2) ** e else e - 1


def rz32(x: Fraction, mantissa: int = 23) -> int:
    """Bits of x cut to `mantissa` stored bits with f32's exponents; never a negative zero."""
    size = abs(x)
    if size == 0:
        return 0
    if size >= Fraction(2) ** 128:
        return 0x7F800000 | (x < 0) << 31
    e = max(log2_floor(size), -126)
    units = math.floor(size / Fraction(2) ** (e - mantissa)) << 23 - mantissa
    if units == 0:
        return 0
    field = 0 if units < 1 << 23 else e + 127
    return (x < 0) << 31 | field << 23 | units & (1 << 23) - 1


def rne(x: Fraction, name: str) -> int:
    """Bits of x to nearest even in f16 or f32; never a negative zero."""
    e, m, *_ = FORMATS[name]
    size, bias, sign = abs(x), (1 << e - 1) - 1, int(x < 0) << e + m
    if size == 0:
        return 0
    exponent = max(log2_floor(size), 1 - bias)
    scaled = size / Fraction(2) ** (exponent - m)
    units = math.floor(scaled)
    rest = scaled - units
    units += rest > Fraction(1, 2) or (rest == Fraction(1, 2) and units & 1)
    if units == 0:
        return 0
    if units == 2 << m:
        units, exponent = 1 << m, exponent + 1
    if exponent > bias:
        return sign | (1 << e) - 1 << m
    field = 0 if units < 1 << m else exponent + bias
    return sign | field << m | units & (1 << m) - 1


NAN = {"f32": 0x7FFFFFFF, "f16": 0x7FFF}
INFINITY = {"f32": 0x7F800000, "f16": 0x7C00}


# Dot products of one output element


class Rule(NamedTuple):
    """One row of the table of generations."""

    length: int
    fraction: int
    rounding: str  # rz32, e8m13, rne16
    zero: int


def terms_step(terms: list[tuple[Number, int | None]], c: Number, rule: Rule) -> int:
    """One step over finished terms, each with its exponent; None is a zero's."""
    acc = "f16" if rule.rounding == "rne16" else "f32"
    everything = [(c, None if c.zero else c.exponent), *terms]
    specials = {(t.special, t.sign) for t, _ in everything if t.special}
    if any(s == "nan" for s, _ in specials) or len(specials) == 2:
        return NAN[acc]
    if specials:
        ((_, sign),) = specials
        return INFINITY[acc] | (0x80000000 if acc == "f32" else 0x8000) * (sign < 0)
    largest = max(rule.zero if e is None else e for _, e in everything)
    total = 0
    for t, e in everything:
        if e is not None:
            size = t.significand * Fraction(2) ** (rule.fraction + e - largest)
            total += t.sign * math.floor(size)
    value = total * Fraction(2) ** (largest - rule.fraction)
    if rule.rounding == "rne16":
        return rne(value, "f16")
    return rz32(value, 13 if rule.rounding == "e8m13" else 23)


def times(*factors: Number) -> Number:
    """A product; its significand is not renormalised."""
    sign = math.prod(f.sign for f in factors)
    if any(f.special == "nan" for f in factors):
        return Number(sign, Fraction(0), 0, "nan")
    if any(f.special for f in factors):
        return Number(sign, Fraction(0), 0, "nan" if any(f.zero for f in factors) else "inf")
    significand = math.prod((f.significand for f in factors), start=Fraction(1))
    return Number(sign, significand, sum(f.exponent for f in factors))


def chain(terms: list[Number], c: Number, rule: Rule) -> int:
    """Steps over the terms, in order."""
    result = 0
    for i in range(0, len(terms), rule.length):
        part = terms[i : i + rule.length]
        result = terms_step([(t, None if t.zero else t.exponent) for t in part], c, rule)
        c = read("f16" if rule.rounding == "rne16" else "f32", result)
    return result


def plus(a: Number, b: Number, acc: str) -> int:
    """IEEE addition to nearest even."""
    if "nan" in (a.special, b.special) or (a.special and b.special and a.sign != b.sign):
        return NAN[acc]
    for x in (a, b):
        if x.special:
            return INFINITY[acc] | (0x80000000 if acc == "f32" else 0x8000) * (x.sign < 0)
    return rne(a.value + b.value, acc)


def halves(terms: list[Number], addend: Number, rule: Rule) -> int:
    """Hopper's fp8 by f16 instructions."""
    low = [t for i, t in enumerate(terms) if i % 4 in (0, 1)]
    high = [t for i, t in enumerate(terms) if i % 4 in (2, 3)]
    acc = "f16" if rule.rounding == "rne16" else "f32"
    first = chain(low, read(acc, 0), rule)
    return plus(read(acc, chain(high, read(acc, first), rule)), addend, acc)


def grouped(terms: list[Number], scales: list[Number], addend: Number, rule: Rule) -> int:
    """Exact sums of 16, each scaled; `scales` are scale_a · scale_b per group."""
    found: list[tuple[Number, int | None]] = []
    for i, scale in enumerate(scales):
        group = terms[16 * i : 16 * i + 16]
        total = sum((t.value for t in group), start=Fraction(0))
        sign = -1 if total < 0 else 1
        if scale.special:
            found.append((scale, None))
        elif all(t.zero for t in group) or scale.zero:
            found.append((Number(1, Fraction(0), 0), None))
        else:
            # The exponent is the scales', whatever the size of the sum, zero included.
            size = abs(total) * scale.significand
            found.append((Number(sign, size, scale.exponent), scale.exponent))
    return terms_step(found, addend, rule)


GENERATION = {
    "sm_70": "volta",
    "sm_72": "volta",
    "sm_75": "turing",
    **dict.fromkeys(("sm_80", "sm_86", "sm_87", "sm_88"), "ampere"),
    "sm_89": "ada",
    **dict.fromkeys(("sm_90", "sm_90a", "sm_100", "sm_100a", "sm_103", "sm_110"), "hopper"),
    **dict.fromkeys(("sm_120", "sm_120a", "sm_120f", "sm_121a"), "rtx"),
}

_F = {"volta": 23, "turing": 24, "ampere": 24, "ada": 24, "hopper": 25, "rtx": 25}
_ZERO32 = {"volta": -131, "turing": -132, "ampere": -132, "ada": -132, "hopper": -133, "rtx": -133}
_ZERO16 = {"volta": -19, "turing": -20, "ampere": -20, "ada": -20, "hopper": -21, "rtx": -21}
_BYTES = {"volta": 8, "turing": 16, "ampere": 16, "ada": 16, "hopper": 32, "rtx": 32}


def rule(arch: str, type_: str, acc: str, *, quad_pairs: bool = False) -> tuple[str, Rule]:
    """How, and by which row, an architecture multiplies operands of a type."""
    generation = GENERATION[arch]
    if quad_pairs and generation == "turing":
        generation = "volta"
    width = {"f16": 2, "bf16": 2, "tf32": 4}.get(type_, 1)
    length, how = _BYTES[generation] // width, "chain"
    fraction, rounding = _F[generation], "rz32"
    if width == 1 and generation == "ada":
        fraction, rounding = 13, "e8m13"
    if width == 1 and generation == "hopper":
        how, length = "halves", 16
    zero = _ZERO32[generation]
    if acc == "f16":
        rounding, zero = "rne16", _ZERO16[generation]
    return how, Rule(length, fraction, rounding, zero)


PACKED = Rule(64, 35, "rz32", -139)
"""The kinds mxf4 and mxf4nvf4."""


def element(arch: str, types: tuple[str, str, str, str], a: list[int], b: list[int], c: int, *,
            scale: tuple[str, list[int], list[int]] | None = None, packed: bool = False,
            quad_pairs: bool = False) -> int:  # fmt: skip
    """One element of D, as bits.

    Args:
        arch: the target.
        types: of D, A, B, C.
        a, b: stored elements along K, as bits, and what they meet.
        c: the addend's bits.
        scale: type of the scale factors and those of A and B along K, as bits.
        packed: whether 4-bit floats are packed (mxf4, mxf4nvf4).
        quad_pairs: whether it is m8n8k4.
    """
    d_type, a_type, b_type, c_type = types
    acc = "f16" if (c_type, d_type) == ("f16", "f16") else "f32"
    if quad_pairs and GENERATION[arch] not in ("volta", "turing"):
        return scalars(acc, a, b, c_type, c)
    addend = read(c_type, c)
    left, right = [read(a_type, x) for x in a], [read(b_type, x) for x in b]
    if scale and packed:
        name, of_a, of_b = scale
        per = len(a) // 16 // len(of_a)
        scales = [
            times(read(name, of_a[i // per]), read(name, of_b[i // per]))
            for i in range(len(a) // 16)
        ]
        return grouped(
            [times(x, y) for x, y in zip(left, right, strict=True)], scales, addend, PACKED
        )
    how, row = rule(arch, a_type, acc, quad_pairs=quad_pairs)
    extra: list[Number] = []
    if scale:
        name, (sa,), (sb,) = scale
        extra = [read(name, sa), read(name, sb)]
    terms = [times(x, y, *extra) for x, y in zip(left, right, strict=True)]
    result = (halves if how == "halves" else chain)(terms, addend, row)
    return narrow(result) if (acc, d_type) == ("f32", "f16") else result


def scalars(acc: str, a: list[int], b: list[int], c_type: str, c: int) -> int:
    """m8n8k4 by f32 instructions, as ptxas writes it from sm_80 on."""
    x, y = (np.array(bits, np.uint16).view(np.float16).astype(np.float64) for bits in (a, b))
    held = {"f16": (np.uint16, np.float16), "f32": (np.uint32, np.float32)}
    unsigned, float_ = held[c_type]
    addend = np.array(c, unsigned).view(float_).astype(np.float32)

    def fma(k: int, total: np.float32) -> np.float32:
        return np.float32(x[k] * y[k] + np.float64(total))

    with np.errstate(all="ignore"):
        if acc == "f16":
            low, high = (fma(k + 1, np.float32(x[k] * y[k])) for k in (0, 2))
            d = np.float16((addend + low) + high)
        else:
            total = np.float32(0)
            for k in range(4):
                total = fma(k, total)
            d = np.float32(addend + total)
    if np.isnan(d):
        return 0x7FFF if acc == "f16" else 0x7FFFFFFF
    return int(d.view(held[acc][0]))


def fma64(a: float, b: float, c: float, rounding: str) -> float:
    """a·b + c of finite numbers, rounded once."""
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    if exact == 0:
        signs = {math.copysign(1, a) * math.copysign(1, b), math.copysign(1, c)}
        if c == 0 and len(signs) == 1:
            return 0.0 * signs.pop()
        return -0.0 if rounding == "rm" else 0.0
    exponent = max(log2_floor(abs(exact)), -1022)
    scaled = exact / Fraction(2) ** (exponent - 52)
    match rounding:
        case "rn":
            units = round(scaled)
        case "rz":
            units = math.trunc(scaled)
        case "rm":
            units = math.floor(scaled)
        case _:
            units = math.ceil(scaled)
    return math.copysign(math.ldexp(units, exponent - 52), -1 if exact < 0 else 1)


def integer(type_: str, bits: int) -> int:
    """An integer element."""
    width = int(type_[1:])
    return bits - (1 << width) if type_[0] == "s" and bits >> width - 1 else bits


def integer_dot(types: tuple[str, str], a: list[int], b: list[int], c: int, *,
                satfinite: bool = False, bit_op: str | None = None) -> int:  # fmt: skip
    """One element of D, as 32 bits."""
    total = c - (1 << 32) if c >> 31 else c
    for x, y in zip(a, b, strict=True):
        if bit_op:
            total += x ^ y if bit_op == "xor" else x & y
        else:
            total += integer(types[0], x) * integer(types[1], y)
    if satfinite:
        total = max(-(1 << 31), min((1 << 31) - 1, total))
    return total % (1 << 32)


def narrow(bits: int) -> int:
    """f32 to f16, to nearest even."""
    x = read("f32", bits)
    sign = (x.sign < 0) << 15
    if x.special:
        return sign | INFINITY["f16"] if x.special == "inf" else NAN["f16"]
    return sign | rne(abs(x.value), "f16")


# Fragments, as the ISA prints them; i counts a lane's elements


def a_place(m: int, packed: int, lane: int, i: int) -> tuple[int, int]:
    g, t = lane >> 2, lane & 3
    r, j = divmod(i, packed)
    if m == 8:
        return g, packed * t + j
    return g + 8 * (r & 1), packed * t + j + 4 * packed * (r >> 1)


def b_place(packed: int, lane: int, i: int) -> tuple[int, int]:
    r, j = divmod(i, packed)
    return packed * (lane & 3) + j + 4 * packed * r, lane >> 2


def c_place(lane: int, i: int) -> tuple[int, int]:
    return (lane >> 2) + 8 * (i >> 1), 2 * (lane & 3) + (i & 1)


def quad_pair_place(
    name: str, type_: str, major: str | None, lane: int, i: int
) -> tuple[int, int, int]:
    """(product, row, col) of m8n8k4 on f16."""
    q, x, h = lane >> 2 & 3, lane & 3, 4 if lane >= 16 else 0
    if name == "a":
        return (q, x + h, i) if major == "row" else (q, i + h, x)
    if name == "b":
        return (q, x, i + h) if major == "row" else (q, i, x + h)
    if type_ == "f16":
        return q, x + h, i
    return q, (lane & 1) + (i & 2) + h, (i & 4) + (lane & 2) + (i & 1)


def metadata_place(
    bits: int, k: int, width: int, row: int, chunk: int, selector: int
) -> tuple[int, int]:
    """Lane and lowest bit of the code of a chunk."""
    g, h, n = row & 7, row >> 3, k // width
    if bits >= 16:
        if n == 4:
            return 4 * g + selector, 4 * (4 * h + chunk)
        return 4 * g + 2 * selector + (chunk >> 2), 4 * (4 * h + (chunk & 3))
    if n == 8:
        return 4 * g + 2 * selector + h, 4 * chunk
    return 4 * g + 2 * (chunk >> 3) + h, 4 * (chunk & 7)


def logical_column(width: int, code: int, stored: int) -> int:
    first, second = code & 3, code >> 2
    if width == 4:
        return 4 * (stored // 2) + (first, second)[stored % 2]
    if width == 2:
        return 2 * stored + (0 if code == 0b0100 else 1)
    chunk, pair, inside = stored // 4, stored % 4 // 2, stored % 2
    return 8 * chunk + 2 * (first, second)[pair] + inside


def scale_a_place(m: int, chunk: int, byte_id: int, thread_id: int) -> tuple[int, int]:
    return 4 * (m % 8) + 2 * thread_id + (m >> 3), byte_id + chunk


def scale_b_place(n: int, chunk: int, byte_id: int, thread_id: int) -> tuple[int, int]:
    return 4 * n + thread_id, byte_id + chunk

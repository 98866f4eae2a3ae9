"""Matrix products of bits, whole matrices at once, in integer arithmetic of numpy.

Written from the published rule of each generation's tensor cores; nothing of tilec is used.
Numbers are sign, integer significand and exponent; every term of a step is shifted to a common
fixed point and added as a 64-bit integer. f64 is a chain of fused multiply-adds in rationals.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

FORMATS = {
    # exponent bits, mantissa bits, whether the largest exponent is infinity and NaNs
    "f32": (8, 23, True),
    "tf32": (8, 10, True),
    "bf16": (8, 7, True),
    "f16": (5, 10, True),
    "e5m2": (5, 2, True),
    "e4m3": (4, 3, False),
    "ue4m3": (4, 3, False),
    "e3m2": (3, 2, False),
    "e2m3": (2, 3, False),
    "e2m1": (2, 1, False),
    "ue8m0": (8, 0, False),
}
NAN = {"f32": 0x7FFFFFFF, "f16": 0x7FFF}


@dataclass
class Numbers:
    """sign · size · 2^(exponent - fraction); zero, infinite or NaN where it says so.

    A sum that cancels has size zero, yet an exponent: it is not marked as zero.
    """

    sign: np.ndarray
    size: np.ndarray
    exponent: np.ndarray
    fraction: int
    zero: np.ndarray
    infinite: np.ndarray
    nan: np.ndarray

    def __mul__(self, other: Numbers) -> Numbers:
        zero = self.zero | other.zero
        infinite = self.infinite | other.infinite
        return Numbers(
            self.sign * other.sign,
            self.size * other.size,
            self.exponent + other.exponent,
            self.fraction + other.fraction,
            zero,
            infinite & ~zero,
            self.nan | other.nan | infinite & zero,
        )

    def __getitem__(self, at) -> Numbers:
        parts = (self.sign, self.size, self.exponent)
        rest = (self.zero, self.infinite, self.nan)
        return Numbers(*(x[at] for x in parts), self.fraction, *(x[at] for x in rest))


def read(type_: str, bits: np.ndarray) -> Numbers:
    """The numbers that bits are."""
    bits = bits.astype(np.int64)
    e, m, ieee = FORMATS[type_]
    if type_ == "tf32":
        bits = bits >> 13
    field, low = bits >> m & (1 << e) - 1, bits & (1 << m) - 1
    bias = (1 << e - 1) - 1
    signless = type_[0] == "u"
    sign = np.ones_like(bits) if signless else 1 - 2 * (bits >> e + m & 1)
    top = field == (1 << e) - 1
    infinite = top & (low == 0) if ieee else np.zeros_like(top)
    if ieee:
        nan = top & (low != 0)
    elif type_ in ("e4m3", "ue4m3", "ue8m0"):
        nan = top & (low == (1 << m) - 1)
    else:
        nan = np.zeros_like(top)
    subnormal = (field == 0) & (m > 0)
    size = np.where(subnormal, low, low + (1 << m))
    exponent = np.where(subnormal, 1, field) - bias
    size = np.where(infinite | nan, 0, size)
    zero = (size == 0) & ~infinite & ~nan
    return Numbers(sign, size, exponent, m, zero, infinite, nan)


@dataclass(frozen=True)
class Rule:
    """One row of the table of generations."""

    length: int
    fraction: int
    rounding: str  # rz24, rz14, f16
    zero: int

    @property
    def type(self) -> str:
        return "f16" if self.rounding == "f16" else "f32"


def step(rule: Rule, terms: Numbers, c: Numbers) -> np.ndarray:
    """c plus the terms, which lie along the first axis; as bits."""
    largest = np.where(c.zero, rule.zero, c.exponent)
    for e, zero in zip(terms.exponent, terms.zero, strict=True):
        largest = np.maximum(largest, np.where(zero, rule.zero, e))
    total = np.zeros_like(largest)
    for i in range(-1, len(terms.size)):
        t = c if i < 0 else terms[i]
        up = rule.fraction - t.fraction + t.exponent - largest
        total += t.sign * np.where(
            up >= 0, t.size << np.clip(up, 0, 62), t.size >> np.clip(-up, 0, 62)
        )
    bits = (half if rule.type == "f16" else single)(total, largest - rule.fraction, rule.rounding)
    sign_bit, infinity = (0x8000, 0x7C00) if rule.type == "f16" else (0x80000000, 0x7F800000)
    plus = (terms.infinite & (terms.sign > 0)).any(0) | c.infinite & (c.sign > 0)
    minus = (terms.infinite & (terms.sign < 0)).any(0) | c.infinite & (c.sign < 0)
    bits = np.where(plus, infinity, np.where(minus, infinity | sign_bit, bits))
    return np.where(terms.nan.any(0) | c.nan | plus & minus, NAN[rule.type], bits)


def top_bit(size: np.ndarray) -> np.ndarray:
    """Number of the highest bit; exact below 2^53."""
    assert size.max(initial=0) < 1 << 53
    return np.frexp(size.astype(np.float64))[1].astype(np.int64) - 1


def single(total: np.ndarray, unit: np.ndarray, rounding: str) -> np.ndarray:
    """total · 2^unit cut to 24 or 14 significant bits, as f32."""
    kept = 13 if rounding == "rz14" else 23
    size = np.abs(total)
    e = np.maximum(top_bit(size) + unit, -126)
    down = e - kept - unit
    units = np.where(down >= 0, size >> np.clip(down, 0, 62), size << np.clip(-down, 0, 30))
    units <<= 23 - kept
    field = np.where(units < 1 << 23, 0, e + 127)
    bits = np.where(e > 127, 0x7F800000, field << 23 | units & (1 << 23) - 1)
    return np.where(units == 0, 0, bits | np.where(total < 0, 0x80000000, 0))


def half(total: np.ndarray, unit: np.ndarray, _: str) -> np.ndarray:
    """total · 2^unit to nearest even in f16."""
    size = np.abs(total)
    e = np.maximum(top_bit(size) + unit, -14)
    down = e - 10 - unit
    shift = np.clip(down, 0, 62)
    units = np.where(down >= 0, size >> shift, size << np.clip(-down, 0, 30))
    rest = np.where(down > 0, size & (np.int64(1) << shift) - 1, 0) * 2
    one = np.int64(1) << shift
    units += (rest > one) | (rest == one) & (units & 1 == 1) & (down > 0)
    e, units = np.where(units == 2048, e + 1, e), np.where(units == 2048, 1024, units)
    field = np.where(units < 1024, 0, e + 15)
    bits = np.where(e > 15, 0x7C00, field << 10 | units & 1023)
    return np.where(units == 0, 0, bits | np.where(total < 0, 0x8000, 0))


def chain(rule: Rule, terms: Numbers, c: Numbers) -> np.ndarray:
    """Steps over the terms, each adding to the last."""
    bits = np.zeros_like(c.size)
    for start in range(0, len(terms.size), rule.length):
        bits = step(rule, terms[start : start + rule.length], c)
        c = read(rule.type, bits)
    return bits


def value(type_: str, bits: np.ndarray) -> np.ndarray:
    """f16 or f32 as numpy's floats."""
    return (
        bits.astype(np.uint16).view(np.float16)
        if type_ == "f16"
        else bits.astype(np.uint32).view(np.float32)
    )


def plus(type_: str, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """IEEE addition of bits."""
    with np.errstate(all="ignore"):
        found = value(type_, x) + value(type_, y)
    bits = found.view(np.uint16 if type_ == "f16" else np.uint32).astype(np.int64)
    return np.where(np.isnan(found), NAN[type_], bits)


GENERATIONS = {
    # bits of fraction; exponents of zero with f32 and f16 accumulators; bytes of a step
    "volta": (23, -131, -19, 8),
    "turing": (24, -132, -20, 16),
    "ampere": (24, -132, -20, 16),
    "ada": (24, -132, -20, 16),
    "hopper": (25, -133, -21, 32),
    "rtx": (25, -133, -21, 32),
}


def generation(arch: str) -> str:
    number = int("".join(c for c in arch if c.isdigit()))
    for first, name in ((120, "rtx"), (90, "hopper"), (89, "ada"), (80, "ampere"), (75, "turing")):
        if number >= first:
            return name
    return "volta"


def floats(
    arch: str,
    types: tuple[str, str, str, str],
    a: np.ndarray,
    b: np.ndarray,
    c: np.ndarray,
    scales: tuple[str, np.ndarray, np.ndarray] | None = None,
    *,
    packed: bool = False,
    quad_pairs: bool = False,
) -> np.ndarray:
    """Bits of D.

    Args:
        arch: the target.
        types: of D, A, B and C.
        a: (k, m, 1), bits of stored elements.
        b: (k, m or 1, n), bits of what they meet.
        c: (m, n), bits.
        scales: their type, and those of A and of B along K, (chunks, m, 1) and (chunks, 1, n).
        packed: whether 4-bit floats lie without gaps (mxf4, mxf4nvf4).
        quad_pairs: whether it is m8n8k4.
    """
    d_type, a_type, b_type, c_type = types
    made = generation(arch)
    if quad_pairs and made == "turing":
        made = "volta"
    if quad_pairs and made != "volta":
        return scalars(d_type, a, b, c_type, c)
    fraction, zero32, zero16, width = GENERATIONS[made]
    acc = "f16" if d_type == c_type == "f16" else "f32"
    each = {"f16": 2, "bf16": 2, "tf32": 4}.get(a_type, 1)
    rounding, zero = ("f16", zero16) if acc == "f16" else ("rz24", zero32)
    products, addend = read(a_type, a) * read(b_type, b), read(c_type, c)
    if packed:
        bits = chain(Rule(64, 35, "rz24", -139), groups(products, scales), addend)
    elif each == 1 and made == "hopper":
        rule = Rule(16, fraction, rounding, zero)
        low = np.arange(len(a)) % 4 < 2
        nothing = read(acc, np.zeros_like(c))
        first = read(acc, chain(rule, products[low], nothing))
        bits = plus(acc, chain(rule, products[~low], first), widened(c_type, acc, c))
    else:
        if each == 1 and made == "ada":
            fraction, rounding = 13, "rz14" if acc == "f32" else "f16"
        if scales:
            name, of_a, of_b = scales
            products = products * (read(name, of_a) * read(name, of_b))
        bits = chain(Rule(width // each, fraction, rounding, zero), products, addend)
    if (acc, d_type) == ("f32", "f16"):
        with np.errstate(all="ignore"):
            found = value("f32", bits).astype(np.float16)
        bits = np.where(np.isnan(found), NAN["f16"], found.view(np.uint16).astype(np.int64))
    return bits


def scalars(d_type: str, a: np.ndarray, b: np.ndarray, c_type: str, c: np.ndarray) -> np.ndarray:
    """Bits of D of m8n8k4 where it is made of f32 instructions: what ptxas writes from sm_80 on."""
    with np.errstate(all="ignore"):
        x = value("f16", a).astype(np.float64) * value("f16", b).astype(np.float64)
        addend = value(c_type, c).astype(np.float32)
        if d_type == c_type == "f16":
            pairs = [(np.float64(np.float32(x[i])) + x[i + 1]).astype(np.float32) for i in (0, 2)]
            found = ((addend + pairs[0]) + pairs[1]).astype(np.float16)
        else:
            total = np.zeros(x.shape[1:], np.float32)
            for term in x:
                total = (total.astype(np.float64) + term).astype(np.float32)
            found = addend + total
    bits = found.view(np.uint16 if d_type == "f16" else np.uint32).astype(np.int64)
    return np.where(np.isnan(found), NAN[d_type], bits)


def widened(type_: str, acc: str, bits: np.ndarray) -> np.ndarray:
    """An addend's bits in the accumulator's format."""
    if type_ == acc:
        return bits
    with np.errstate(all="ignore"):
        return value(type_, bits).astype(np.float32).view(np.uint32).astype(np.int64)


def groups(products: Numbers, scales: tuple[str, np.ndarray, np.ndarray] | None) -> Numbers:
    """Exact sums of 16 products, scaled; the exponent of one is that of its scales."""
    assert scales
    name, of_a, of_b = scales
    count = len(products.size) // 16
    both = read(name, of_a) * read(name, of_b)
    both = both[np.arange(count) // (count // len(of_a))]
    # e2m1 has no specials; in quarters, whatever the exponents.
    quarters = products.sign * (products.size << products.exponent)
    sums = quarters.reshape(count, 16, *quarters.shape[1:]).sum(1)
    nothing = (quarters == 0).reshape(count, 16, *quarters.shape[1:]).all(1)
    return Numbers(
        np.where(sums < 0, -1, 1),
        np.abs(sums) * both.size,
        both.exponent,
        2 + both.fraction,
        nothing | both.zero,
        both.infinite,
        both.nan,
    )


def fused(a: float, b: float, c: float, rounding: str) -> float:
    """a·b + c of f64, rounded once; every NaN is the same."""
    if not (math.isfinite(a) and math.isfinite(b)):
        return a * b + c
    if not math.isfinite(c):
        return c
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    if exact == 0:
        signs = {math.copysign(1, a) * math.copysign(1, b), math.copysign(1, c)}
        return -0.0 if signs == {-1} or (rounding == "rm" and -1 in signs) else 0.0
    size = abs(exact)
    e = size.numerator.bit_length() - size.denominator.bit_length()
    e = max(e - (size < Fraction(2) ** e), -1022)
    units = exact / Fraction(2) ** (e - 52)
    whole = {"rn": round, "rz": math.trunc, "rm": math.floor, "rp": math.ceil}[rounding](units)
    try:
        found = math.ldexp(abs(whole), e - 52)
    except OverflowError:
        inward = rounding in ("rz", "rm" if exact > 0 else "rp")
        found = float(np.finfo(np.float64).max) if inward else math.inf
    return math.copysign(found, -1 if exact < 0 else 1)


def doubles(a: np.ndarray, b: np.ndarray, c: np.ndarray, rounding: str) -> np.ndarray:
    """D of f64 matrices (m, k), (k, n) and (m, n): fused multiply-adds, k ascending."""
    d = c.copy()
    for (i, j), first in np.ndenumerate(c):
        total = float(first)
        for x, y in zip(a[i].tolist(), b[:, j].tolist(), strict=True):
            total = fused(x, y, total, rounding)
        d[i, j] = total
    return d


def integers(
    a: np.ndarray, b: np.ndarray, c: np.ndarray, *, satfinite: bool, bit_op: str | None
) -> np.ndarray:
    """D of integer matrices, as s32: (k, m, 1), (k, m or 1, n) and (m, n)."""
    if bit_op:
        total = (a ^ b if bit_op == "xor" else a & b).sum(axis=0) + c
    else:
        total = (a * b).sum(axis=0) + c
    if satfinite:
        total = total.clip(-(1 << 31), (1 << 31) - 1)
    return total.astype(np.int32)

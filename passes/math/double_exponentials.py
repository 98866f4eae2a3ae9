"""Exponentials, logarithms and powers of f64, within a few units of the last place."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from math import factorial
from struct import pack, unpack

from tilec.ir.aliases import Value
from tilec.ir.ops import arith

from .doubles import DIGITS, MANTISSA, Double, Doubles
from .powers import with_special_cases

LN2 = Decimal(2).ln(DIGITS)
_E = Decimal(1).exp(DIGITS)
_LN10 = Decimal(10).ln(DIGITS)
_ONE = Decimal(1)
_EXP = [Fraction(1, factorial(n)) for n in range(2, 14)]
_EXPM1 = [Fraction(1, factorial(n)) for n in range(2, 17)]
_ARTANH = [Fraction(2, 2 * n + 1) for n in range(1, 12)]
_MOST = 1200.0
"""A binary exponent beyond which every power is 0 or infinity."""
(_HALF_ROOT,) = unpack("q", pack("d", 0.5**0.5))


def exp(s: Doubles, x: Value) -> Value:
    """The power x of e."""
    x = s.clamped(x, 800.0)
    nearest, exponent = s.rounded(s.mul(x, s.number(float(DIGITS.divide(_ONE, LN2)))))
    ln2 = s.exactly(LN2)
    away = s.product(nearest, ln2.high)
    rest = s.minus(s.fma(nearest, ln2.low, away.low))
    angle = s.joined(s.sub(x, away.high), rest)  # of which the difference is exact
    return s.scaled(_near_one(s, angle), exponent)


def exp2(s: Doubles, x: Value) -> Value:
    """The power x of 2."""
    x = s.clamped(x, _MOST)
    nearest, exponent = s.rounded(x)
    angle = s.times(Double(s.sub(x, nearest), s.number(0.0)), s.exactly(LN2))
    return s.scaled(_near_one(s, angle), exponent)


def _near_one(s: Doubles, x: Double) -> Value:
    """The power x of e, of x up to log(2) / 2."""
    series = s.mul(s.mul(x.high, x.high), s.series(x.high, _EXP))
    return s.add(s.number(1.0), s.add(x.high, s.add(series, s.fma(x.high, x.low, x.low))))


def log(s: Doubles, x: Value) -> Value:
    """The natural logarithm."""
    return _logarithm(s, x, _ONE)


def log2(s: Doubles, x: Value) -> Value:
    """The logarithm to base 2."""
    return _logarithm(s, x, LN2)


def log10(s: Doubles, x: Value) -> Value:
    """The logarithm to base 10."""
    return _logarithm(s, x, _LN10)


def _parted(s: Doubles, x: Value) -> tuple[Value, Value]:
    """A positive number as m * 2^n, sqrt(1/2) <= m < sqrt(2): n and m."""
    tiny = s.less(x, 2.0**-1022)
    normal = s.pick(tiny, s.mul(x, s.number(2.0**MANTISSA)), x)
    n = s.on_bits(arith.shrsi, s.on_bits(arith.subi, s.bits(normal), _HALF_ROOT), MANTISSA)
    m = s.of_bits(arith.subi(s.bits(normal), s.on_bits(arith.shli, n, MANTISSA)))
    missing = s.pick(tiny, s.number(-float(MANTISSA)), s.number(0.0))
    return s.add(s.of_integer(n), missing), m


def _logarithm(s: Doubles, x: Value, base: Decimal) -> Value:
    """The logarithm, divided by that of a base."""
    exponent, m = _parted(s, x)
    # log(m) = 2 artanh(q), q = (m - 1) / (m + 1), and 2q = above - q * above.
    above = s.sub(m, s.number(1.0))
    q = s.div(above, s.add(m, s.number(1.0)))
    square = s.mul(q, q)
    rest = s.sub(s.mul(q, s.mul(square, s.series(square, _ARTANH))), s.mul(q, above))
    ln2 = s.exactly(DIGITS.divide(LN2, base))
    if base == _ONE:
        whole = s.joined(s.mul(exponent, ln2.high), above)
        low = s.fma(exponent, ln2.high, s.minus(s.mul(exponent, ln2.high)))
        rest = s.add(s.fma(exponent, ln2.low, s.add(low, rest)), whole.low)
    else:
        scale = s.exactly(DIGITS.divide(_ONE, base))
        scaled = s.product(above, scale.high)
        bits = s.product(exponent, ln2.high)
        whole = s.joined(bits.high, scaled.high)
        rest = s.fma(above, scale.low, s.fma(rest, scale.high, scaled.low))
        rest = s.add(s.fma(exponent, ln2.low, s.add(bits.low, rest)), whole.low)
    value = s.add(whole.high, rest)
    positive = s.pick(s.less(x, float("inf")), value, x)
    other = s.pick(s.equal(x, 0.0), s.number(float("-inf")), s.number(float("nan")))
    return s.pick(s.less(s.number(0.0), x), positive, other)


def log1p(s: Doubles, x: Value) -> Value:
    """What the sum loses, the factor gives back (Kahan)."""
    whole = s.add(s.number(1.0), x)
    value = s.mul(log(s, whole), s.div(x, s.sub(whole, s.number(1.0))))
    value = s.pick(s.equal(whole, 1.0), x, value)
    return s.pick(s.equal(whole, float("inf")), whole, value)


def expm1(s: Doubles, x: Value) -> Value:
    """`exp(x) - 1`: where x is small the series without its 1."""
    series = s.mul(s.mul(x, x), s.series(x, _EXPM1))
    small = s.less(s.magnitude(x), 0.5)
    value = s.pick(small, s.add(x, series), s.sub(exp(s, x), s.number(1.0)))
    return s.pick(s.equal(x, 0.0), x, value)


def tanh(s: Doubles, x: Value) -> Value:
    """The hyperbolic tangent."""
    a = s.magnitude(x)
    twice = s.add(a, a)
    less = expm1(s, s.clamped(twice, 2.0))
    small = s.div(less, s.add(less, s.number(2.0)))
    power = s.add(exp(s, twice), s.number(1.0))
    large = s.sub(s.number(1.0), s.div(s.number(2.0), power))
    value = s.pick(s.less(a, 1.0), small, large)
    return s.call("llvm.copysign.f64", value, x)


def powf(s: Doubles, x: Value, y: Value) -> Value:
    """`x ** y`, with IEEE 754's special cases of `pow`."""
    return with_special_cases(s, x, y, _power(s, s.magnitude(x), y))


def _power(s: Doubles, a: Value, y: Value) -> Value:
    """`a ** y` of a number that is not negative."""
    logarithm = _log2(s, a)
    product = s.mul(y, logarithm.high)
    inside = s.less(s.magnitude(product), _MOST)
    low = s.fma(y, logarithm.low, s.fma(y, logarithm.high, s.minus(product)))
    nearest, exponent = s.rounded(s.clamped(product, _MOST))
    rest = s.joined(s.sub(product, nearest), low)
    rest = Double(*(s.pick(inside, each, s.number(0.0)) for each in rest))
    power = s.scaled(_near_one(s, s.times(rest, s.exactly(LN2))), exponent)
    known = s.pick(s.test(arith.CmpF.ORD, product, product), power, product)
    return s.pick(s.equal(product, 0.0), s.number(1.0), known)


def _log2(s: Doubles, a: Value) -> Double:
    """The logarithm to base 2 as a sum; of 0, infinity and NaN the first alone."""
    n, m = _parted(s, a)
    # log2(m) = 2/ln(2) artanh(q), q = (m - 1) / (m + 1), to some 66 bits.
    one = s.number(1.0)
    above, below = s.sub(m, one), s.joined(s.add(m, one), s.number(0.0)).high
    below_low = s.sub(m, s.sub(below, one))
    q_high = s.div(above, below)
    minus = s.minus(q_high)
    q_low = s.div(s.fma(minus, below_low, s.fma(minus, below, above)), below)
    q = s.joined(q_high, q_low)
    square = s.times(q, q)
    series = s.series(square.high, [Fraction(1, 2 * k + 1) for k in range(2, 13)])
    first = s.plus(s.exactly(Fraction(1, 3)), s.product(square.high, series))
    cubic = s.times(q, s.times(square, first))
    total = s.times(s.plus(q, cubic), s.exactly(DIGITS.divide(Decimal(2), LN2)))
    found = s.plus(Double(n, s.number(0.0)), total)
    usual = s.pick(s.less(a, float("inf")), s.less(s.number(0.0), a), s.less(a, 0.0))
    special = s.pick(s.equal(a, 0.0), s.number(float("-inf")), a)
    return Double(s.pick(usual, found.high, special), s.pick(usual, found.low, s.number(0.0)))

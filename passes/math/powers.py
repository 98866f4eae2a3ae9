"""Powers of f32, within four units of the last place where they are normal numbers.

The logarithm is a sum of two f32, so that the product with the exponent, up to 128, keeps the bits
that the power shows.
"""

from __future__ import annotations

from math import log
from struct import pack, unpack

from tilec.ir.aliases import Value
from tilec.ir.ops import arith

from .scalars import Scalars, split

_MANTISSA = 23
_MOST = 300.0
"""A binary exponent beyond which every power is 0 or infinity."""


def powf(s: Scalars, x: Value, y: Value) -> Value:
    """`x ** y`, with IEEE 754's special cases of `pow`."""
    a = s.magnitude(x)
    if s.fast:
        power = s.call("llvm.exp2.f32", s.mul(y, s.call("llvm.nvvm.lg2.approx.f", a)))
    else:
        power = _power(s, a, y)
    return with_special_cases(s, x, y, power)


def with_special_cases(s: Scalars, x: Value, y: Value, power: Value) -> Value:
    """`x ** y` by the power of |x|, with IEEE 754's special cases of `pow`."""
    a = s.magnitude(x)
    power = s.pick(s.equal(a, 1.0), s.number(1.0), power)
    # Of negative numbers there are integer powers only, the odd ones negative.
    half = s.mul(y, s.number(0.5))
    even = s.test(arith.CmpF.OEQ, half, s.floor(half))
    whole = s.test(arith.CmpF.OEQ, y, s.floor(y))
    negative = s.test_bits(arith.CmpI.SLT, s.bits(x), 0)
    turned = s.pick(even, power, s.pick(whole, s.sub(s.number(-0.0), power), power))
    power = s.pick(negative, turned, power)
    within = s.pick(s.less(a, float("inf")), s.less(x, 0.0), s.less(s.number(1.0), 0.0))
    power = s.pick(within, s.pick(whole, power, s.number(float("nan"))), power)
    one = s.pick(s.equal(x, 1.0), s.equal(x, 1.0), s.equal(y, 0.0))
    return s.pick(one, s.number(1.0), power)


def _power(s: Scalars, a: Value, y: Value) -> Value:
    """`a ** y` of a number that is not negative."""
    high, low = _log2(s, a)
    product = s.mul(y, high)
    rest = s.fma(y, low, s.fma(y, high, s.sub(s.number(-0.0), product)))
    inside = s.less(s.magnitude(product), _MOST)
    rest = s.pick(inside, s.mul(rest, s.number(log(2))), s.number(0.0))
    # The instruction's own error grows with what stands before the point: it gets the rest alone.
    whole = s.pick(inside, s.call("llvm.rint.f32", product), s.number(0.0))
    power = s.call("llvm.exp2.f32", s.sub(product, whole))
    return s.pick(inside, _scaled(s, s.fma(power, rest, power), whole), power)


def _scaled(s: Scalars, value: Value, exponent: Value) -> Value:
    """`value * 2^exponent`, in two steps, since the power may lie beyond f32."""
    half = s.call("llvm.rint.f32", s.mul(exponent, s.number(0.5)))
    first = s.call("llvm.exp2.f32", half)
    second = s.call("llvm.exp2.f32", s.sub(exponent, half))
    return s.mul(s.mul(value, first), second)


def _log2(s: Scalars, a: Value) -> tuple[Value, Value]:
    """The logarithm to base 2 as a sum; of 0, infinity and NaN the first alone."""
    tiny = s.less(a, 2.0**-126)
    normal = s.pick(tiny, s.mul(a, s.number(2.0**_MANTISSA)), a)
    (half_root,) = unpack("i", pack("f", 0.5**0.5))
    n = s.on_bits(arith.shrsi, s.on_bits(arith.subi, s.bits(normal), half_root), _MANTISSA)
    m = s.of_bits(arith.subi(s.bits(normal), s.on_bits(arith.shli, n, _MANTISSA)))
    exponent = s.add(s.of_integer(n), s.pick(tiny, s.number(-_MANTISSA), s.number(0.0)))
    # log2(m) = 2/ln(2) artanh(q), q = (m - 1) / (m + 1), of which the remainder counts, too.
    above, below = s.sub(m, s.number(1.0)), s.add(m, s.number(1.0))
    below_low = s.sub(m, s.sub(below, s.number(1.0)))
    q = s.div(above, below)
    minus = s.sub(s.number(-0.0), q)
    q_low = s.div(s.fma(minus, below_low, s.fma(minus, below, above)), below)
    square = s.mul(q, q)
    series = s.polynomial(square, [1 / 3, 1 / 5, 1 / 7, 1 / 9, 1 / 11])
    further = s.fma(s.mul(q, square), series, q_low)
    scale, scale_low = split(2 / log(2))
    high = s.mul(q, s.number(scale))
    low = s.fma(q, s.number(scale), s.sub(s.number(-0.0), high))
    low = s.fma(further, s.number(scale), s.fma(q, s.number(scale_low), low))
    total = s.add(exponent, high)
    low = s.add(s.add(s.sub(exponent, total), high), low)
    found = s.add(total, low)
    low = s.sub(low, s.sub(found, total))
    usual = s.pick(s.less(a, float("inf")), s.less(s.number(0.0), a), s.less(a, 0.0))
    special = s.pick(s.equal(a, 0.0), s.number(float("-inf")), a)
    return s.pick(usual, found, special), s.pick(usual, low, s.number(0.0))

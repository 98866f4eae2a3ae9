"""Mathematical functions that no instruction is, of f32, in a few instructions.

Without leave to approximate, errors stay within a few units of the last place, over all finite
arguments; with it (`fastmath<afn>`) a function is as good as the instruction it is made of.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import e, factorial, log, log2, pi, sqrt
from struct import pack, unpack
from types import MappingProxyType

from tilec.ir.aliases import Value
from tilec.ir.ops import arith

from .powers import powf
from .scalars import Scalars, split
from .trigonometry import cos, sin

_MANTISSA = 23


def _exp(s: Scalars, x: Value) -> Value:
    """A power of two: the product's rounding error, too, is raised, to first order."""
    high, low = split(log2(e))
    if s.fast:
        return s.call("llvm.nvvm.ex2.approx.ftz.f32", s.mul(x, s.number(high)))
    # Beyond, the result is 0 or infinity; an infinite product would have no error to speak of.
    bound = 160 / high
    x = s.pick(s.less(x, -bound), s.number(-bound), x)
    x = s.pick(s.test(arith.CmpF.OLT, s.number(bound), x), s.number(bound), x)
    exponent = s.mul(x, s.number(high))
    rest = s.fma(x, s.number(high), s.sub(s.number(-0.0), exponent))
    rest = s.mul(s.fma(x, s.number(low), rest), s.number(log(2)))
    power = s.call("llvm.exp2.f32", exponent)
    # Infinity times nothing is not a number.
    return s.pick(s.equal(power, float("inf")), power, s.fma(power, rest, power))


def _logarithm(s: Scalars, x: Value, base: float) -> Value:
    """The logarithm of `x` to a base."""
    if s.fast:
        approximate = s.call("llvm.nvvm.lg2.approx.f", x)
        return approximate if base == 2 else s.mul(approximate, s.number(log(2, base)))
    # x = m * 2^n, sqrt(1/2) <= m < sqrt(2).
    tiny = s.less(x, 2.0**-126)
    normal = s.pick(tiny, s.mul(x, s.number(2.0**_MANTISSA)), x)
    (half_root,) = unpack("i", pack("f", sqrt(0.5)))
    n = s.on_bits(arith.shrsi, s.on_bits(arith.subi, s.bits(normal), half_root), _MANTISSA)
    m = s.of_bits(arith.subi(s.bits(normal), s.on_bits(arith.shli, n, _MANTISSA)))
    exponent = s.add(s.of_integer(n), s.pick(tiny, s.number(-_MANTISSA), s.number(0.0)))
    # log(m) = 2 artanh(q), q = (m - 1) / (m + 1), a series in q^2.
    above = s.sub(m, s.number(1.0))
    q = s.div(above, s.add(m, s.number(1.0)))
    square = s.mul(q, q)
    series = s.mul(square, s.polynomial(square, [2 / 3, 2 / 5, 2 / 7, 2 / 9, 2 / 11]))
    # 2q = above - q * above, of which above is exact.
    rest = s.sub(s.mul(q, series), s.mul(q, above))
    scale, scale_low = split(1 / log(base))
    if base == e:
        high, low = split(log(2))
        value = s.fma(exponent, s.number(high), s.add(above, s.fma(exponent, s.number(low), rest)))
    else:
        high, low = split(log(2, base))
        rest = s.fma(above, s.number(scale_low), s.mul(rest, s.number(scale)))
        rest = s.fma(exponent, s.number(low), rest)
        value = s.fma(exponent, s.number(high), s.fma(above, s.number(scale), rest))
    positive = s.pick(s.less(x, float("inf")), value, x)
    other = s.pick(s.equal(x, 0.0), s.number(float("-inf")), s.number(float("nan")))
    return s.pick(s.test(arith.CmpF.OLT, s.number(0.0), x), positive, other)


def _log1p(s: Scalars, x: Value) -> Value:
    """What the sum loses, the factor gives back (Kahan)."""
    whole = s.add(s.number(1.0), x)
    value = s.mul(_logarithm(s, whole, e), s.div(x, s.sub(whole, s.number(1.0))))
    value = s.pick(s.equal(whole, 1.0), x, value)
    return s.pick(s.equal(whole, float("inf")), whole, value)


def _expm1(s: Scalars, x: Value) -> Value:
    """As `_log1p`, the other way round."""
    power = _exp(s, x)
    above = s.sub(power, s.number(1.0))
    value = s.mul(above, s.div(x, _logarithm(s, power, e)))
    value = s.pick(s.equal(power, 1.0), x, value)
    value = s.pick(s.equal(power, float("inf")), power, value)
    return s.pick(s.equal(above, -1.0), above, value)


def _tanh(s: Scalars, x: Value) -> Value:
    a = s.magnitude(x)
    square = s.mul(a, a)
    # The continued fraction, for small arguments.
    above = s.polynomial(square, [945.0, 105.0, 1.0])
    below = s.polynomial(square, [945.0, 420.0, 15.0])
    small = s.mul(a, s.div(above, below))
    power = _exp(s, s.add(a, a))
    large = s.sub(s.number(1.0), s.div(s.number(2.0), s.add(power, s.number(1.0))))
    return s.call("llvm.copysign.f32", s.pick(s.less(a, 0.6), small, large), x)


def _erf(s: Scalars, x: Value) -> Value:
    a = s.magnitude(x)
    square = s.mul(a, a)
    series = [2 / sqrt(pi) * (-1) ** n / (factorial(n) * (2 * n + 1)) for n in range(11)]
    small = s.mul(a, s.polynomial(square, series))
    # Abramowitz and Stegun 7.1.26: within 1.5e-7.
    t = s.div(s.number(1.0), s.fma(a, s.number(0.3275911), s.number(1.0)))
    tail = [0.254829592, -0.284496736, 1.421413741, -1.453152027, 1.061405429]
    decay = _exp(s, s.sub(s.number(-0.0), square))
    large = s.sub(s.number(1.0), s.mul(s.mul(t, s.polynomial(t, tail)), decay))
    return s.call("llvm.copysign.f32", s.pick(s.less(a, 1.0), small, large), x)


SEQUENCES: Mapping[str, Callable[..., Value]] = MappingProxyType(
    {
        "math.erf": _erf,
        "math.exp": _exp,
        "math.expm1": _expm1,
        "math.log": lambda s, x: _logarithm(s, x, e),
        "math.log10": lambda s, x: _logarithm(s, x, 10),
        "math.log1p": _log1p,
        "math.log2": lambda s, x: _logarithm(s, x, 2),
        "math.cos": cos,
        "math.powf": powf,
        "math.sin": sin,
        "math.tanh": _tanh,
    }
)
"""What emits each op, given its operands, of f32."""

"""The error function of f64, within a few units of the last place."""

from __future__ import annotations

from fractions import Fraction
from math import factorial, pi, sqrt

from tilec.ir.aliases import Value

from .double_exponentials import exp
from .doubles import Doubles

_SERIES = [Fraction((-1) ** n, factorial(n) * (2 * n + 1)) for n in range(1, 21)]
_FIRST, _LAST = 1.0, 6.0
"""From where on the series is not taken, and the function is 1."""
_TAIL = [
    0.22142954022993184,
    0.16189356804102498,
    0.038560570425178751,
    0.0055888162818401483,
    0.00019713917780504528,
    -8.0792204274463084e-5,
    -7.3405185545281367e-6,
    1.9795619117948378e-6,
    1.6350179331888475e-7,
    -7.0053561504327599e-8,
    -5.9376429346490129e-10,
    2.6248030731791733e-9,
    -2.6260417449824267e-10,
    -7.4551044962063099e-11,
    1.8386753405993422e-11,
    4.4133850329466984e-13,
]
"""exp(x²) erfc(x) from 1 to 6, a polynomial in u, where 2 / (2 + x) is (11 + 5 u) / 24.

It is the interpolation at 16 Chebyshev nodes, of a relative error below 1e-15.
"""


def erf(s: Doubles, x: Value) -> Value:
    """The error function."""
    a = s.magnitude(x)
    square = s.mul(a, a)
    factor = s.number(2 / sqrt(pi))
    small = s.fma(a, factor, s.mul(a, s.mul(factor, s.mul(square, s.series(square, _SERIES)))))
    bounded = s.clamped(a, _LAST)
    t = s.div(s.number(2.0), s.add(bounded, s.number(2.0)))
    u = s.fma(t, s.number(24 / 5), s.number(-11 / 5))
    decay = exp(s, s.minus(s.mul(bounded, bounded)))
    large = s.sub(s.number(1.0), s.mul(decay, s.polynomial(u, _TAIL)))
    value = s.pick(s.less(a, _FIRST), small, large)
    return s.call("llvm.copysign.f64", value, x)

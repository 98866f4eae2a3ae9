"""Functions of floats, element by element, under numpy's names.

With `approx`, upstream's `fastmath<afn>`, the hardware's approximation is taken as it is.
"""

from __future__ import annotations

import math

from tilec.ir import ops
from tilec.isa import TilecError

from .arithmetic import absolute
from .casts import check_computed, match_types
from .emit import emit, result, type_of
from .tile import Operand, Tile


def _unary(name: str, x: Tile, approx: bool = False) -> Tile:
    if not isinstance(x, Tile):
        raise TilecError(f"takes a tile, not {x!r}; of Python's numbers use the module math")
    check_computed(x, name)
    if x.dtype.kind != "float":
        raise TilecError(f"{name} does not take {x.dtype!r}: cast to a float first")
    attributes = ops.math.approximate() if approx else {}
    value = result(f"math.{name}", [x.value], type_of(x.dtype, x.shape), attributes)
    return Tile(value, x.dtype, x.shape)


def abs(x: Tile) -> Tile:  # noqa: A001 (numpy's name)
    """The absolute value, of integers too."""
    return absolute(x)


def exp(x: Tile, *, approx: bool = False) -> Tile:
    """The power x of e."""
    return _unary("exp", x, approx)


def exp2(x: Tile, *, approx: bool = False) -> Tile:
    """The power x of 2."""
    return _unary("exp2", x, approx)


def log(x: Tile, *, approx: bool = False) -> Tile:
    """The natural logarithm."""
    return _unary("log", x, approx)


def log2(x: Tile, *, approx: bool = False) -> Tile:
    """The logarithm to base 2."""
    return _unary("log2", x, approx)


def sqrt(x: Tile, *, approx: bool = False) -> Tile:
    """The square root."""
    return _unary("sqrt", x, approx)


def rsqrt(x: Tile, *, approx: bool = False) -> Tile:
    """1 over the square root."""
    return _unary("rsqrt", x, approx)


def sin(x: Tile, *, approx: bool = False) -> Tile:
    """The sine, of any argument."""
    return _unary("sin", x, approx)


def cos(x: Tile, *, approx: bool = False) -> Tile:
    """The cosine, of any argument."""
    return _unary("cos", x, approx)


def tanh(x: Tile, *, approx: bool = False) -> Tile:
    """The hyperbolic tangent."""
    return _unary("tanh", x, approx)


def erf(x: Tile) -> Tile:
    """The error function."""
    return _unary("erf", x)


def expm1(x: Tile) -> Tile:
    """`exp(x) - 1`, without loss where x is small."""
    return _unary("expm1", x)


def log1p(x: Tile) -> Tile:
    """`log(1 + x)`, without loss where x is small."""
    return _unary("log1p", x)


def log10(x: Tile) -> Tile:
    """The logarithm to base 10."""
    return _unary("log10", x)


def rint(x: Tile) -> Tile:
    """The nearest whole number, the even one of two."""
    return _unary("roundeven", x)


def round(x: Tile) -> Tile:  # noqa: A001 (numpy's name)
    """The nearest whole number, the even one of two, as numpy's."""
    return _unary("roundeven", x)


def trunc(x: Tile) -> Tile:
    """The whole number next to x toward zero."""
    return _unary("trunc", x)


def pow(x: Tile, y: Operand) -> Tile:  # noqa: A001 (numpy's name)
    """`x ** y`, of floats with the special cases of IEEE 754."""
    if not isinstance(x, Tile):
        raise TilecError(f"pow takes a tile, not {x!r}; of Python's numbers use the module math")
    return x**y


def isnan(x: Tile) -> Tile:
    """Where an element is NaN."""
    return _float(x, "isnan") != x


def isinf(x: Tile) -> Tile:
    """Where an element is infinite, of either sign."""
    return absolute(_float(x, "isinf")) == math.inf


def isfinite(x: Tile) -> Tile:
    """Where an element is neither infinite nor NaN."""
    return absolute(_float(x, "isfinite")) < math.inf


def _float(x: Tile, name: str) -> Tile:
    if not isinstance(x, Tile) or x.dtype.kind != "float":
        raise TilecError(f"{name} takes a tile of floats, not {x!r}")
    check_computed(x, name)
    return x


def floor(x: Tile) -> Tile:
    """The largest whole number not above x."""
    return _unary("floor", x)


def ceil(x: Tile) -> Tile:
    """The smallest whole number not below x."""
    return _unary("ceil", x)


def fma(x: Tile, y: Operand, z: Operand) -> Tile:
    """`x * y + z`, rounded once."""
    one, two = match_types(x, y, "fma")
    two, three = match_types(two, z, "fma")
    one, three = match_types(one, three, "fma")
    check_computed(one, "fma")
    if one.dtype.kind != "float":
        raise TilecError(f"fma does not take {one.dtype!r}: cast to a float first")
    value = emit(ops.math.fma, one.value, two.value, three.value)
    return Tile(value, one.dtype, one.shape)


def sigmoid(x: Tile) -> Tile:
    """`1 / (1 + exp(-x))`."""
    return 1.0 / (1.0 + exp(-x))

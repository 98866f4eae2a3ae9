"""Functions of float32 beyond those of `tilec.lang`, as CUDA's libdevice has them, made of others.

They are plain Python: what a library of functions is, where a kernel can call any.
"""

import math
from typing import Any

import numpy as np
import tilec
import tilec.lang as tl


def sinh(x: tl.Tile) -> tl.Tile:
    """From expm1, which loses nothing where x is small."""
    grown = tl.expm1(tl.abs(x))
    return copysign(0.5 * (grown + grown / (grown + 1.0)), x)


def cosh(x: tl.Tile) -> tl.Tile:
    grown = tl.exp(tl.abs(x))
    return 0.5 * grown + 0.5 / grown


def asinh(x: tl.Tile) -> tl.Tile:
    """log1p of |x| + x² / (1 + sqrt(x² + 1)), which is that of |x| + sqrt(x² + 1) - 1."""
    far = tl.abs(x)
    square = far * far
    return copysign(tl.log1p(far + square / (1.0 + tl.sqrt(square + 1.0))), x)


def atanh(x: tl.Tile) -> tl.Tile:
    far = tl.abs(x)
    return copysign(0.5 * tl.log1p(2.0 * far / (1.0 - far)), x)


def atan(x: tl.Tile) -> tl.Tile:
    """A polynomial up to 1, and a quarter of a turn less that of 1/x beyond."""
    far = tl.abs(x)
    small = tl.where(far > 1.0, 1.0 / far, far)
    square, sum_ = small * small, tl.full(x.shape, 0.0028662257)
    for term in (
        -0.0161657367, 0.0429096138, -0.0752896400, 0.1065626393, -0.1420889944, 0.1999355085,
        -0.3333314528,
    ):  # fmt: skip
        sum_ = tl.fma(sum_, square, term)
    found = tl.fma(sum_ * square, small, small)
    return copysign(tl.where(far > 1.0, math.pi / 2 - found, found), x)


def atan2(y: tl.Tile, x: tl.Tile) -> tl.Tile:
    """The angle of (x, y), from that of the first quadrant."""
    rise, run = tl.abs(y), tl.abs(x)
    angle = atan(tl.where(rise == 0.0, 0.0, rise / run))
    return copysign(tl.where(x.view(tl.int32) < 0, math.pi - angle, angle), y)


def asin(x: tl.Tile) -> tl.Tile:
    return atan(x / tl.sqrt((1.0 - x) * (1.0 + x)))


def acos(x: tl.Tile) -> tl.Tile:
    return 2.0 * atan(tl.sqrt((1.0 - x) / (1.0 + x)))


def tan(x: tl.Tile) -> tl.Tile:
    return tl.sin(x) / tl.cos(x)


def cbrt(x: tl.Tile) -> tl.Tile:
    """A power, and a step of Newton's that mends its last bits."""
    far = tl.abs(x)
    root = tl.exp2(tl.log2(far) / 3.0)
    root = root - (root * root * root - far) / (3.0 * root * root)
    return tl.where(far == 0.0, x, copysign(root, x))


def hypot(x: tl.Tile, y: tl.Tile) -> tl.Tile:
    """Scaled by the larger, so that no square overflows."""
    most, least = tl.maximum(tl.abs(x), tl.abs(y)), tl.minimum(tl.abs(x), tl.abs(y))
    share = tl.where(most == 0.0, 0.0, least / most)
    return most * tl.sqrt(tl.fma(share, share, 1.0))


def copysign(x: tl.Tile, y: tl.Tile) -> tl.Tile:
    bits = (x.view(tl.uint32) & 0x7FFFFFFF) | (y.view(tl.uint32) & 0x80000000)
    return bits.view(tl.float32)


OF_ONE = {one.__name__: one for one in (sinh, cosh, asinh, atanh, atan, asin, acos, tan, cbrt)}
OF_TWO = {one.__name__: one for one in (hypot, copysign, atan2)}


@tilec.kernel
def apply(
    x: tl.Array[tl.float32, int],
    y: tl.Array[tl.float32, int],
    out: tl.Array[tl.float32, int],
    FUNCTION: tl.Constant[str],
    BLOCK: tl.Constant[int] = 512,
) -> None:
    at = tl.program_id(0) * BLOCK
    held = tl.load(x, at, BLOCK)
    if FUNCTION in OF_ONE:
        tl.store(out, at, OF_ONE[FUNCTION](held))
    else:
        tl.store(out, at, OF_TWO[FUNCTION](held, tl.load(y, at, BLOCK)))


def check(**settings: Any) -> None:
    """Run each, and compare with numpy."""
    random = np.random.default_rng(0)
    x = np.concatenate([random.standard_normal(400) * 10, [0.0, -0.0, 1e-20, 1e20]])
    x, y = x.astype(np.float32), random.standard_normal(404).astype(np.float32)
    for name in (*OF_ONE, *OF_TWO):
        given = np.tanh(x) * np.float32(0.999) if name in ("atanh", "asin", "acos") else x
        given = np.clip(given, -80, 80) if name in ("sinh", "cosh") else given
        given = np.clip(given, -1e18, 1e18) if name == "asinh" else given
        out = np.empty_like(x)
        apply.using(**settings)[1](given, y, out, FUNCTION=name)
        wide = given.astype(float)
        peer = getattr(np, f"arc{name[1:]}" if name[0] == "a" else name)
        expected = peer(wide, y) if name in OF_TWO else peer(wide)
        np.testing.assert_allclose(out, expected, rtol=1e-6)


if __name__ == "__main__":
    check()

"""Rotary position embedding: pairs of elements turned by an angle, halves apart or neighbours."""

from typing import Any

import numpy as np
import tilec
import tilec.lang as tl


@tilec.kernel
def rotary(
    x: tl.Array[tl.float16, int, int, int],
    y: tl.Array[tl.float16, int, int, int],
    base: float,
    HEADS: tl.Constant[int],
    SIZE: tl.Constant[int],
    INTERLEAVED: tl.Constant[bool],
) -> None:
    """Of one token of a sequence, all heads."""
    token, half = tl.program_id(0), SIZE // 2
    place = tl.arange(half).astype(tl.float32)
    angle = tl.float32(token) * tl.exp2(place * (-2.0 / SIZE) * tl.log2(tl.full(half, base)))
    sin, cos = tl.sin(angle)[None, :], tl.cos(angle)[None, :]
    held = tl.load(x, (token, 0, 0), (HEADS, SIZE)).astype(tl.float32)
    if INTERLEAVED:
        a, b = tl.split(held.reshape(HEADS, half, 2))
        turned = tl.interleave(a * cos - b * sin, a * sin + b * cos)
    else:
        a, b = held[:, :half], held[:, half:]
        turned = tl.concatenate((a * cos - b * sin, a * sin + b * cos), axis=1)
    tl.store(y, (token, 0, 0), turned.astype(tl.float16))


def check(**settings: Any) -> None:
    """Run both kinds, and compare with numpy."""
    x = np.random.default_rng(0).standard_normal((7, 3, 32)).astype(np.float16)
    angle = np.arange(7)[:, None, None] * 10000.0 ** (-np.arange(16) / 16)
    sin, cos = np.sin(angle), np.cos(angle)
    for interleaved in (False, True):
        y = np.empty_like(x)
        given = {"HEADS": 4, "SIZE": 32, "INTERLEAVED": interleaved}
        rotary.using(**settings)[7](x, y, 10000.0, **given)
        part = (slice(0, None, 2), slice(1, None, 2)) if interleaved else (slice(16), slice(16, 32))
        a, b = (x[..., one].astype(np.float64) for one in part)
        expected = np.empty(x.shape)
        expected[..., part[0]], expected[..., part[1]] = a * cos - b * sin, a * sin + b * cos
        np.testing.assert_allclose(y, expected, rtol=2e-3, atol=2e-3)


if __name__ == "__main__":
    check()

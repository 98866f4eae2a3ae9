"""Cases of `samples.cu`: what each kernel is given, and what numpy gives."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .case import Case

SOURCE = "samples.ptx"


def whole(shape: Any, low: int = -8, high: int = 9, type_: Any = np.float32) -> Any:
    """Whole numbers, of which sums and products are exact."""
    return np.random.default_rng(7).integers(low, high, shape).astype(type_)


def zeros(*shape: int, type_: Any = np.int32) -> Any:
    return np.zeros(shape, type_)


def _escape(width: int, height: int, limit: int) -> Any:
    """Iterations until a point leaves the disc of radius 2."""
    cr = np.arange(width) * 3.0 / width - 2 + np.zeros((height, 1))
    ci = np.arange(height)[:, None] * 2.0 / height - 1 + np.zeros(width)
    zr, zi, count = np.zeros_like(cr), np.zeros_like(cr), np.zeros(cr.shape, np.int32)
    for _ in range(limit):
        inside = zr * zr + zi * zi < 4
        count += inside
        zr, zi = (
            np.where(inside, zr * zr - zi * zi + cr, zr),
            np.where(inside, 2 * zr * zi + ci, zi),
        )
    return count


def _sobel(image: Any) -> Any:
    p = image.astype(np.int64)
    out = np.zeros_like(image)
    across = p[:-2, 2:] + 2 * p[1:-1, 2:] + p[2:, 2:] - p[:-2, :-2] - 2 * p[1:-1, :-2] - p[2:, :-2]
    down = p[2:, :-2] + 2 * p[2:, 1:-1] + p[2:, 2:] - p[:-2, :-2] - 2 * p[:-2, 1:-1] - p[:-2, 2:]
    out[1:-1, 1:-1] = np.minimum(np.abs(across) + np.abs(down), 255)
    return out


def _heat(rod: Any, steps: int) -> Any:
    for _ in range(steps):
        new = rod.copy()
        new[1:-1] = 0.25 * rod[:-2] + 0.5 * rod[1:-1] + 0.25 * rod[2:]
        rod = new
    return rod


def _locked(x: Any) -> int:
    total = 0
    for one in x.tolist():  # the simulator's CTAs come in the order of their numbers
        total = total * 3 % 1000003 + one
    return total


def cases() -> Iterator[Case]:
    a, b = whole(1000), whole(1000) + 1
    yield Case(SOURCE, "vector_add", 2, 256, [a, b, zeros(1000, type_="f4"), 1000], {2: a + b})
    a, b = whole((64, 64)), whole((64, 64)) - 2
    yield Case(
        SOURCE, "matrix_mul", (4, 4), (16, 16), [zeros(64, 64, type_="f4"), a, b, 64], {0: a @ b}
    )
    a = whole((70, 100))
    yield Case(
        SOURCE, "transpose", (4, 3), (32, 8), [zeros(100, 70, type_="f4"), a, 100, 70], {0: a.T}
    )
    x = whole(5000, type_=np.int32)
    yield Case(SOURCE, "reduce", 4, 256, [zeros(1), x, 5000], {0: [x.sum()]})
    yield Case(
        SOURCE, "fence_reduce", 4, 256, [zeros(1), zeros(4), zeros(1), x, 5000], {0: [x.sum()]}
    )
    data = whole(3000, 0, 256, np.uint8)
    yield Case(
        SOURCE, "histogram", 3, 128, [zeros(256), data, 3000], {0: np.bincount(data, minlength=256)}
    )
    x = whole((3, 256), type_=np.int32)
    yield Case(SOURCE, "block_scan", 3, 256, [zeros(3, 256), x], {0: x.cumsum(axis=1)})
    yield Case(
        SOURCE,
        "look_back_scan",
        3,
        256,
        [zeros(768), x, zeros(3, type_="u8"), zeros(1)],
        {0: x.cumsum()},
    )
    keys = whole(512, 0, 1 << 31, np.uint32)
    yield Case(SOURCE, "bitonic_sort", 1, 256, [keys.copy()], {0: np.sort(keys)})
    x, taps = whole(700), whole(9)
    yield Case(
        SOURCE,
        "convolve",
        3,
        256,
        [zeros(700, type_="f4"), x, 700],
        {0: np.convolve(x, taps[::-1], "same")},
        symbols={"taps": taps},
    )
    x = whole(500, type_=np.int32)
    yield Case(
        SOURCE,
        "compact",
        2,
        256,
        [zeros(512), zeros(1), x, 500],
        {0: np.pad(np.sort(x[x > 0]), (0, 512 - (x > 0).sum())), 1: [(x > 0).sum()]},
        sorted_by={0: (x > 0).sum()},
    )
    x = whole(4, 0, 99, np.int32)
    yield Case(SOURCE, "locked_sum", 4, 32, [zeros(1), zeros(1), x], {0: [0], 1: [_locked(x)]})
    x = whole((2, 512))
    hadamard = np.ones((1, 1))
    for _ in range(9):
        hadamard = np.block([[hadamard, hadamard], [hadamard, -hadamard]])
    yield Case(SOURCE, "walsh", 2, 256, [x.copy()], {0: x @ hadamard})
    a, x = whole((8, 256)), whole(256)
    yield Case(SOURCE, "rows_by_vector", 2, 128, [zeros(8, type_="f4"), a, x, 64], {0: a @ x})
    yield Case(SOURCE, "mandelbrot", (1, 24), 64, [zeros(24, 48), 48, 30], {0: _escape(48, 24, 30)})
    image = whole((40, 50), 0, 256, np.uint8)
    yield Case(
        SOURCE, "sobel", (4, 3), (16, 16), [np.zeros_like(image), image, 50, 40], {0: _sobel(image)}
    )
    rod = whole(512, 0, 9) * 1024
    yield Case(SOURCE, "heat", 2, 256, [rod.copy(), rod.copy(), 512, 4], {0: _heat(rod, 4)})
    a, b = whole((32, 48), -3, 4, np.float16), whole((48, 48), -3, 4, np.float16)
    yield Case(
        SOURCE,
        "tensor_mul",
        (3, 3),
        32,
        [zeros(48, 48, type_="f4"), np.vstack([a, a[:16]]), b, 48],
        {0: np.vstack([a, a[:16]]).astype("f4") @ b.astype("f4")},
    )
    x = whole((2, 3, 128, 4), type_=np.int32)
    flipped = x[:, :, ::-1].copy()
    flipped[..., 0] += 1
    yield Case(SOURCE, "pipelined_copy", 2, 128, [np.zeros_like(x), x, 3], {0: flipped})
    x, y = whole((300, 2), type_=np.float16), whole((300, 2), -3, 4, np.float16)
    yield Case(
        SOURCE,
        "dot_halves",
        1,
        128,
        [zeros(1, type_="f4"), x, y, 300],
        {0: [(x.astype("f4") * y.astype("f4")).sum()]},
    )
    thread = np.arange(64) % 32
    total = np.zeros(64, np.int64)
    for i in (3, 2, 1, 0):
        total = total * 7 + i * thread
    yield Case(SOURCE, "lists", 2, 32, [zeros(64), 4], {0: total})

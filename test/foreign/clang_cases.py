"""Cases of `clang.cu`: what each kernel is given, and what numpy gives."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import ml_dtypes
import numpy as np

from .case import Case
from .samples import whole, zeros


def _case(kernel: str, grid: int, block: int, args: list[Any], expected: Mapping[int, Any],
          **more: Any) -> Case:  # fmt: skip
    return Case("clang.ptx", kernel, grid, block, args, expected, **more)


def _words(*shape: int) -> Any:
    return np.random.default_rng(3).integers(0, 1 << 32, shape, np.uint32)


def _big_sums(a: Any, b: Any) -> Any:
    rows = []
    for x, y in zip(a, b, strict=True):
        total = sum((int(p) + int(q)) << 32 * i for i, (p, q) in enumerate(zip(x, y, strict=True)))
        rows.append([total >> 32 * i & 0xFFFFFFFF for i in range(5)])
    return np.array(rows, np.uint32)


def _video(a: Any, b: Any) -> Any:
    x, y = (v.view(np.uint8).reshape(-1, 4).astype(np.int64) for v in (a, b))
    halves = np.maximum(*(v.view(np.int16).reshape(-1, 2) for v in (a, b)))
    return np.stack([
        abs(x - y).sum(axis=1) + np.arange(len(a)),
        np.ascontiguousarray(halves).view(np.int32)[:, 0],
        x[:, 1] + (b >> np.uint32(16)),
        (x.astype(np.int8) * y).sum(axis=1) - 7,
    ], axis=1)  # fmt: skip


def _bits(given: Any) -> Any:
    results, word = [], 0xFFFFFFFF
    for i, x in enumerate(map(int, given)):
        y = int(given[i ^ 1])
        turned = (x << i % 32 | x >> (32 - i) % 32) & word
        mixed = int(f"{x:032b}"[::-1], 2) ^ y.bit_count() ^ turned
        bytes_ = x & 255 | (y & 255) << 8 | (x >> 8 & 255) << 16 | (y >> 8 & 255) << 24
        field = x >> 5 & 0x7FF
        put = y & ~(0x7FF << 9) | field << 9
        shifted = (y << 7 | x >> 25) & word
        top = (x >> i % 31).bit_length() - 1
        results.append((mixed + (bytes_ ^ shifted ^ put) * 31 + top) & word)
    return np.array(results, np.uint32)


def _rounded(x: Any, type_: Any) -> Any:
    most = float(ml_dtypes.finfo(type_).max)
    return np.clip(x, -most, most).astype(type_).view(np.uint16)


PROGRAM = [1, 4, 3, 7, 5, 2, 6, 2, 5, 7, 3, 3, 0]
"""Three times x*x + 5, which is negated before where it is even."""


def cases() -> Iterator[Case]:
    """The cases."""
    a, b = _words(64, 4), _words(64, 4)[::-1].copy()
    a[7], b[7] = 0xFFFFFFFF, 0
    b[7, 0] = 1
    yield _case("big_sums", 2, 32, [zeros(64, 5, type_="u4"), a, b], {0: _big_sums(a, b)})
    a, b = whole((16, 16)), whole((16, 8)) - 1
    halves = [v.astype(ml_dtypes.bfloat16).view(np.uint16) for v in (a, b)]
    yield _case("small_product", 1, 32, [zeros(16, 8, type_="f4"), *halves], {0: a @ b})
    x = np.random.default_rng(2).standard_normal(256).astype("f4")
    x *= np.float32(2) ** np.arange(-12, 20).repeat(8)
    given = [zeros(128, type_="u2"), zeros(128, type_="u2"), x]
    types = (ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2)
    yield _case("to_fp8", 2, 64, given, {i: _rounded(x, t) for i, t in enumerate(types)})
    a, b = _words(64), _words(64)[::-1].copy()
    yield _case("video", 1, 64, [zeros(64, 4), a, b], {0: _video(a, b)})
    keys = whole(256, 0, 1 << 16, np.uint32)
    yield _case("radix_sort", 1, 256, [keys], {0: np.sort(keys)})
    x = whole(128, 0, 99, np.int32)
    called = np.choose(x % 3, [2 * x, x * x, -x])
    yield _case("by_pointer", 2, 64, [np.zeros_like(x), x], {0: called})
    x = whole((64, 12), -99, 99, np.int32)
    yield _case("sort_own", 2, 32, [x], {0: np.sort(x, axis=1)})
    x = whole(96, type_=np.int32)
    value = x * x + 5
    value = 3 * np.where(value % 2, value, -value)
    code = np.array(PROGRAM + [0] * (32 - len(PROGRAM)), np.uint8)
    yield _case("bytecode", 3, 32, [np.zeros_like(x), x], {0: value}, symbols={"code": code})
    x = whole(200, -500, 500)
    counters: list[Any] = [np.zeros(1), zeros(1), zeros(1), np.full(1, 100, "f4"), x, 200]
    yield _case(
        "atomics", 2, 128, counters, {0: [x.sum()], 1: [x.max()], 2: [200 % 7], 3: [x.min()]}
    )
    words = whole(256, 0, 20, np.int32)
    yield _case("counted_words", 2, 128, [zeros(20), words], {0: np.bincount(words, minlength=20)})
    m = np.random.default_rng(4).standard_normal((3, 16, 17)) + 8 * np.eye(16, 17)
    solved = np.linalg.solve(m[..., :16], m[..., 16:])[..., 0]
    yield _case("solve", 3, 32, [np.zeros((3, 16)), m], {0: solved}, tolerance=1e-10)
    x = _words(128)
    x[5] = 0
    yield _case("bits", 2, 64, [np.zeros_like(x), x], {0: _bits(x)})
    x = whole(64, type_=np.int32)
    said = [f"{i} has {v / 2:.1f}" for i, v in enumerate(x) if v > 5]
    yield _case("said", 1, 64, [x], {}, lines=said)
    x = whole((5, 256), type_=np.int32)
    yield _case("ring", 1, 64, [np.zeros_like(x), x, 5], {0: x[:, ::-1]})

"""Triton's kernels of other kinds run unchanged: softmax, layer norm, attention, atomics, sorts."""

import math
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest


@pytest.mark.parametrize(("rows", "cols", "block"), [(37, 300, 512), (4, 1024, 1024), (3, 1, 32)])
def test_softmax(triton: Any, rng: Any, rows: int, cols: int, block: int) -> None:
    x = (rng.standard_normal((rows, cols)) * 3).astype(np.float32)
    y = np.full_like(x, np.nan)
    triton.run("softmax", (rows,), [y, x, cols, cols], block=block).require_ok()
    np.testing.assert_allclose(y, softmax(x), rtol=2e-6)


def softmax(x: Any) -> Any:
    e = np.exp(x.astype(np.float64) - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_layer_norm(triton: Any, rng: Any, dtype: Any) -> None:
    rows, n, eps = 9, 700, 1e-5
    x, y = rng.standard_normal((rows, n)).astype(dtype), np.zeros((rows, n), dtype)
    w, b = rng.standard_normal((2, n)).astype(np.float32)
    mean, rstd = np.zeros((2, rows), np.float32)
    triton.run("layer_norm", (rows,), [x, y, w, b, mean, rstd, n, n, eps], block=256).require_ok()
    wide = x.astype(np.float64)
    center = wide.mean(axis=1)
    scale = 1 / np.sqrt(wide.var(axis=1) + eps)
    np.testing.assert_allclose(mean, center, atol=1e-6)
    np.testing.assert_allclose(rstd, scale, rtol=1e-6)
    expected = (wide - center[:, None]) * scale[:, None] * w + b
    rtol = np.finfo(dtype).eps
    np.testing.assert_allclose(y, expected, rtol=rtol, atol=1e-5)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(
    ("dtype", "capability", "numerics", "tolerance"),
    [
        (np.float16, 80, "exact", 2e-3),
        (np.float16, 89, "fast", 2e-3),
        (ml_dtypes.bfloat16, 120, "exact", 2e-2),
    ],
)
def test_flash_attention(
    triton: Any,
    rng: Any,
    dtype: Any,
    capability: int,
    numerics: str,
    tolerance: float,
    causal: bool,
) -> None:
    heads, length, depth = 2, 128, 64
    q, k, v = rng.standard_normal((3, heads, length, depth)).astype(dtype)
    out = np.zeros_like(q)
    report = triton.run(
        "attention", (length // 64, heads), [q, k, v, out, depth**-0.5, length],
        capability=capability, numerics=numerics, bm=64, bn=32, depth=depth, causal=causal,
    ).require_ok()  # fmt: skip
    q, k, v = (x.astype(np.float64) for x in (q, k, v))
    scores = q @ k.transpose(0, 2, 1) * depth**-0.5
    if causal:
        scores = np.where(np.tril(np.ones((length, length), np.bool_)), scores, -np.inf)
    np.testing.assert_allclose(out.astype(np.float64), softmax(scores) @ v, atol=tolerance)
    assert report.flops


def test_atomics_and_a_lock_between_ctas(triton: Any, rng: Any) -> None:
    n, ctas = 3000, 6
    x = rng.integers(0, 1000, n).astype(np.int32)
    counts, total = np.zeros(16, np.int32), np.zeros(1, np.float32)
    least, most = np.full(1, 10**6, np.int32), np.zeros(1, np.int32)
    lock, critical = np.zeros((2, 1), np.int32)
    triton.run(
        "atomics", (ctas,), [x, n, counts, total, least, most, lock, critical], block=512, bins=16
    ).require_ok()
    np.testing.assert_array_equal(counts, np.bincount(x % 16, minlength=16))
    assert (total[0], least[0], most[0], lock[0]) == (x.sum(), x.min(), x.max(), 0)
    assert critical[0] == sum(3**i for i in range(ctas))


def test_histogram(triton: Any, rng: Any) -> None:
    x, counts = rng.integers(0, 64, (4, 1024)).astype(np.int32), np.zeros(64, np.int32)
    triton.run("histogram", (4,), [x, counts], block=1024, bins=64).require_ok()
    np.testing.assert_array_equal(counts, np.bincount(x.ravel(), minlength=64))


def test_findings_name_the_line_of_the_python_program(triton: Any) -> None:
    x, counts = np.zeros(4 * 1024 - 1, np.int32), np.zeros(63, np.int32)
    report = triton.run("histogram", (4,), [x, counts], block=1024, bins=64)
    lines = Path(__file__).with_name("kernels.py").read_text().splitlines()
    for finding, what in zip(report.findings, ("tl.load(x_ptr", "tl.atomic_add("), strict=True):
        assert finding.kind == "out-of-bounds"
        file, _, line = finding.source.rpartition(":")
        assert file.endswith("kernels.py")
        assert what in lines[int(line) - 1]


def test_reductions_scans_and_sorts(triton: Any, rng: Any) -> None:
    x = rng.permutation(32 * 64).reshape(32, 64).astype(np.int32)
    sums, where = np.zeros((2, 96), np.int32)
    running, ordered = np.zeros((2, 32, 64), np.int32)
    triton.run(
        "reductions", (1,), [x, sums, where, running, ordered], rows=32, cols=64
    ).require_ok()
    np.testing.assert_array_equal(sums, np.concatenate([x.sum(1), x.sum(0)]))
    np.testing.assert_array_equal(where, np.concatenate([x.argmax(1), x.argmin(0)]))
    np.testing.assert_array_equal(running, x.cumsum(1))
    np.testing.assert_array_equal(ordered, np.sort(x, 1))


def test_functions_and_random_numbers(triton: Any, rng: Any) -> None:
    n = 1000
    x, y = rng.uniform(0.01, 8, n).astype(np.float32), np.zeros((10, n), np.float32)
    triton.run("elementwise", (4,), [x, y, n], block=256).require_ok()
    wide = x.astype(np.float64)
    expected = [
        np.exp(wide),
        np.log(wide),
        np.sin(wide),
        np.cos(wide),
        np.array([math.erf(v) for v in wide]),
        1 / np.sqrt(wide),
        1 / (1 + np.exp(-wide)),
        np.floor(wide) + np.ceil(wide),
        np.fmod(wide, 0.75),
    ]
    np.testing.assert_allclose(y[:9], expected, rtol=2e-6, atol=2e-7)
    np.testing.assert_array_equal(y[9], [uniform(philox(1234, i)) for i in range(n)])


def philox(seed: int, offset: int) -> int:
    """The first word of Philox4x32-10 (Salmon et al., SC 2011)."""
    word = 0xFFFFFFFF
    c, key = [offset, 0, 0, 0], [seed, 0]
    for _ in range(10):
        first, second = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [second >> 32 ^ c[1] ^ key[0], second & word, first >> 32 ^ c[3] ^ key[1], first & word]
        key = [key[0] + 0x9E3779B9 & word, key[1] + 0xBB67AE85 & word]
    return c[0]


def uniform(bits: int) -> Any:
    """A word as a float in [0, 1), as Triton's `rand` makes it."""
    signed = bits - (bits >> 31 << 32)
    return np.float32(-signed - 1 if signed < 0 else signed) * np.float32(4.6566127342e-10)


def test_transpose(triton: Any, rng: Any) -> None:
    x, y = rng.standard_normal((64, 32)).astype(np.float32), np.zeros((32, 64), np.float32)
    report = triton.run("transpose", (1,), [x, y], rows=64, cols=32).require_ok()
    np.testing.assert_array_equal(y, x.T)
    assert report.conflicts == 0


def test_print_and_assert(triton: Any) -> None:
    x = np.arange(32, dtype=np.int32)
    report = triton.run("shout", (1,), [x], num_warps=1, debug=True).require_ok()
    lines = [f"pid (0, 0, 0) idx ({i:2}) x is: {i}" for i in range(32)]
    assert report.output.splitlines() == lines
    x[5] = 100
    report = triton.run("shout", (1,), [x], num_warps=1, debug=True)
    (finding,) = report.findings
    assert finding.kind == "trap"
    assert "`too large` failed" in finding.message
    assert "thread (5, 0, 0)" in finding.message

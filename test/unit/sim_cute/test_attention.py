"""Attention in the CuTe DSL, as `benchmarks/kernel_stats.py` counts it, matches numpy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tilec.sim import TensorMap, launch

QUERIES = 128
LINE = 64
"""Elements that a swizzle keeps in a line."""


@pytest.mark.parametrize(
    ("heads", "rows", "depth", "block", "keys"),
    [
        (1, 128, 64, 128, 384),
        pytest.param(2, 200, 128, 128, 256, marks=pytest.mark.slow),
        pytest.param(1, 128, 256, 64, 64, marks=pytest.mark.slow),
    ],
)
def test_attention(
    cute: Any, rng: Any, heads: int, rows: int, depth: int, block: int, keys: int
) -> None:
    made = cute.compile(kernel="attention", queries=QUERIES, keys=block, depth=depth, stages=2)
    q = rng.standard_normal((heads, rows, depth)).astype(np.float16)
    k, v = (rng.standard_normal((heads, keys, depth)).astype(np.float16) for _ in "kv")
    o = np.full((heads, rows + 1, depth), 7, np.float16)
    scale = np.float32(0.18)

    def tiles(array: np.ndarray[Any, Any], lines: int) -> list[Any]:
        found = np.array((*array.shape[1:], heads), np.int32)
        return [TensorMap(array, box=(1, lines, LINE), swizzle="128B"), found.tobytes()]

    turned = np.array((depth, keys, heads), np.int32).tobytes()
    args = [
        *[b"\0"] * 3,
        *tiles(q, QUERIES),
        *tiles(k, block),
        tiles(v, block)[0],
        turned,
        *tiles(o[:, :rows], QUERIES),
        scale,
    ]
    grid = (-(-rows // QUERIES), heads)
    report = launch(
        made["ptx"], made["name"], grid, made["threads"], args, dynamic_smem=made["shared"],
        numerics="fast",
    )  # fmt: skip
    report.require_ok()
    scores = q.astype(np.float32) @ k.astype(np.float32).transpose(0, 2, 1) * scale
    powers = np.exp2(scores - scores.max(axis=-1, keepdims=True))
    expected = powers.astype(np.float16).astype(np.float32) @ v.astype(np.float32)
    expected /= powers.sum(axis=-1, keepdims=True)
    np.testing.assert_allclose(o[:, :rows].astype(np.float32), expected, atol=2e-3)
    assert (o[:, rows:] == 7).all()

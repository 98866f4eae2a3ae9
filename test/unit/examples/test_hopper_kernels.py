"""Kernels beyond a plain GEMM on sm_90a: they come through `wgmma`, and are right on the simulator.

Their sources name no instruction. What is run is compared with numpy's; extents fill no tile.
"""

from __future__ import annotations

import itertools
import math
import re
import sys
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import tilec
from tilec.runtime import pack

ROOT = Path(__file__).parents[3]
sys.path.insert(0, str(ROOT / "examples" / "kernels"))
try:
    from fp8_block_gemm import fp8_block_gemm
    from grouped_gemm import grouped_gemm
    from stream_k_gemm import stream_k_gemm
    from varlen_attention import varlen_attention
    from w4a16_gemm import w4a16_gemm_by_weights
finally:
    sys.path.pop(0)

E4M3 = ml_dtypes.float8_e4m3fn


def _instructions(compiled: tilec.Compiled) -> list[str]:
    """The PTX but for what says where in the source it came from."""
    lines = (line.strip() for line in compiled.ptx.splitlines())
    return [line for line in lines if not line.startswith(("//", ".loc", ".file"))]


def _launch(
    kernel: Any, arrays: list[Any], grid: Any, form: str, **constants: Any
) -> tilec.Compiled:
    """Compile for sm_90a and run; every product is by a `wgmma` of this form.

    As MLIR, which `tilec` reads from a file, the kernel becomes the same instructions.
    """
    kernel = kernel.using(target="sm_90a")
    compiled = kernel.compile(*arrays, **constants)
    from_text = tilec.compile(str(kernel.build(*arrays, **constants)), target="sm_90a")
    assert _instructions(from_text) == _instructions(compiled)
    assert re.search(rf"wgmma\.mma_async\.sync\.aligned\.{form}\b", compiled.ptx)
    assert not re.search(r"\bmma\.sync", compiled.ptx)
    given = [one for value in arrays for one in (value if isinstance(value, list) else [value])]
    report = compiled.launch(*given, grid=grid, device="sim")
    assert report is not None
    assert not report.findings
    return compiled


@pytest.mark.parametrize("warps", [4, 8])
def test_problems_of_many_sizes(warps: int) -> None:
    rng = np.random.default_rng(warps)
    shapes = [(70, 40, 104), (136, 136, 64), (1, 8, 8)]
    a = [rng.integers(-4, 5, (m, k)).astype(np.float16) for m, _, k in shapes]
    b = [rng.integers(-4, 5, (k, n)).astype(np.float16) for _, n, k in shapes]
    c = [np.full((m, n), np.nan, np.float32) for m, n, _ in shapes]
    block = 16 * warps
    _launch(grouped_gemm.using(warps=warps), [a, b, c], 3, f"m64n{block}k16.f32", BLOCK=block)
    for x, y, z in zip(a, b, c, strict=True):
        np.testing.assert_array_equal(z, x.astype(int) @ y.astype(int))


def test_stream_k() -> None:
    rng = np.random.default_rng(0)
    a = rng.integers(-3, 4, (136, 200)).astype(np.float16)
    b = rng.integers(-3, 4, (200, 72)).astype(np.float16)
    ctas = 5
    c, flags = np.full((136, 72), np.nan, np.float32), np.zeros(ctas, np.int32)
    parts = np.empty((ctas, 64, 64), np.float32)
    arrays = [a, b, c, parts, flags]
    compiled = _launch(stream_k_gemm.using(warps=4), arrays, ctas, "m64n64k16.f32.f16.f16")
    assert any("it stands in 'scf.while', neither" in str(one) for one in compiled.remarks)
    np.testing.assert_array_equal(c, a.astype(int) @ b.astype(int))


def test_scales_of_blocks() -> None:
    rng = np.random.default_rng(0)
    m, n, k = 136, 136, 256
    a, b = (rng.integers(-3, 4, (rows, k)).astype(E4M3) for rows in (m, n))
    of_a = rng.choice([0.5, 1, 2], (m, k // 128)).astype(np.float32)
    of_b = rng.choice([0.5, 1, 2], (2, k // 128)).astype(np.float32)
    c = np.empty((m, n), ml_dtypes.bfloat16)
    kernel = fp8_block_gemm.using(warps=8)
    _launch(kernel, [a, b, of_a, of_b, c], (2, 2), "m64n128k32.f32.e4m3.e4m3", BM=128)
    left = a.astype(float) * np.repeat(of_a, 128, 1)
    right = b.astype(float) * np.repeat(np.repeat(of_b, 128, 1), 128, 0)[:n]
    np.testing.assert_array_equal(c, (left @ right.T).astype(ml_dtypes.bfloat16))


def test_weights_of_4_bits_in_registers() -> None:
    """Weights are computed, and so are A: the product is that of the transposes."""
    rng = np.random.default_rng(0)
    m, n, k, group = 24, 136, 256, 64
    a = rng.integers(-2, 3, (m, k)).astype(np.float16)
    codes, zeros = rng.integers(0, 16, (n, k)), rng.integers(0, 16, (n, k // group))
    scales = rng.choice([0.25, 0.5], (n, k // group)).astype(np.float16)
    c = np.empty((m, n), np.float16)
    arrays = [a, pack(codes, "u4"), scales, zeros.astype(np.uint8), c]
    form = "m64n16k16.f32.f16.f16"
    compiled = _launch(w4a16_gemm_by_weights.using(warps=8), arrays, (2, 2), form, BM=16, BN=128)
    said = [str(remark) for remark in compiled.remarks if "tile-specialize-warps" in str(remark)]
    assert any("'tile.load' reads copied data, and only products wait" in one for one in said)
    assert any("waits for its products in each iteration: A, or its met" in one for one in said)
    shift, factor = (np.repeat(one.astype(float), group, 1) for one in (zeros, scales))
    wanted = a.astype(float) @ ((codes - shift) * factor).T
    np.testing.assert_array_equal(c, wanted.astype(np.float16))


@pytest.mark.parametrize(
    ("deep", "heads", "causal"),
    [(64, 4, False), (128, 2, True), pytest.param(256, 2, False, marks=pytest.mark.slow)],
)
def test_attention_of_sequences_of_many_lengths(deep: int, heads: int, causal: bool) -> None:
    """Two heads of queries share one of keys; sequences lie behind each other, one empty.

    Where they begin is loaded; CTAs behind the end of a sequence have nothing to do. Keys and
    values are loaded by TMA, by warps that do nothing else, and the products of blocks overlap.
    """
    rng = np.random.default_rng(deep)
    lengths, shared = [9, 0, 1, 130], 2
    starts = np.cumsum([0, *lengths]).astype(np.int32)
    q = rng.standard_normal((heads, starts[-1], deep)).astype(np.float16)
    k, v = rng.standard_normal((2, heads // shared, starts[-1], deep)).astype(np.float16)
    o = np.zeros_like(q)
    scale = math.log2(math.e) / math.sqrt(deep)
    constants = {"BM": 128, "BN": 64, "SHARED": shared, "CAUSAL": causal}
    grid = 2, heads, len(lengths)
    compiled = _launch(
        varlen_attention.using(warps=8),
        [q, k, v, o, starts, scale],
        grid,
        "m64n64k16.f32.f16.f16",
        **constants,
    )
    for word in ("cp.async.bulk.tensor.3d", "setmaxnreg.dec", "wgmma.wait_group.sync.aligned 1;"):
        assert word in compiled.ptx
    for first, end in itertools.pairwise(starts):
        for head in range(heads):
            x, y, z = (
                one.astype(float)[at, first:end]
                for one, at in ((q, head), (k, head // shared), (v, head // shared))
            )
            scores = x @ y.T / math.sqrt(deep)
            if causal:
                scores = np.where(np.tri(*scores.shape, dtype=bool), scores, -np.inf)
            powers = np.exp(scores - scores.max(axis=1, keepdims=True, initial=-np.inf))
            wanted = powers / powers.sum(axis=1, keepdims=True) @ z
            np.testing.assert_allclose(o[head, first:end], wanted, atol=4e-3)

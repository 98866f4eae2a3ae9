"""GEMMs of every type that warpgroups multiply: one source, for sm_80, sm_90a and sm_120a.

Results of the simulator are compared with numpy's; factors are small integers, whose sums are exact
in every order.
"""

from __future__ import annotations

import re
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import tilec
import tilec.lang as tl
from tilec.isa import target
from tilec.pipelines import pipeline

BF16, E4M3, E5M2 = ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2
Matrices = tl.Array[Any, int, int, int]


@tilec.kernel(warps=8)
def gemm(
    a: Matrices,
    b: Matrices,
    c: Matrices,
    part: tl.Size,
    A_TURNED: tl.Constant[bool] = False,  # noqa: N803
    B_TURNED: tl.Constant[bool] = False,  # noqa: N803
    SPLIT: tl.Constant[bool] = False,  # noqa: N803
    PROMOTED: tl.Constant[bool] = False,  # noqa: N803
    BK: tl.Constant[int] = 64,  # noqa: N803
) -> None:
    """A may be KxM, B NxK; every CTA along z takes a matrix, or a part of K."""
    row, col = tl.program_id(1) * 128, tl.program_id(0) * 128
    i = 0 if SPLIT else tl.program_id(2)
    depth = a.shape[1] if A_TURNED else a.shape[2]
    first = tl.program_id(2) * part if SPLIT else 0
    last = min(first + part, depth) if SPLIT else depth
    held_a = tl.tfloat32 if a.dtype is tl.float32 else a.dtype
    held_b = tl.tfloat32 if b.dtype is tl.float32 else b.dtype
    acc = tl.zeros((128, 128), c.dtype)
    for k in range(first, last, BK):
        if A_TURNED:
            x = tl.load(a, (i, k, row), (BK, 128), dtype=held_a).T
        else:
            x = tl.load(a, (i, row, k), (128, BK), dtype=held_a)
        if B_TURNED:
            y = tl.load(b, (i, col, k), (128, BK), dtype=held_b).T
        else:
            y = tl.load(b, (i, k, col), (BK, 128), dtype=held_b)
        before = tl.zeros((128, 128), c.dtype) if PROMOTED else acc
        acc = acc + tl.dot(x, y, before) if PROMOTED else tl.dot(x, y, before)
    if SPLIT:
        tl.atomic_add(c, (0, row, col), acc)
    else:
        tl.store(c, (i, row, col), acc)


TYPES: dict[str, tuple[Any, Any, Any, str, int]] = {
    # of A, of B, of C; the wgmma; what K of a tile is
    "f16": (np.float16, np.float16, np.float32, "m64n128k16.f32.f16.f16", 64),
    "bf16": (BF16, BF16, np.float32, "m64n128k16.f32.bf16.bf16", 64),
    "tf32": (np.float32, np.float32, np.float32, "m64n128k8.f32.tf32.tf32", 32),
    "e4m3": (E4M3, E4M3, np.float32, "m64n128k32.f32.e4m3.e4m3", 128),
    "e5m2": (E5M2, E5M2, np.float32, "m64n128k32.f32.e5m2.e5m2", 128),
    "e4m3 e5m2": (E4M3, E5M2, np.float32, "m64n128k32.f32.e4m3.e5m2", 128),
    "s8": (np.int8, np.int8, np.int32, "m64n128k32.s32.s8.s8", 128),
}
EXTENTS = (136, 152, 208)
"""M, N and K: ragged, with rows of whole 16 bytes of every type."""


def _run(
    name: str, chip: str, *, batches: int = 1, **constants: Any
) -> tuple[tilec.Compiled, Any, Any]:
    """A GEMM: what was compiled, C, and what it must be."""
    a_type, b_type, c_type, _, depth = TYPES[name]
    rng = np.random.default_rng(sum(name.encode()))
    m, n, k = EXTENTS
    a, b = (rng.integers(-2, 3, shape) for shape in ((batches, m, k), (batches, k, n)))
    given = [
        np.ascontiguousarray(one.swapaxes(1, 2) if turned else one).astype(type_)
        for one, turned, type_ in (
            (a, constants.get("A_TURNED"), a_type),
            (b, constants.get("B_TURNED"), b_type),
        )
    ]
    c = np.zeros((batches, m, n), c_type)
    part = 128 if constants.get("SPLIT") else k
    wanted = np.einsum("imk,ikn->imn", a, b)
    compiled = gemm.using(target=chip).compile(*given, c, part, BK=depth, **constants)
    slices = -(-k // part) if constants.get("SPLIT") else batches
    compiled.launch(*given, c, part, grid=(-(-n // 128), -(-m // 128), slices), device="sim")
    return compiled, c, wanted


def _check(name: str, *, batches: int = 1, chip: str = "sm_90a", **constants: Any) -> None:
    compiled, c, wanted = _run(name, chip, batches=batches, **constants)
    np.testing.assert_array_equal(c.astype(np.int64), wanted)
    if chip == "sm_90a":
        assert f"wgmma.mma_async.sync.aligned.{TYPES[name][3]}" in compiled.ptx
        assert "setmaxnreg" in compiled.ptx
        assert "cp.async.bulk.tensor" in compiled.ptx
        assert not re.search(r"\bmma\.sync", compiled.ptx)
    else:
        assert re.search(r"\bmma\.sync", compiled.ptx)


@pytest.mark.parametrize("name", TYPES)
def test_every_type(name: str) -> None:
    """Elements of 8 and 32 bits with K contiguous in both, as the instruction takes them."""
    _check(name, B_TURNED=True)


@pytest.mark.parametrize("name", ["f16", "bf16"])
@pytest.mark.parametrize("a_turned", [False, True])
@pytest.mark.parametrize("b_turned", [False, True])
def test_every_transposition(name: str, a_turned: bool, b_turned: bool) -> None:
    _check(name, A_TURNED=a_turned, B_TURNED=b_turned)


@pytest.mark.parametrize("name", ["f16", "e4m3", "s8"])
def test_batches_and_parts_of_k(name: str) -> None:
    _check(name, batches=2, B_TURNED=True)
    _check(name, B_TURNED=True, SPLIT=True)


@pytest.mark.parametrize(
    ("name", "chip"),
    [(n, "sm_120a") for n in TYPES] + [(n, "sm_80") for n in ("f16", "bf16", "tf32", "s8")],
)
def test_other_targets(name: str, chip: str) -> None:
    """The same source, where warps multiply."""
    _check(name, chip=chip, B_TURNED=True)


def _error(compiled: tilec.Compiled, k: int) -> float:
    """How far the sum of one large number and many small ones is from what it must be."""
    a = np.ones((1, 128, k), E4M3)
    b = np.full((1, 128, k), 2.0**-6).astype(E4M3)
    a[:, :, 0], b[:, :, 0] = 256, 256
    c = np.zeros((1, 128, 128), np.float32)
    compiled.launch(a, b, c, k, grid=1, device="sim")
    wanted = 2.0**16 + (k - 1) * 2.0**-6
    return float(abs(c - wanted).max())


def test_promotion_keeps_small_terms() -> None:
    """Added up in the matrix instruction, what is small beside a sum is lost; numpy has it."""
    k = 1024
    sample = [np.zeros((1, 128, k), E4M3)] * 2 + [np.zeros((1, 128, 128), np.float32), k]
    chosen = pipeline(target("sm_90a"))
    promoted = chosen.replaced("tile-promote-sums", "tile-promote-sums{fp8=true}")
    text = str(gemm.using(target="sm_90a").build(*sample, B_TURNED=True, BK=128))
    plain, option = (
        tilec.compile(text, target="sm_90a", pipeline=one) for one in (chosen, promoted)
    )
    by_hand = gemm.using(target="sm_90a").compile(*sample, B_TURNED=True, BK=128, PROMOTED=True)
    lost, kept, same = (_error(one, k) for one in (plain, option, by_hand))
    assert lost > 10
    assert kept < lost / 4
    assert same == kept
    for one in (option, by_hand):
        assert "wgmma.mma_async.sync.aligned.m64n128k32.f32.e4m3.e4m3" in one.ptx


@tilec.kernel(warps=8)
def fused(
    a: tl.Array[tl.float16, int, int],
    b: tl.Array[tl.float16, int, int],
    bias: tl.Array[tl.float16, int],
    scale: tl.Array[tl.float32, int],
    residual: tl.Array[tl.float16, int, int],
    c: tl.Array[tl.float16, int, int],
) -> None:
    """relu(A·B · scale of a row + bias of a column) + residual, as f16."""
    row, col = tl.program_id(1) * 128, tl.program_id(0) * 128
    acc = tl.zeros((128, 128))
    for k in range(0, a.shape[1], 64):
        acc = tl.dot(tl.load(a, (row, k), (128, 64)), tl.load(b, (k, col), (64, 128)), acc)
    acc = acc * tl.load(scale, row, 128)[:, None] + tl.load(bias, col, 128).astype(tl.float32)
    acc = tl.maximum(acc, 0.0) + tl.load(residual, (row, col), (128, 128)).astype(tl.float32)
    tl.store(c, (row, col), acc.astype(tl.float16))


def test_a_fused_epilogue() -> None:
    """In registers, on the way to the panels that TMA stores, by CTAs that take several tiles."""
    rng = np.random.default_rng(0)
    m, n, k = 264, 136, 72
    a, b = (rng.integers(-2, 3, shape).astype(np.float16) for shape in ((m, k), (k, n)))
    bias, residual = (rng.integers(-9, 10, shape).astype(np.float16) for shape in ((n,), (m, n)))
    scale = rng.choice([0.5, 1, 2], m).astype(np.float32)
    c = np.full((m, n), 7, np.float16)
    compiled = fused.compile(a, b, bias, scale, residual, c, target="sm_90a")
    compiled.launch(a, b, bias, scale, residual, c, grid=(2, 3), device="sim", sms=2)
    wanted = np.maximum(a.astype(int) @ b.astype(int) * scale[:, None] + bias, 0) + residual
    np.testing.assert_array_equal(c, wanted)
    (kernel,) = compiled.kernels
    assert kernel.ctas_per_sm == 1
    for word in ("setmaxnreg", "stmatrix", "cp.async.bulk.tensor.2d.global.shared::cta"):
        assert word in compiled.ptx

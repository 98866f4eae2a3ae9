"""2:4 sparse GEMMs on sm_90a: one source, through `wgmma.mma_async.sp` there, `mma.sp` elsewhere.

Results of the simulator are compared with numpy's product of the pruned matrix; factors are small
integers, whose sums are exact in every order.
"""

from __future__ import annotations

import re
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import tilec
import tilec.lang as tl
from tilec.isa import Product, form
from tilec.runtime import compress, pack, prune

Matrix = tl.Array[Any, int, int]
MMA = "mma.sp::ordered_metadata.sync.aligned"


@tilec.kernel(warps=8)
def sparse(
    a: Matrix,
    codes: tl.Array[tl.int4, int, int],
    b: Matrix,
    c: Matrix,
    A_TURNED: tl.Constant[bool] = False,  # noqa: N803
    B_TURNED: tl.Constant[bool] = False,  # noqa: N803
    COMPUTED: tl.Constant[bool] = False,  # noqa: N803
    BM: tl.Constant[int] = 128,  # noqa: N803
    BN: tl.Constant[int] = 128,  # noqa: N803
    BK: tl.Constant[int] = 64,  # noqa: N803
    CHUNK: tl.Constant[int] = 4,  # noqa: N803
) -> None:
    """What is stored of A may be K/2xM, B NxK."""
    row, col = tl.program_id(1) * BM, tl.program_id(0) * BN
    held_a = tl.tfloat32 if a.dtype is tl.float32 else a.dtype
    held_b = tl.tfloat32 if b.dtype is tl.float32 else b.dtype
    depth = b.shape[1] if B_TURNED else b.shape[0]
    acc = tl.zeros((BM, BN), c.dtype)
    for k in range(0, depth, BK):
        if A_TURNED:
            x = tl.load(a, (k // 2, row), (BK // 2, BM), dtype=held_a).T
        else:
            x = tl.load(a, (row, k // 2), (BM, BK // 2), dtype=held_a)
        if B_TURNED:
            y = tl.load(b, (col, k), (BN, BK), dtype=held_b).T
        else:
            y = tl.load(b, (k, col), (BK, BN), dtype=held_b)
        if COMPUTED:
            x = x + x
        acc = tl.dot_sp(x, tl.load(codes, (row, k // CHUNK), (BM, BK // CHUNK)), y, acc)
    tl.store(c, (row, col), acc)


BF16, E4M3, E5M2 = ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2
TYPES: dict[str, tuple[Any, Any, str, str, int]] = {
    # of the factors, of C; the form of warps, which says the pattern; the wgmma; K of a tile
    "f16": (np.float16, np.float32, "m16n8k32.row.col.f32.f16.f16.f32", "k32.f32.f16.f16", 64),
    "bf16": (BF16, np.float32, "m16n8k32.row.col.f32.bf16.bf16.f32", "k32.f32.bf16.bf16", 64),
    "halves": (np.float16, np.float16, "m16n8k32.row.col.f16.f16.f16.f16", "k32.f16.f16.f16", 64),
    "tf32": (np.float32, np.float32, "m16n8k16.row.col.f32.tf32.tf32.f32", "k16.f32.tf32.tf32", 32),
    "e4m3": (E4M3, np.float32, "m16n8k64.row.col.f32.e4m3.e4m3.f32", "k64.f32.e4m3.e4m3", 128),
    "e5m2": (E5M2, np.float32, "m16n8k64.row.col.f32.e5m2.e5m2.f32", "k64.f32.e5m2.e5m2", 128),
    "s8": (np.int8, np.int32, "m16n8k64.row.col.s32.s8.s8.s32", "k64.s32.s8.s8", 128),
}
REGULAR, RAGGED = (128, 256, 256), (136, 152, 288)


def _run(
    name: str,
    chip: str,
    extents: tuple[int, int, int] = RAGGED,
    warps: int = 8,
    **constants: Any,
) -> tilec.Compiled:
    """A GEMM that is as numpy's, without a finding; what was compiled."""
    type_, result, of_warps, _, depth = TYPES[name]
    pattern = form(f"{MMA}.{of_warps}")
    assert isinstance(pattern, Product)
    assert pattern.sparsity is not None
    rng = np.random.default_rng(sum(name.encode()))
    m, n, k = extents
    whole = prune(pattern, rng.integers(-2, 3, (m, k)).astype(type_))
    a, codes = compress(pattern, whole)
    b = rng.integers(-2, 3, (k, n)).astype(type_)
    constants = {"BK": depth, "CHUNK": pattern.sparsity.chunk, **constants}
    turned = constants.get("A_TURNED"), constants.get("B_TURNED")
    a, b = (
        np.ascontiguousarray(one.T) if there else one
        for one, there in zip((a, b), turned, strict=True)
    )
    c = np.full((m, n), 77, result)
    given = [a, pack(codes, "b4"), b, c]
    compiled = sparse.using(target=chip, warps=warps).compile(*given, **constants)
    grid = (-(-n // constants.get("BN", 128)), -(-m // constants.get("BM", 128)))
    report = compiled.launch(*given, grid=grid, device="sim")
    assert report is not None
    assert not report.findings
    wanted = whole.astype(int) @ (b.T if turned[1] else b).astype(int)
    np.testing.assert_array_equal(c.astype(int), wanted * (2 if constants.get("COMPUTED") else 1))
    return compiled


def _is_of_warpgroups(compiled: tilec.Compiled, instruction: str, *, loaded: bool = True) -> None:
    """Every product is by this `wgmma`, of what other warps load by TMA."""
    assert f"wgmma.mma_async.sp.sync.aligned.{instruction}" in compiled.ptx
    assert not re.search(r"\bmma\.sp", compiled.ptx)
    assert ("setmaxnreg" in compiled.ptx) == loaded


@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=[pytest.mark.slow] * (n not in ("tf32", "s8"))) for n in TYPES],
)
def test_every_type(name: str) -> None:
    """Elements of 8 and 32 bits with K contiguous in both, as the instruction takes them."""
    _is_of_warpgroups(_run(name, "sm_90a", B_TURNED=True), f"m64n128{TYPES[name][3]}")


@pytest.mark.parametrize(
    ("columns", "warps", "constants"),
    [
        pytest.param(128, 8, {"A_TURNED": True, "B_TURNED": True}, marks=pytest.mark.slow),
        pytest.param(128, 8, {"A_TURNED": True}, marks=pytest.mark.slow),
        pytest.param(72, 8, {"BN": 72, "B_TURNED": True}, marks=pytest.mark.slow),
        # Each warpgroup has columns of each 64; three rows of products share B, three of K codes.
        pytest.param(32, 8, {"BM": 64, "BN": 192}, marks=pytest.mark.slow),
        pytest.param(64, 4, {"BM": 192, "BN": 64, "BK": 192}),
    ],
)
def test_every_shape(columns: int, warps: int, constants: dict[str, Any]) -> None:
    compiled = _run("bf16", "sm_90a", warps=warps, **constants)
    _is_of_warpgroups(compiled, f"m64n{columns}k32", loaded=warps > 4)


@pytest.mark.slow
def test_whole_tiles() -> None:
    _is_of_warpgroups(_run("f16", "sm_90a", REGULAR), "m64n128k32.f32.f16.f16")


def test_without_maps() -> None:
    """Rows that no tensor map tells are copied by the threads that compute."""
    _run("f16", "sm_90a", (130, 77, 136))


def test_computed_a() -> None:
    """It comes from registers."""
    compiled = _run("f16", "sm_90a", COMPUTED=True)
    _is_of_warpgroups(compiled, "m64n128k32.f32.f16.f16", loaded=False)
    assert re.search(r"mma_async\.sp\.\S+ \{[^}]*\}, \{", compiled.ptx)


def test_half_a_register_of_codes_declines() -> None:
    """A tile of 32 of K would use half of what a register of metadata holds."""
    compiled = _run("f16", "sm_90a", REGULAR, BK=32)
    why = [remark.message for remark in compiled.remarks if "not for warpgroups" in remark.message]
    assert any("8 codes of a row are not a multiple of the 16 of a register" in one for one in why)
    assert re.search(r"\bmma\.sp", compiled.ptx)


@pytest.mark.parametrize(
    ("name", "chip"),
    [
        pytest.param("f16", "sm_80", marks=pytest.mark.slow),
        ("s8", "sm_80"),
        ("e4m3", "sm_120a"),
        pytest.param("tf32", "sm_120a", marks=pytest.mark.slow),
    ],
)
def test_other_targets(name: str, chip: str) -> None:
    """The same source, where warps multiply."""
    assert re.search(r"\bmma\.sp::ordered", _run(name, chip, B_TURNED=True).ptx)

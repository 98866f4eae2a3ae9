"""Block-scaled products of tiles for sm_100a: mxf8, mxf4 and nvf4 against numpy.

The kernels name no instruction: for sm_120a the same become `mma.sync`. Expected values are sums in
float64 of elements, as ml_dtypes has them, times their factors.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import tilec
import tilec.lang as tl
from tilec.isa import target
from tilec.runtime import dequantize, quantize

from . import kernels_of_tiles as cases

Bytes = tl.Array[tl.uint8, int, int]
SOURCE = Path(__file__).parents[3] / "examples" / "kernels" / "scaled_gemm.mlir"
slow = pytest.mark.slow


@tilec.kernel(warps=4, target="sm_100a")
def gemm(
    a: Bytes,
    b: Bytes,
    scale_a: Bytes,
    scale_b: Bytes,
    c: tl.Array[tl.float32, int, int],
    depth: int,
    element: tl.Constant[Any],
    scale: tl.Constant[Any],
    block: tl.Constant[int],
    cols: tl.Constant[int],
    step: tl.Constant[int],
) -> None:
    """C = A·Bᵀ, of tiles of 128 rows."""
    row, col = tl.program_id(1) * 128, tl.program_id(0) * cols
    acc = tl.zeros((128, cols))
    for k in range(0, depth, step):
        x = tl.load(a, (row, k), (128, step), dtype=element)
        y = tl.load(b, (col, k), (cols, step), dtype=element).T
        p = tl.load(scale_a, (row, k // block), (128, step // block), dtype=scale)
        q = tl.load(scale_b, (col, k // block), (cols, step // block), dtype=scale).T
        acc = tl.dot_scaled(x, p, y, q, acc)
    tl.store(c, (row, col), acc)


class Format(NamedTuple):
    """Elements, and factors of how many of them; the language's types; the instruction's kind."""

    element: str
    factor: str
    block: int
    tile: Any
    scale: Any
    kind: str


FORMATS = {
    "mxf8": Format("e4m3", "ue8m0", 32, tl.float8_e4m3fn, tl.float8_e8m0fnu, "mxf8f6f4"),
    "mxf8 of e5m2": Format("e5m2", "ue8m0", 32, tl.float8_e5m2, tl.float8_e8m0fnu, "mxf8f6f4"),
    "mxf4": Format("e2m1", "ue8m0", 32, tl.float4_e2m1fn, tl.float8_e8m0fnu, "mxf4"),
    "nvf4": Format("e2m1", "ue4m3", 16, tl.float4_e2m1fn, tl.float8_e4m3fn, "mxf4nvf4"),
}


def stored(matrix: Any, apart: int) -> Any:
    """Bytes of a matrix, two 4-bit elements in each, in rows that are so many bytes apart."""
    codes = matrix.view(np.uint8)
    if matrix.dtype.itemsize * 8 > 4 and "float4" in matrix.dtype.name:
        codes = codes[:, ::2] | codes[:, 1::2] << 4
    rows, cols = codes.shape
    memory = np.full((rows, -(-cols // apart) * apart), 0xA5, np.uint8)
    memory[:, :cols] = codes
    return memory[:, :cols]


def run(name: str, extents: tuple[int, int, int], cols: int, step: int, **how: Any) -> Any:
    """The kernel on random numbers, compared with numpy; what it was compiled to."""
    of, (m, n, k) = FORMATS[name], extents
    rng = np.random.default_rng([*extents, cols])
    whole = -(-k // of.block) * of.block
    numbers = [rng.standard_normal((rows, whole)) for rows in (m, n)]
    for one in numbers:
        one[:, k:] = 0
    a, b = (quantize(one, of.element, of.factor, of.block) for one in numbers)
    held = [stored(one.elements, 16) for one in (a, b)]
    factors = [stored(one.scales, 4) for one in (a, b)]
    c = np.full((m, n), np.nan, np.float32)
    arguments = (*held, *factors, c, k, of.tile, of.scale, of.block, cols, step)
    report = gemm.using(**how)[-(-n // cols), -(-m // 128)](*arguments)
    assert report.ok, report.findings
    wanted = dequantize(a) @ dequantize(b).T / (a.factor * b.factor)
    np.testing.assert_allclose(c, wanted, rtol=0, atol=2e-7 * float(np.abs(wanted).max()))
    return gemm.using(**how).compile(*arguments)


@pytest.mark.parametrize(
    ("name", "extents", "cols", "step", "warps"),
    [
        ("mxf8", (130, 70, 160), 64, 128, 4),
        ("nvf4", (100, 200, 208), 256, 128, 8),
        pytest.param("mxf4", (140, 33, 288), 32, 256, 4, marks=slow),
        pytest.param("mxf4", (128, 256, 384), 256, 128, 8, marks=slow),
        pytest.param("nvf4", (257, 130, 64), 128, 64, 4, marks=slow),
        pytest.param("mxf8", (50, 300, 544), 256, 256, 8, marks=slow),
        pytest.param("mxf8 of e5m2", (130, 130, 256), 128, 128, 4, marks=slow),
    ],
)
def test_against_numpy(
    name: str, extents: tuple[int, int, int], cols: int, step: int, warps: int
) -> None:
    program = run(name, extents, cols, step, warps=warps)
    kind = FORMATS[name].kind
    assert f"tcgen05.mma.cta_group::1.kind::{kind}.block_scale" in program.ptx
    assert "tcgen05.cp.cta_group::1.32x128b.warpx4" in program.ptx
    assert "mma.sync" not in program.ptx


@slow
@pytest.mark.parametrize("name", ["mxf8", "mxf4", "nvf4"])
def test_the_same_source_for_another_target(name: str) -> None:
    program = run(name, (130, 70, 256), 64, 128, target="sm_120a")
    assert "mma.sync" in program.ptx
    assert "tcgen05" not in program.ptx


@slow
@pytest.mark.parametrize("extents", [(128, 128, 256), (130, 77, 288), (1, 1, 32)])
def test_the_example(extents: tuple[int, int, int]) -> None:
    kernel = next(one for one in cases.KERNELS if one.file == "scaled_gemm")
    of = kernel.run(np.random.default_rng(0), extents)
    program = tilec.compile(SOURCE, target="sm_100a")
    report = program.launch(*of.arguments, grid=of.grid, kernel=kernel.name, device="sim")
    assert report.ok, report.findings
    assert np.abs(of.result - of.expected).max() <= of.tolerance * np.abs(of.expected).max()


@pytest.mark.parametrize("name", ["sm_100a", pytest.param("sm_103a", marks=slow)])
def test_ptxas_has_nothing_to_note(name: str, assemblers_for: Callable[..., list[Any]]) -> None:
    program = tilec.compile(SOURCE, target=name)
    for ptxas in assemblers_for(target(name)):
        status, report = ptxas.run(program.ptx, name, "-v")
        assert status == 0, report
        assert not re.search(r"C7[56]\d\d|[Pp]otential|[Ww]arning|tcgen05", report), report
        assert "0 bytes spill stores, 0 bytes spill loads" in report


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ((("128x128xf8E4M3FN>\n!B", "64x128xf8E4M3FN>\n!B"),
          ("!SA = tensor<128x", "!SA = tensor<64x"),
          ("tensor<128x128xf32>", "tensor<64x128xf32>")), "M = 64 is not legal for kind::mxf8f6f4"),
        ((("!A = tensor<128x128", "!A = tensor<128x64"), ("!B = tensor<128x", "!B = tensor<64x"),
          ("tensor<128x4x", "tensor<128x2x"), ("tensor<4x128x", "tensor<2x128x")),
         "sfa has 2 factors along K; tcgen05.cp copies whole 4s"),
        ((("%sb[%col, %block] masked transposed", "%sb[%block, %col] masked"),),
         "sfb is contiguous along columns of B; scale factors must be along K"),
        ((("tensor<128x4x", "tensor<128x8x"), ("tensor<4x128x", "tensor<8x128x")),
         r"multiplies f8E4M3FN by f8E4M3FN with 8 f8E8M0FNU for 128 of K; legal: "),
    ],
    ids=["64 rows", "too little of K", "along N", "too many factors"],
)  # fmt: skip
def test_wrong_use_is_an_error_at_the_product(
    changes: tuple[tuple[str, str], ...], message: str
) -> None:
    text = SOURCE.read_text()
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    with pytest.raises(
        tilec.TilecError, match=rf":\d+:\d+: error: 'tile.dot_scaled' op .*{message}"
    ):
        tilec.compile(text, target="sm_100a")

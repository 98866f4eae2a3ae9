"""Block-scaled products of tiles for sm_100a: mxf8, mxf4 and nvf4 against numpy.

The kernels name no instruction: for sm_120a the same become `mma.sync`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tilec
from tilec.isa import target

from . import kernels_of_tiles as cases
from .scaled_programs import FORMATS, Scaled

SOURCE = Path(__file__).parents[3] / "examples" / "kernels" / "scaled_gemm.mlir"
slow = pytest.mark.slow


@pytest.mark.parametrize(
    ("name", "extents", "cols", "step", "warps"),
    [
        ("mxf8", (130, 70, 160), 64, 128, 4),
        pytest.param("nvf4", (100, 200, 208), 256, 128, 8, marks=slow),
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
    gemm = Scaled(name, cols, step, warps)
    program = gemm.compiled()
    gemm.run(program, extents)
    kind = FORMATS[name].kind
    assert re.search(rf"tcgen05\.mma\.cta_group::[12]\.kind::{kind}\.block_scale", program.ptx)
    assert re.search(r"tcgen05\.cp\.cta_group::[12]\.32x128b\.warpx4", program.ptx)
    assert "mma.sync" not in program.ptx


@slow
@pytest.mark.parametrize("name", ["mxf8", "mxf4", "nvf4"])
def test_the_same_source_for_another_target(name: str) -> None:
    gemm = Scaled(name, 64, 128)
    program = gemm.compiled("sm_120a")
    gemm.run(program, (130, 70, 256))
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

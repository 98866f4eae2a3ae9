"""Each example's script builds the program of its text; what ptxas makes of the GEMMs."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tilec
from tilec.backend.cubin import tools

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
NAMES = sorted(path.stem for path in EXAMPLES.glob("*.mlir"))

needs_ptxas = pytest.mark.skipif(not tools("ptxas"), reason="no ptxas")


@pytest.mark.parametrize("name", NAMES)
def test_script_and_text_are_one_program(script: Any, compiled: Any, name: str) -> None:
    """Byte for byte the same PTX."""
    built = getattr(script(name), name)()
    assert tilec.compile(built, target="sm_80").ptx == compiled(name, "sm_80").ptx


@needs_ptxas
@pytest.mark.parametrize("target", ["sm_80", "sm_90a"])
@pytest.mark.parametrize("name", NAMES)
def test_no_spills(compiled: Any, name: str, target: str) -> None:
    for used in compiled(name, target).resources.values():
        assert (used.spill_stores, used.spill_loads, used.stack) == (0, 0, 0)


@needs_ptxas
@pytest.mark.parametrize("target", ["sm_80", "sm_90a"])
@pytest.mark.parametrize("name", ["gemm", "gemm_bounds"])
def test_two_ctas_fit_a_multiprocessor(compiled: Any, name: str, target: str) -> None:
    """256 threads each, of 64 Ki registers."""
    program = compiled(name, target)
    assert program.resources[name].registers <= 128
    (kernel,) = program.kernels
    assert kernel.dynamic_shared == 3 * (128 * 64 + 64 * 128) * 2


@pytest.mark.parametrize("target", ["sm_80", "sm_90a"])
def test_instructions_of_the_loop(compiled: Any, target: str) -> None:
    """A warp's share of 128x128x64: 64 mma, 24 ldmatrix, 8 copies of 16 bytes a thread."""
    ptx = compiled("gemm", target).ptx
    counts = {op: len(re.findall(rf"^\s*{op}\.", ptx, re.M)) for op in ("mma", "ldmatrix")}
    assert counts == {"mma": 64, "ldmatrix": 24}
    assert len(re.findall(r"^\s*cp\.async\.cg\.", ptx, re.M)) == 3 * 8
    assert len(re.findall(r"^\s*bar(rier)?\.sync", ptx, re.M)) == 1


@pytest.mark.parametrize(
    "options",
    [
        {"stages": 2},
        {"stages": 4, "tile_shape": (128, 128, 32)},
        {"tile_shape": (64, 128, 32), "warps": (2, 2)},
        {"form": "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32"},
    ],
)
def test_other_tiles(script: Any, run: Any, rng: Any, options: Any) -> None:
    """The script's parameters: other tiles and numbers of buffers compute the same."""
    program = tilec.compile(script("gemm").gemm(**options), target="sm_80")
    rows, cols, deep = options.get("tile_shape", (128, 128, 64))
    a, b = rng.integers(-8, 9, (rows, 5 * deep)), rng.integers(-8, 9, (5 * deep, cols))
    c = np.zeros((rows, cols), np.float32)
    report = run(program, "gemm", (1, 1), [a.astype(np.float16), b.astype(np.float16), c])
    np.testing.assert_array_equal(c, a @ b)
    assert report.conflicts == 0

"""The GEMMs of `examples/blackwell`: what ptxas says, what they compute, and faults put into one.

Products are compared with numpy's. Each fault must be found, by the compiler or the simulator, at
the line of the program that is to blame.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import tilec
from tilec.isa import TilecError, target
from tilec.passes.base import ProgramError
from tilec.report.diagnostics import place
from tilec.sim import SimulationError

from .blackwell_faults import FAULTS
from .hopper_faults import Fault

FOLDER = Path(__file__).parents[3] / "examples" / "blackwell"
GEMM = FOLDER / "gemm.mlir"
EXAMPLES = sorted(FOLDER.glob("*.mlir"))
TEN = FAULTS[:10]
"""Of every kind, in the default run; the others are as slow."""


@pytest.mark.parametrize("name", ["sm_100a", "sm_103a"])
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_ptxas_has_nothing_to_note(
    path: Path, name: str, assemblers_for: Callable[..., list[Any]]
) -> None:
    program = tilec.compile(path, target=name)
    for ptxas in assemblers_for(target(name)):
        status, report = ptxas.run(program.ptx, name, "-v")
        assert status == 0, report
        assert not re.search(r"C7[56]\d\d|[Pp]otential|[Ww]arning|tcgen05", report), report
        assert "0 bytes spill stores, 0 bytes spill loads" in report


def run(program: tilec.Compiled, m: int, n: int, k: int) -> bool:
    """Launch it on the simulator; whether the result is numpy's."""
    rng = np.random.default_rng([m, n, k])
    a, b = (rng.integers(-3, 4, shape).astype(np.float16) for shape in ((m, k), (n, k)))
    c = np.full((m, n), 7, np.float16)
    program.launch(a, b, c, grid=(-(-m // 128), -(-n // 256)), device="sim")
    return bool((c.astype(int) == a.astype(int) @ b.astype(int).T).all())


@pytest.mark.parametrize("extents", [(200, 264, 328), (1, 8, 8)])
def test_products(extents: tuple[int, int, int]) -> None:
    assert run(tilec.compile(GEMM), *extents)


def _bytes(rng: np.random.Generator, rows: int, k: int) -> Any:
    return rng.integers(-3, 4, (rows, k)).astype(ml_dtypes.float8_e4m3fn)


@pytest.mark.parametrize("extents", [(200, 264, 336), (1, 8, 16)])
def test_products_of_bytes(extents: tuple[int, int, int]) -> None:
    m, n, k = extents
    rng = np.random.default_rng(m)
    a, b, c = _bytes(rng, m, k), _bytes(rng, n, k), np.full((m, n), 7, np.float16)
    program = tilec.compile(FOLDER / "gemm_fp8.mlir")
    program.launch(a, b, c, grid=(-(-m // 128), -(-n // 256)), device="sim")
    np.testing.assert_array_equal(c, (a.astype(int) @ b.astype(int).T).astype(np.float16))


def _pieces(codes: Any) -> Any:
    """Scale factors of rows, in whole 128s, as cuBLAS has them: rows of 16 bytes."""
    rows, chunks = codes.shape
    blocks = codes.reshape(rows // 128, 4, 32, chunks // 4, 4)  # row 32·i + r, chunk 4·q + j
    return np.ascontiguousarray(blocks.transpose(0, 3, 2, 1, 4)).reshape(-1, 16)


def _scaled(matrix: Any, codes: Any) -> Any:
    """A matrix times the factors of its rows, of which 32 elements share one."""
    rows, k = matrix.shape
    factors = 2.0 ** (codes[:rows].astype(int) - 127)
    return matrix.astype(np.float64) * np.repeat(factors, 32, axis=1)[:, :k]


@pytest.mark.parametrize("extents", [(200, 264, 336), (1, 8, 16)])
def test_block_scaled_products(extents: tuple[int, int, int]) -> None:
    m, n, k = extents
    rng = np.random.default_rng(m)
    a, b, c = _bytes(rng, m, k), _bytes(rng, n, k), np.full((m, n), 7, np.float16)
    chunks = -(-k // 128) * 4
    tiles = (-(-m // 128), -(-n // 256))
    # 2^-1 to 2^1: every sum is exact.
    codes_a = rng.integers(126, 129, (128 * tiles[0], chunks)).astype(np.uint8)
    codes_b = rng.integers(126, 129, (256 * tiles[1], chunks)).astype(np.uint8)
    factors = (_pieces(codes_a).view(np.int8), _pieces(codes_b).view(np.int8))
    tilec.compile(FOLDER / "gemm_mxf8.mlir").launch(a, b, c, *factors, grid=tiles, device="sim")
    scaled = [
        one.astype(np.float64)
        * np.repeat(2.0 ** (codes[: len(one)].astype(int) - 127), 32, 1)[:, :k]
        for one, codes in ((a, codes_a), (b, codes_b))
    ]
    np.testing.assert_array_equal(c, (scaled[0] @ scaled[1].T).astype(np.float16))


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(one, id=one.name, marks=() if one in TEN else pytest.mark.slow)
        for one in FAULTS
    ],
)
def test_faults_are_found_at_their_line(fault: Fault) -> None:
    text = GEMM.read_text()
    assert fault.old in text
    wrong = text.replace(fault.old, fault.new, 1)
    wanted = {fault.line(text, part) for part in (fault.at, fault.names) if part}
    if fault.kind == "error":
        with pytest.raises(TilecError) as refused:
            tilec.compile(wrong, name="gemm.mlir")
        assert isinstance(refused.value, ProgramError)
        at = place(refused.value.diagnostics[0].location)
        assert at is not None
        assert {at.line} == wanted
        return
    program = tilec.compile(wrong, name="gemm.mlir", lineinfo=True)
    with pytest.raises(SimulationError) as found:
        run(program, 40, 72, 200)
    assert found.value.report is not None
    first = found.value.report.findings[0]
    assert first.kind == fault.kind
    named = {int(line) for line in re.findall(r"gemm\.mlir:(\d+)", first.message)}
    assert wanted <= named, first.message
    if fault.kind != "deadlock":  # which is at whoever waits first
        assert first.source == f"gemm.mlir:{fault.line(text, fault.at)}"

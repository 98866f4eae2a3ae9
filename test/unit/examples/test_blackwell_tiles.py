"""Tiles for sm_100a: what becomes of them in tensor memory computes what numpy does.

Programs of level 1 name no instruction. Faults are put into the level 3 of one, and must be found
by the compiler or the simulator. More random programs: TILEC_RANDOM_BLACKWELL=1000 pytest …
"""

from __future__ import annotations

import math
import os
import random
import re
import runpy
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tilec
from tilec.isa import TilecError, target
from tilec.pipelines import pipeline
from tilec.sim import SimulationError

from . import kernels_of_tiles as cases
from .blackwell_programs import FAULTED, FAULTS, TYPES, Fault, Gemm

KERNELS = Path(__file__).parents[3] / "examples" / "kernels"
COUNT = int(os.environ.get("TILEC_RANDOM_BLACKWELL", "40"))
OF_EXAMPLES = (
    *("gemm", "fused_gemm", "gemm_fp8", "gemm_int8", "linalg_gemm", "vector_gemm", "conv"),
    *("attention", "attention_128"),
)
TARGETS = ("sm_100a", "sm_103a")
TEN = 10
"""Faults of the default run; the others are as slow."""
slow = pytest.mark.slow


@pytest.mark.parametrize(
    ("gemm", "extents"),
    [
        (Gemm("f16", (128, 64, 64), 4, (False, False)), (130, 72, 200)),
        (Gemm("bf16", (64, 64, 32), 8, (True, True)), (70, 64, 90)),
        (Gemm("f8E4M3FN", (128, 64, 64), 4, (True, False)), (128, 64, 130)),
        (Gemm("f16", (128, 32, 64), 4, adds=True), (100, 40, 100)),
        pytest.param(Gemm("f16", (128, 32, 64), 4), (100, 40, 0), marks=slow),
        (Gemm("f16", (128, 64, 64), 8), (200, 100, 300)),
        (Gemm("bf16", (128, 32, 64), 4, doubles=True), (130, 40, 150)),
        (Gemm("f16", (128, 32, 64), 4, narrow=True), (130, 40, 100)),
        (Gemm("tf32", (128, 32, 32), 4, (False, True)), (100, 40, 70)),
        pytest.param(Gemm("f16", (256, 64, 32), 8, doubles=True), (130, 72, 90), marks=slow),
        pytest.param(Gemm("i8", (128, 64, 128), 8, doubles=True), (130, 72, 200), marks=slow),
        pytest.param(
            Gemm("f8E4M3FN", (128, 64, 64), 8, (False, True), adds=True, narrow=True),
            (130, 72, 200),
            marks=slow,
        ),
        pytest.param(Gemm("tf32", (128, 64, 64), 8, (False, True)), (200, 100, 300), marks=slow),
    ],
    ids=[
        *("ragged", "64 rows", "bytes along M", "adds C", "no K", "ring"),
        *("A computed", "16-bit sums", "tf32"),
        *("A of two matrices computed", "bytes of A computed", "16-bit sums of bytes", "tf32 ring"),
    ],
)
def test_products(gemm: Gemm, extents: tuple[int, int, int]) -> None:
    program = tilec.compile(gemm.text())
    assert "tcgen05.mma" in program.ptx
    assert "mma.sync" not in program.ptx
    assert ("cp.async.bulk.tensor" in program.ptx) == (not gemm.doubles)
    assert ("tcgen05.st" in program.ptx) >= gemm.doubles
    gemm.run(program, extents, sms=2)


def test_a_tile_of_both_kinds_of_products() -> None:
    """Attention of 64 rows: scores lie as `mma.sync` has them, and are loaded in its fragments."""
    kernel = runpy.run_path(str(KERNELS / "attention.py"))["attention"]
    q, k, v = np.random.default_rng(0).standard_normal((3, 1, 64, 64)).astype(np.float16)
    found = np.empty_like(q)
    kernel = kernel.using(target="sm_100a", device="sim", warps=4)
    report = kernel[1, 1](q, k, v, found, math.log2(math.e) / 8, BM=64, BN=64)
    forms = {one.form.partition(".")[0] for one in report.matrix}
    assert forms >= {"tcgen05", "mma"}
    powers = np.exp(q.astype(np.float32) @ k.astype(np.float32).swapaxes(1, 2) / 8)
    expected = powers / powers.sum(axis=2, keepdims=True) @ v.astype(np.float32)
    np.testing.assert_allclose(found, expected, atol=2e-3)


@pytest.mark.parametrize("seed", [pytest.param(n, marks=slow) for n in range(COUNT)])
def test_random_products(seed: int) -> None:
    draw = random.Random(seed)
    element, warps = draw.choice([*TYPES]), draw.choice([4, 4, 8, 16])
    rows, cols = draw.choice([64, 128, 128, 256]), draw.choice([16, 32, 64, 128, 256])
    if rows * cols > 128 * 32 * warps:
        rows, cols = 64, 64
    turned = draw.random() < 0.4, draw.random() < 0.4
    if element == "tf32":  # descriptors tell it along K alone
        turned = False, True
    gemm = Gemm(
        element,
        (rows, cols, draw.choice([32, 64, 128])),
        warps,
        turned,
        adds=draw.random() < 0.2,
        doubles=element in ("f16", "bf16", "i8") and rows % 128 == 0 and draw.random() < 0.3,
        narrow=element == "f16" and rows % 128 == 0 and draw.random() < 0.3,
    )
    extents = (
        draw.randrange(1, 2 * rows),
        draw.randrange(1, 2 * cols),
        draw.randrange(0, 5 * gemm.tile[2]),
    )
    gemm.run(tilec.compile(gemm.text()), extents, sms=draw.choice([1, 2, 148]))


def _runs() -> list[Any]:
    found = []
    for kernel in cases.KERNELS:
        if "scaled" in kernel.file or kernel.targets[-1] == "sm_120a":
            continue
        for extents in kernel.extents:
            marks = () if (kernel.file, extents) == ("gemm", cases.GEMMS[0]) else slow
            found.append(pytest.param(kernel, extents, marks=marks, id=f"{kernel.name}-{extents}"))
    return found


@pytest.mark.parametrize(("kernel", "extents"), _runs())
def test_examples(kernel: Any, extents: tuple[int, ...]) -> None:
    program = tilec.compile(KERNELS / f"{kernel.file}.mlir", target="sm_100a")
    run = kernel.run(np.random.default_rng(0), extents)
    report = program.launch(*run.arguments, grid=run.grid, kernel=kernel.name, device="sim")
    assert report.ok, report.findings
    wrong = np.abs(run.result.astype(np.float64) - run.expected)
    assert wrong.max() <= run.tolerance * max(1.0, float(np.abs(run.expected).max()))
    assert ("tcgen05.mma" in program.ptx) >= (kernel.file in OF_EXAMPLES)
    if "attention" in kernel.file:  # of both products
        assert "mma.sync" not in program.ptx


@pytest.mark.parametrize("name", [TARGETS[0], pytest.param(TARGETS[1], marks=slow)])
@pytest.mark.parametrize(
    "file", ["gemm", *(pytest.param(file, marks=slow) for file in OF_EXAMPLES[1:])]
)
def test_ptxas_has_nothing_to_note(
    file: str, name: str, assemblers_for: Callable[..., list[Any]]
) -> None:
    program = tilec.compile(KERNELS / f"{file}.mlir", target=name)
    for ptxas in assemblers_for(target(name)):
        status, report = ptxas.run(program.ptx, name, "-v")
        assert status == 0, report
        assert not re.search(r"C7[56]\d\d|[Pp]otential|[Ww]arning|tcgen05", report), report
        assert "0 bytes spill stores, 0 bytes spill loads" in report


@cache
def faulted() -> str:
    """What the program of the faults is at level 3, without warps that load."""
    passes = pipeline(target("sm_100a")).replaced("tile-make-persistent")
    passes = passes.replaced("tile-specialize-warps")
    return tilec.compile(FAULTED.text(), pipeline=passes).tile


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(one, id=one.name, marks=() if number < TEN else slow)
        for number, one in enumerate(FAULTS)
    ],
)
def test_faults_are_found(fault: Fault) -> None:
    text = faulted()
    wrong, count = re.subn(fault.old, fault.new, text)
    assert count
    if fault.kind == "error":
        with pytest.raises(TilecError, match=r"\d+:\d+: error: 'tile\.tcgen05_"):
            FAULTED.run(tilec.compile(wrong), (100, 40, 200))
        return
    with pytest.raises(SimulationError) as found:
        FAULTED.run(tilec.compile(wrong), (100, 40, 200))
    assert found.value.report is not None
    assert found.value.report.findings[0].kind == fault.kind


@slow
@pytest.mark.parametrize(
    ("where", "kind"),
    [
        ("blackwell.rings.Ring.release", "deadlock"),
        ("blackwell.rings.Ring.await_full", "async"),
        ("blackwell.rings.Ring.take_over", "async"),
        ("place_accumulators._Placed._wait", "tensor-memory"),
    ],
)
def test_what_a_ring_needs(where: str, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The simulator finds what the passes would leave out."""
    gemm = Gemm("f16", (128, 32, 64), 8)
    monkeypatch.setattr(f"tilec.passes.{where}", lambda *_: None)
    name = "tile-place-accumulators"  # by threads that also load the sums
    passes = pipeline(target("sm_100a")).replaced(name, f"{name}{{accumulators=1}}")
    program = tilec.compile(gemm.text(), pipeline=passes)
    with pytest.raises(SimulationError) as found:
        gemm.run(program, (300, 40, 600), sms=1)
    assert found.value.report is not None
    assert found.value.report.findings[0].kind == kind


def test_level_three_runs_as_it_is() -> None:
    FAULTED.run(tilec.compile(faulted()), (100, 40, 200))

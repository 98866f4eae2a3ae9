"""Loops shared out to warps that load and warps that multiply.

ptxas judges what is emitted: nothing noted, nothing spilled, as few instructions a step as by hand.
The simulator's results are compared with numpy's, also of arrays that no tensor map describes, for
which the launch makes the kernel anew.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tilec
import tilec.lang as tl
from tilec.backend.cubin import assemble, disassemble
from tilec.isa import LaunchError, TilecError, target
from tilec.passes.hopper.warp_roles import warp_roles

ROOT = Path(__file__).parents[3]
TILES = ROOT / "examples" / "hopper" / "tiles.mlir"
NOTES = re.compile(r"C7[56]\d\d|wgmma|[Pp]otential|setmaxnreg")
HOPPER = target("sm_90a")
MOST = 46
"""Instructions of a step of 64 that a GEMM by hand takes: CUTLASS 4.1's, of a tile like it."""


@pytest.fixture(scope="module")
def program() -> tilec.Compiled:
    """The example, compiled."""
    return tilec.compile(TILES)


def _arrays(m: int, n: int, k: int) -> list[Any]:
    rng = np.random.default_rng([m, n, k])
    a, b = (rng.integers(-3, 4, shape).astype(np.float16) for shape in ((m, k), (n, k)))
    return [a, b, np.full((m, n), 7, np.float16)]


def _is_product(a: Any, b: Any, c: Any) -> bool:
    return bool((c.astype(int) == a.astype(int) @ b.astype(int).T).all())


def test_ptxas_has_nothing_to_note(
    program: tilec.Compiled, assemblers_for: Callable[..., list[Any]]
) -> None:
    for ptxas in assemblers_for(HOPPER):
        status, report = ptxas.run(program.ptx, "sm_90a", "-v")
        assert status == 0, report
        assert not NOTES.search(report), report
        assert "0 bytes spill stores, 0 bytes spill loads" in report


def _loop_of(program: tilec.Compiled, kernel: str) -> dict[str, int]:
    """Counts of the SASS of a kernel's loop."""
    sys.path.insert(0, str(ROOT / "benchmarks"))
    try:
        from kernel_stats import sass_counts
    finally:
        sys.path.pop(0)
    try:
        sass = disassemble(assemble(program.ptx, HOPPER).cubin)
    except TilecError as error:
        pytest.skip(str(error))
    found: dict[str, int] = sass_counts(sass, kernel)["sass_loop"]
    return found


def test_a_step_takes_as_few_instructions_as_by_hand(program: tilec.Compiled) -> None:
    loop = _loop_of(program, "gemm_tiles")
    assert loop["mma"] == 4
    assert loop["wgmma wait"] == 1
    assert loop["all"] <= MOST


@pytest.mark.parametrize(
    "extents", [(128, 256, 64), (200, 264, 328), (1, 8, 8), (256, 512, 640), (130, 256, 0)]
)
def test_products(program: tilec.Compiled, extents: tuple[int, int, int]) -> None:
    """The last has empty rows, which no tensor map describes."""
    a, b, c = _arrays(*extents)
    grid = (-(-extents[1] // 256), -(-extents[0] // 128))
    program.launch(a, b, c, grid=grid, device="sim")
    assert _is_product(a, b, c)


@pytest.fixture(scope="module")
def persistent() -> tilec.Compiled:
    """The example whose CTAs take several tiles, compiled."""
    return tilec.compile(TILES.with_name("persistent.mlir"))


@pytest.mark.parametrize(
    ("extents", "ctas"),
    [((300, 520, 200), 1), ((300, 520, 200), 2), ((384, 512, 640), 4), ((130, 264, 8), 9)],
)
def test_a_cta_takes_several_tiles(
    persistent: tilec.Compiled, extents: tuple[int, int, int], ctas: int
) -> None:
    """One CTA, some, and more than there are tiles; the ring wraps at another place in each."""
    a, b, c = _arrays(*extents)
    persistent.launch(a, b, c, grid=ctas, device="sim")
    assert _is_product(a, b, c)


def test_a_loop_over_tiles_costs_a_step_nothing(
    persistent: tilec.Compiled, assemblers_for: Callable[..., list[Any]]
) -> None:
    for ptxas in assemblers_for(HOPPER):
        status, report = ptxas.run(persistent.ptx, "sm_90a", "-v")
        assert status == 0, report
        assert not NOTES.search(report), report
        assert "0 bytes spill stores, 0 bytes spill loads" in report
    assert _loop_of(persistent, "gemm_of_tiles")["all"] <= MOST


def test_rows_that_are_one(program: tilec.Compiled) -> None:
    a, b, c = _arrays(128, 256, 64)
    rows = np.broadcast_to(a[:1], a.shape)
    program.launch(rows, b, c, grid=1, device="sim")
    assert _is_product(rows, b, c)


def test_a_launch_says_what_does_not_fit(program: tilec.Compiled) -> None:
    a, b, c = _arrays(128, 256, 68)
    with pytest.raises(LaunchError, match=r"argument 0 has strides \[68, 1\]; the kernel was co"):
        program.launch(a, b, c, grid=1, device="sim")
    with pytest.raises(LaunchError, match=r"compiled for blocks of \(384, 1, 1\) threads"):
        program.launch(*_arrays(128, 256, 64), grid=1, block=256, device="sim")


def test_the_json_says_threads_and_maps(program: tilec.Compiled) -> None:
    (kernel,) = program.kernels
    assert kernel.block == (384, 1, 1)
    maps = [one.json() for one in kernel.arguments if one.json()["kind"] == "tensor_map"]
    assert [(one["array"], one["box"], one["swizzle"]) for one in maps] == [
        (0, [128, 64], "128B"),
        (1, [128, 64], "128B"),  # half of a tile's: a CTA loads it for both of its cluster
        (2, [128, 64], "128B"),
    ]


def test_other_targets_share_nothing_out() -> None:
    text = TILES.read_text(encoding="utf-8").replace("tensor<128x256x", "tensor<128x128x")
    text = text.replace("tensor<64x256x", "tensor<64x128x")
    for name in ("sm_80", "sm_90", "sm_120a"):
        ptx = tilec.compile(text, target=name).ptx
        assert "mma.sync" in ptx
        assert not re.search(r"wgmma|mbarrier|bulk|setmaxnreg", ptx)


@tilec.kernel(warps=8)
def _gemm(
    a: tl.Array[tl.float16, int, int],
    b: tl.Array[tl.float16, int, int],
    c: tl.Array[tl.float32, int, int],
) -> None:
    row, col = tl.program_id(1) * 128, tl.program_id(0) * 128
    acc = tl.zeros((128, 128))
    for k in range(0, a.shape[1], 64):
        acc = tl.dot(tl.load(a, (row, k), (128, 64)), tl.load(b, (k, col), (64, 128)), acc)
    tl.store(c, (row, col), acc)


def test_a_kernel_in_python() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.integers(-3, 4, (2, 256, 256)).astype(np.float16)
    c = np.empty((256, 256), np.float32)
    compiled = _gemm.compile(a, b, c, target="sm_90a")
    assert "cp.async.bulk.tensor" in compiled.ptx
    compiled.launch(a, b, c, grid=(2, 2), device="sim")
    np.testing.assert_array_equal(c, a.astype(np.float32) @ b.astype(np.float32))


@pytest.mark.parametrize(
    ("computing", "accumulators", "wanted"),
    [
        # As CUTLASS, DeepGEMM and ThunderKittens, FlashAttention-3, fast.cu have them.
        (256, 128, (384, 40, 232)),
        (256, 208, (384, 24, 240)),
        (384, 96, (512, 24, 160)),
    ],
)
def test_registers_of_roles(
    computing: int, accumulators: int, wanted: tuple[int, int, int]
) -> None:
    assert warp_roles(computing, accumulators, HOPPER) == wanted


def test_registers_are_there() -> None:
    """By PTX ISA, setmaxnreg: no more than the CTA begins with, in eights from 24 to 256."""
    for computing in range(128, 1024, 128):
        roles = warp_roles(computing, 64, HOPPER)
        if roles is None:
            continue
        entry = min(256, 65536 // roles.threads // 8 * 8)
        assert roles.producer % 8 == roles.consumer % 8 == 0
        assert 24 <= roles.producer < entry <= roles.consumer <= 256
        assert 128 * roles.producer + computing * roles.consumer <= entry * roles.threads

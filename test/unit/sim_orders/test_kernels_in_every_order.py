"""Whole kernels in every order: right ones, and mutants that the order which runs does not show."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tilec.isa.launch import extents
from tilec.launch.simulated import for_simulator
from tilec.sim import Report, launch
from tilec.tools.run_program import load

ROOT = Path(__file__).resolve().parents[3]
slow = pytest.mark.slow


@dataclass(frozen=True)
class Kernel:
    """An example, where it is compiled for, and its arguments."""

    path: str
    target: str
    name: str
    grid: tuple[int, ...]
    shapes: tuple[tuple[tuple[int, ...], str], ...]
    scalars: tuple[float, ...] = ()

    def run(self, *changes: tuple[str, str], every: bool = True) -> Report:
        """Run it, with parts of its PTX replaced."""
        program = load(str(ROOT / "examples" / self.path), arch=self.target, level=3)
        ptx = program.ptx.source.original
        for old, new in changes:
            assert old in ptx
            ptx = ptx.replace(old, new)
        values: list[Any] = [np.ones(shape, type_) for shape, type_ in self.shapes]
        grid = extents(self.grid, "grid")
        passed = for_simulator(program.passed(self.name, [*values, *self.scalars], grid))
        return launch(
            ptx,
            self.name,
            program.launched(self.name, grid, 1, None),
            program.block(self.name) or 128,
            passed,
            arch=self.target,
            dynamic_smem=program.dynamic_shared(self.name),
            cluster=program.cluster(self.name),
            numerics="fast",
            every_order=every,
        )


def gemm(m: int, n: int, k: int, c: str = "float32") -> Any:
    return ((m, k), "float16"), ((k, n), "float16"), ((m, n), c)


def scaled(m: int, n: int, k: int) -> Any:
    """Codes of e4m3, and a scale factor for 32 of each row."""
    codes = [((rows, k), "uint8") for rows in (m, n)]
    return (*codes, *(((rows, k // 32), "uint8") for rows in (m, n)), ((m, n), "float32"))


HEADS = ((1, 128, 64), "float16")
RING = Kernel("kernels/gemm.mlir", "sm_80", "gemm", (1, 1), gemm(128, 128, 192))
HOPPER = Kernel("hopper/gemm.mlir", "sm_90a", "gemm", (1, 1), gemm(128, 256, 320, "float16"))
TILES = Kernel("hopper/tiles.mlir", "sm_90a", "gemm_tiles", (1, 1), gemm(128, 128, 256, "float16"))
SCALED = Kernel("kernels/scaled_gemm.mlir", "sm_100a", "scaled_gemm", (1, 2), scaled(256, 128, 384))
KERNELS = {
    "a ring of cp.async": RING,
    "warps with roles and TMA": HOPPER,
    "consumers that share a tile": pytest.param(TILES, marks=slow),
    "a cluster": pytest.param(
        Kernel("hopper/gemm_cluster.mlir", "sm_90a", "gemm", (2, 1),
               gemm(256, 256, 256, "float16")), marks=slow),
    "ping-pong": pytest.param(
        Kernel("hopper/pingpong.mlir", "sm_90a", "gemm_pingpong", (1, 4),
               (*gemm(256, 256, 128)[:2], ((256,), "float32"), ((256, 256), "float16"))),
        marks=slow),
    "attention on sm_80": pytest.param(
        Kernel("kernels/attention.mlir", "sm_80", "attention", (1, 1), (HEADS,) * 4, (0.125,)),
        marks=slow),
    "attention on sm_90a": pytest.param(
        Kernel("kernels/attention.mlir", "sm_90a", "attention", (1, 1), (HEADS,) * 4, (0.125,)),
        marks=slow),
    "attention on sm_100a": pytest.param(
        Kernel("kernels/attention.mlir", "sm_100a", "attention", (1, 1), (HEADS,) * 4, (0.125,)),
        marks=slow),
    "tcgen05": pytest.param(
        Kernel("blackwell/gemm.mlir", "sm_100a", "gemm", (1, 1),
               (((128, 320), "float16"), ((256, 320), "float16"), ((128, 256), "float16"))),
        marks=slow),
    "a ring for tcgen05": pytest.param(
        Kernel("kernels/gemm.mlir", "sm_100a", "gemm", (1, 1), gemm(128, 128, 320)), marks=slow),
    "a pair of CTAs for tcgen05": pytest.param(
        Kernel("kernels/gemm.mlir", "sm_100a", "gemm", (1, 2), gemm(256, 128, 192)), marks=slow),
    "scale factors on sm_120a": pytest.param(
        Kernel("kernels/scaled_gemm.mlir", "sm_120a", "scaled_gemm", (1, 1),
               scaled(128, 128, 384)), marks=slow),
    "scale factors and TMA for tcgen05": pytest.param(
        Kernel("blackwell/gemm_mxf8.mlir", "sm_100a", "gemm", (1, 1),
               (((128, 384), "float8_e4m3fn"), ((256, 384), "float8_e4m3fn"),
                ((128, 256), "float16"), ((96, 16), "int8"), ((192, 16), "int8"))), marks=slow),
    "scale factors and a pair of CTAs": pytest.param(SCALED, marks=slow),
}  # fmt: skip


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
def test_right(kernel: Kernel) -> None:
    """Nothing is found, nothing left out, and every order is the one that ran, but for what
    commutes."""
    report = kernel.run()
    assert report.verdict == "passed", report.to_text()
    assert report.orders is not None
    assert report.orders.orders == report.orders.traces


def test_a_barrier_of_fewer_warps_than_use_it() -> None:
    change = "bar.sync \t1, 256;", "bar.sync \t1, 224;"
    assert HOPPER.run(change, every=False).verdict == "passed"
    report = HOPPER.run(change)
    assert {one.kind.partition("-")[0] for one in report.findings} == {"order"}


@slow
def test_a_response_for_which_one_thread_of_a_pair_is_not_waited() -> None:
    """Of 642 that read which tile comes next, before the next response may overwrite it."""
    change = ", 642;", ", 641;"
    assert SCALED.run(change, every=False).verdict == "passed"
    report = SCALED.run(change)
    assert {one.kind.partition("-")[0] for one in report.findings} == {"order"}

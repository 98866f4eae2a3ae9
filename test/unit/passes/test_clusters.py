"""Clusters whose CTAs load for each other: results, which are formed, launches, what is refused."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tilec
import tilec.lang as tl
from tilec import sim
from tilec.frontend.contexts import new_context
from tilec.ir.mlir import ir
from tilec.launch.arguments import passed
from tilec.launch.simulated import for_simulator
from tilec.passes import PassError, walk
from tilec.passes.hopper.clusters import axes_of

ROOT = Path(__file__).parents[3]
GEMM = (ROOT / "examples" / "kernels" / "gemm.mlir").read_text(encoding="utf-8")
BLOCK = "array<i32: 256, 1, 1>"


def _compiled(*attributes: str) -> tilec.Compiled:
    """The example of tiles of 128x128, with further attributes of the kernel."""
    return tilec.compile(GEMM.replace(BLOCK, ", ".join([BLOCK, *attributes])), target="sm_90a")


@pytest.fixture(scope="module")
def gemm() -> tilec.Compiled:
    """The example as it is compiled where nothing is asked for."""
    return _compiled()


def _arrays(m: int, n: int, k: int) -> tuple[list[Any], Any]:
    """A, B, C, whose rows begin at multiples of 16 bytes; and what C must become."""
    rng = np.random.default_rng(m + n + k)
    a, b = (rng.integers(-2, 3, shape) for shape in ((m, k), (k, n)))
    held = []
    for values, type_ in ((a, np.float16), (b, np.float16), (np.zeros((m, n)), np.float32)):
        memory = np.full((len(values), -(-values.shape[1] // 8) * 8 + 8), 77, type_)
        memory[:, : values.shape[1]] = values
        held.append(memory[:, : values.shape[1]])
    return held, a @ b


def _check(compiled: tilec.Compiled, extents: tuple[int, int, int], sms: int) -> None:
    m, n, _ = extents
    arrays, wanted = _arrays(*extents)
    grid = -(-n // 128), -(-m // 128)
    report = compiled.launch(*arrays, grid=grid, device="sim", sms=sms)
    assert report is not None
    assert not report.findings
    assert not report.advice
    np.testing.assert_array_equal(arrays[2], wanted)
    assert (arrays[2].base[:, n:] == 77).all()


@pytest.mark.parametrize(
    ("extents", "sms"),
    [
        ((130, 136, 72), 132),  # two rows of tiles, of two each
        ((300, 40, 72), 2),  # three rows of tiles: the second pair has one
        ((8, 257, 64), 3),  # one row: the other CTA of each pair has no tile, only loads
    ],
)
def test_pairs_that_share_b(gemm: tilec.Compiled, extents: tuple[int, int, int], sms: int) -> None:
    assert gemm.kernels[0].cluster == (2, 1, 1)
    assert ".multicast::cluster" in gemm.ptx
    _check(gemm, extents, sms)


@pytest.mark.parametrize(
    ("pin", "extents"),
    [("2, 1, 1", (8, 300, 72)), ("1, 4, 1", (300, 8, 72)), ("1, 1, 1", (130, 8, 72))],
)
def test_a_cluster_that_is_asked_for(pin: str, extents: tuple[int, int, int]) -> None:
    """Along x what CTAs share is A; with four of them, each loads a quarter."""
    compiled = _compiled(f"tile.cluster = array<i64: {pin}>")
    size = max(map(int, pin.split(", ")))
    assert compiled.kernels[0].cluster == ((size, 1, 1) if size > 1 else None)
    assert (".multicast::cluster" in compiled.ptx) == (size > 1)
    _check(compiled, extents, 4)


def test_pairs_in_an_order_that_is_asked_for() -> None:
    """Two rows of tiles at a time are one row of pairs; three are two."""
    for rows in (2, 3):
        compiled = _compiled(f"tile.rasterize = {rows} : i64")
        assert compiled.kernels[0].cluster == (2, 1, 1)
        _check(compiled, (390, 136, 8), 2)


def test_it_declines_where_ctas_take_a_tile_each() -> None:
    compiled = _compiled("tile.persistent = false")
    assert compiled.kernels[0].cluster is None
    assert any("each of its CTAs takes one tile" in one.message for one in compiled.remarks)


@tilec.kernel(warps=8)
def counted(
    a: tl.Array[tl.float16, int, int],
    b: tl.Array[tl.float16, int, int],
    c: tl.Array[tl.float32, int, int],
    seen: tl.Array[tl.int32, int],
) -> None:
    """A product that counts its tiles before it begins: a CTA without one must not."""
    row, col = tl.program_id(1) * 128, tl.program_id(0) * 128
    tl.atomic_add(seen, (0,), tl.full((1,), 1, tl.int32))
    acc = tl.zeros((128, 128))
    for k in range(0, a.shape[1], 64):
        acc = tl.dot(tl.load(a, (row, k), (128, 64)), tl.load(b, (k, col), (64, 128)), acc)
    tl.store(c, (row, col), acc)


@tilec.kernel(warps=8)
def batched(
    a: tl.Array[tl.float16, int, int, int],
    b: tl.Array[tl.float16, int, int],
    c: tl.Array[tl.float32, int, int, int],
) -> None:
    """Products of many matrices with one, which CTAs along y and along z read."""
    row, col, number = tl.program_id(1) * 128, tl.program_id(0) * 128, tl.program_id(2)
    acc = tl.zeros((128, 128))
    for k in range(0, a.shape[2], 64):
        acc = tl.dot(tl.load(a, (number, row, k), (128, 64)), tl.load(b, (k, col), (64, 128)), acc)
    tl.store(c, (number, row, col), acc)


def test_neighbours_along_z_come_last() -> None:
    """Most grids have one CTA along it, so that of each pair one had no tile."""
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-2, 3, shape).astype(np.float16) for shape in ((3, 40, 72), (72, 136)))
    c = np.zeros((3, 40, 136), np.float32)
    compiled = batched.using(target="sm_90a").compile(a, b, c)
    assert any("2 neighbours along y" in one.message for one in compiled.remarks)
    compiled.launch(a, b, c, grid=(2, 1, 3), device="sim", sms=4)
    np.testing.assert_array_equal(c, a.astype(int) @ b.astype(int))


def test_what_is_written_before_keeps_ctas_alone() -> None:
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-2, 3, shape).astype(np.float16) for shape in ((300, 72), (72, 128)))
    c, seen = np.zeros((300, 128), np.float32), np.zeros(1, np.int32)
    compiled = counted.using(target="sm_90a").compile(a, b, c, seen)
    assert compiled.kernels[0].cluster is None
    compiled.launch(a, b, c, seen, grid=(1, 3), device="sim")
    np.testing.assert_array_equal(c, a.astype(int) @ b.astype(int))
    assert seen == [3]


@pytest.mark.parametrize("pin", ["2, 2, 1", "1, 3, 1", "1, 2", "1, 16, 1", "1, 0, 1"])
def test_clusters_that_are_none(pin: str) -> None:
    with pytest.raises(PassError, match=r"tile\.cluster is array<i64: X, Y, Z>, of which one may"):
        _compiled(f"tile.cluster = array<i64: {pin}>")


def test_what_is_launched(gemm: tilec.Compiled) -> None:
    (kernel,) = gemm.kernels
    assert kernel.launched((3, 5, 7), 132) == (132, 1, 1)
    assert kernel.launched((3, 5, 7), 131) == (130, 1, 1)
    assert kernel.launched((1, 3, 1), 132) == (6, 1, 1)  # three pairs at most
    assert kernel.launched((3, 5, 7), 132, 1) == (2, 1, 1)
    assert '"cluster": [' in str(gemm.abi)
    code = gemm.c_launcher("gemm").source
    assert "unsigned clusters = (unsigned)sms * 1 / 2;" in code


@pytest.mark.parametrize(
    "taken", [r"barrier\.cluster\.(arrive|wait)\.aligned;", r"\.multicast::cluster\b"]
)
def test_the_simulator_misses_what_is_taken_out(gemm: tilec.Compiled, taken: str) -> None:
    """Without a barrier of the cluster, or half of each load, it does not pass for right."""
    (kernel,) = gemm.kernels
    if "multicast" in taken:
        broken = re.sub(r"(\.multicast::cluster)(.*), %\w+;", r"\2;", gemm.ptx)
    else:
        broken = re.sub(taken, "", gemm.ptx)
    assert broken != gemm.ptx
    arrays, _ = _arrays(130, 40, 72)
    grid = 1, 2, 1
    report = sim.launch(
        broken,
        kernel.name,
        kernel.launched(grid, 4),
        kernel.block or 1,
        for_simulator(passed(kernel, arrays, grid=grid)),
        arch="sm_90a",
        dynamic_smem=kernel.dynamic_shared,
        cluster=kernel.cluster,
        max_steps=20_000,
    )
    assert report.findings


PLACES = """
gpu.module @m [#nvvm.target<chip = "sm_90a">] {
  gpu.func @k(%n: index, %m: memref<?xindex>) kernel {
    %x = gpu.block_id x
    %z = gpu.block_id z
    %most = gpu.grid_dim y
    %rank = nvvm.read.ptx.sreg.cluster.ctarank : i32
    %same = arith.addi %n, %most : index
    %both = arith.muli %x, %z : index
    %number = arith.index_cast %rank : i32 to index
    %sum = arith.addi %same, %number : index
    memref.store %same, %m[%same] : memref<?xindex>
    memref.store %both, %m[%x] : memref<?xindex>
    memref.store %sum, %m[%z] : memref<?xindex>
    gpu.return
  }
}
"""


def test_axes_along_which_a_value_differs() -> None:
    """The number of a CTA along an axis differs along that, its rank along any, extents nowhere."""
    with new_context():
        module = ir.Module.parse(PLACES)
        stores = [op for op in walk(module.operation) if op.operation.name == "memref.store"]
        found = [[axes_of(store.operands[at]) for at in (0, 2)] for store in stores]
    assert found == [[set(), set()], [{0, 2}, {0}], [{0, 1, 2}, {2}]]

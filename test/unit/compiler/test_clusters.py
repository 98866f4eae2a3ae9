"""Clusters from the program to the launch: PTX, JSON, simulator, driver, command line."""

from __future__ import annotations

import json
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import tilec
from tilec.isa import LaunchError, TilecError
from tilec.isa.launch import check_cluster
from tilec.launch.abi import Abi
from tilec.tools import tile_run

RANKS = """
gpu.module @m [#nvvm.target<chip = "{target}">] {{
  gpu.func @ranks(%out: memref<?xi32>) kernel attributes {{
      known_block_size = array<i32: 32, 1, 1>{cluster}}} {{
    %c0 = arith.constant 0 : index
    %thread = gpu.thread_id x
    %first = arith.cmpi eq, %thread, %c0 : index
    %rank = gpu.cluster_block_id x
    %block = gpu.block_id x
    %value = arith.index_cast %rank : index to i32
    scf.if %first {{
      memref.store %value, %out[%block] : memref<?xi32>
    }}
    gpu.return
  }}
}}
"""


def _program(cluster: str, target: str = "sm_90") -> str:
    written = f", known_cluster_size = array<i32: {cluster}>" if cluster else ""
    return RANKS.format(target=target, cluster=written)


@pytest.fixture(scope="module")
def pairs() -> tilec.Compiled:
    """A kernel of clusters of two CTAs."""
    return tilec.compile(_program("2, 1, 1"))


def test_ptx_requires_them(pairs: tilec.Compiled) -> None:
    assert re.search(r"\.reqnctapercluster\s+2, 1, 1", pairs.ptx)


def test_the_json_has_them(pairs: tilec.Compiled) -> None:
    text = str(Abi(pairs.target, pairs.target.min_ptx, tuple(pairs.kernels)))
    assert json.loads(text)["kernels"][0]["cluster"] == [2, 1, 1]
    assert Abi.parse(text).kernels == tuple(pairs.kernels)
    (alone,) = tilec.compile(_program("")).kernels
    assert "cluster" not in alone.json()


def test_the_simulator_obeys(pairs: tilec.Compiled) -> None:
    out = np.full(6, -1, np.int32)
    pairs.launch(out, grid=6, device="sim")
    np.testing.assert_array_equal(out, [0, 1, 0, 1, 0, 1])
    tilec.compile(_program("")).launch(out, grid=6, device="sim", cluster=3)
    np.testing.assert_array_equal(out, [0, 1, 2, 0, 1, 2])


def test_the_driver_is_told(pairs: tilec.Compiled, monkeypatch: pytest.MonkeyPatch) -> None:
    from tilec.launch import run

    told: dict[str, Any] = {}
    monkeypatch.setattr(run.cuda, "launch", lambda *_, **options: told.update(options))
    monkeypatch.setattr(run.cuda, "gpu", lambda: SimpleNamespace(activate=lambda: None))
    pairs.launch(np.zeros(6, np.int32), grid=6, device="cuda")
    assert told["cluster"] == (2, 1, 1)


def test_what_does_not_fit_is_refused(pairs: tilec.Compiled) -> None:
    out = np.zeros(6, np.int32)
    with pytest.raises(
        LaunchError, match="grid of 5 CTAs along x is not a whole number of clusters of 2"
    ):
        pairs.launch(out, grid=5, device="sim")
    with pytest.raises(LaunchError, match=r"compiled for clusters of \(2, 1, 1\) CTAs, not \(3"):
        pairs.launch(out, grid=6, device="sim", cluster=3)


@pytest.mark.parametrize(
    ("grid", "cluster", "message"),
    [
        ((4, 3, 1), (2, 2, 1), "3 CTAs along y is not a whole number of clusters of 2"),
        ((4, 4, 5), (1, 1, 2), "5 CTAs along z is not a whole number of clusters of 2"),
        ((32, 1, 1), (32, 1, 1), "at most 16 are legal"),
    ],
)
def test_the_error_names_the_dimension(grid: Any, cluster: Any, message: str) -> None:
    with pytest.raises(LaunchError, match=message):
        check_cluster(grid, cluster)
    check_cluster((16, 2, 3), (16, 1, 1))


@pytest.mark.parametrize(
    ("cluster", "target", "message"),
    [
        ("17, 1, 1", "sm_90", "has clusters of 17x1x1, 17 CTAs; legal: 1 to 16, of which 8 run"),
        (
            "2, 1, 1",
            "sm_80",
            "has clusters of 2x1x1 CTAs; sm_80 has none; sm_90 and later have them",
        ),
    ],
)
def test_what_no_target_has_is_refused(cluster: str, target: str, message: str) -> None:
    with pytest.raises(TilecError, match=message):
        tilec.compile(_program(cluster, target))


def test_more_than_portable_is_remarked_on() -> None:
    program = tilec.compile(_program("16, 1, 1"))
    assert any("has clusters of 16 CTAs" in one.message for one in program.remarks)
    out = np.full(16, -1, np.int32)
    program.launch(out, grid=16, device="sim")
    np.testing.assert_array_equal(out, np.arange(16))


def test_tile_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, result = tmp_path / "ranks.mlir", tmp_path / "out.npy"
    source.write_text(_program("2, 1, 1"))
    common = [str(source), "--device", "sim", "--arg", "zeros:6:i32"]
    assert tile_run.main([*common, "--grid", "6", "--out", f"0={result}"]) == 0
    np.testing.assert_array_equal(np.load(result), [0, 1, 0, 1, 0, 1])
    assert tile_run.main([*common, "--grid", "5"]) == 1
    assert "5 CTAs along x is not a whole number of clusters of 2" in capsys.readouterr().err
    source.write_text(_program(""))
    assert tile_run.main([*common, "--grid", "6", "--cluster", "3", "--out", f"0={result}"]) == 0
    np.testing.assert_array_equal(np.load(result), [0, 1, 2, 0, 1, 2])


def test_tile_run_makes_tensor_maps(tmp_path: Path) -> None:
    example = Path(__file__).parents[3] / "examples" / "hopper" / "gemm_cluster.mlir"
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-3, 4, (rows, 72)).astype(np.float16) for rows in (40, 24))
    arguments = []
    for name, array in (("a", a), ("b", b), ("c", np.zeros((40, 24), np.float16))):
        np.save(tmp_path / name, array)
        arguments += ["--arg", str(tmp_path / f"{name}.npy")]
    result = tmp_path / "out.npy"
    launch = ["--device", "sim", "--grid", "2,1", "--out", f"2={result}"]
    assert tile_run.main([str(example), *launch, *arguments]) == 0
    np.testing.assert_array_equal(np.load(result), a @ b.T)

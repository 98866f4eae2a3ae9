"""What kernels take where nobody says: of a store, of the shipped table, or their own."""

from __future__ import annotations

import json
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import tilec
import tilec.lang as tl
from tilec.isa import TilecError, target
from tilec.launch.occupancy import occupancy
from tilec.passes.defaults import default_of
from tilec.tuning import load
from tilec.tuning.declared import Tunable
from tilec.tuning.problems import Problem
from tilec.tuning.store import Outcome, State, Store

TABLE = Path(__file__).parents[3] / "passes" / "defaults" / "table.json"
ROWS = [
    (kernel, name, row)
    for kernel, by_target in json.loads(TABLE.read_text())["kernels"].items()
    for name, rows in by_target.items()
    for row in rows
]


@tilec.tunable(
    {"BM": (64, 128, 256), "BN": (64, 128, 256), "BK": (32, 64), "warps": (4, 8)},
    problem={"m": 4096, "n": 4096, "k": 4096},
    arguments={"a": "f16[m, k]", "b": "f16[k, n]", "c": "f32[m, n]"},
    grid="cdiv(n, BN), cdiv(m, BM)",
    table="gemm",
)
@tilec.kernel(warps=8)
def gemm(
    a: tl.Array[tl.float16, int, int],
    b: tl.Array[tl.float16, int, int],
    c: tl.Array[tl.float32, int, int],
    BM: tl.Constant[int] = 64,  # noqa: N803
    BN: tl.Constant[int] = 64,  # noqa: N803
    BK: tl.Constant[int] = 64,  # noqa: N803
) -> None:
    row, col = tl.program_id(1) * BM, tl.program_id(0) * BN
    acc = tl.zeros((BM, BN))
    for k in range(0, a.shape[1], BK):
        acc = tl.dot(tl.load(a, (row, k), (BM, BK)), tl.load(b, (k, col), (BK, BN)), acc)
    tl.store(c, (row, col), acc)


@pytest.mark.parametrize("name", ["sm_80", "sm_90a"])
def test_the_table_has_sizes_from_small_to_large(name: str) -> None:
    sizes = [row["sizes"] for kernel, of, row in ROWS if (kernel, of) == ("gemm", name)]
    squares = {one["m"] for one in sizes if len(set(one.values())) == 1}
    assert squares >= {512, 1024, 2048, 4096, 8192}
    assert default_of("gemm", name, {"m": 16384, "n": 16384, "k": 16384}) is not None


def test_the_table_has_attention() -> None:
    keys = {row["sizes"]["queries"] for kernel, _, row in ROWS if kernel == "attention"}
    assert keys >= {1024, 2048, 4096, 8192, 16384, 32768}


def test_what_the_table_has_fits_its_target() -> None:
    """Powers of two, as tiles are; a CTA with two stages of its slices fits an SM."""
    for kernel, name, row in ROWS:
        given = row["parameters"]
        assert all(value & (value - 1) == 0 for value in given.values())
        stages = 2 * (given["BM"] + given["BN"]) * given["BK"] * 2 if kernel == "gemm" else 0
        assert occupancy(32 * given["warps"], 0, stages, target(name)).ctas >= 1


def test_a_size_takes_the_nearest_ones() -> None:
    def sizes(*extents: int) -> dict[str, int]:
        return dict(zip("mnk", extents, strict=True))

    exact = default_of("gemm", "sm_80", sizes(4096, 4096, 4096))
    assert exact is not None
    assert exact.sizes == sizes(4096, 4096, 4096)
    near = default_of("gemm", "sm_80", sizes(4000, 4200, 4096))
    assert near == exact
    assert default_of("gemm", "sm_80", sizes(32, 32, 32)) is None
    assert default_of("gemm", "sm_80", sizes(4096, 4096, 1 << 20)) is None
    assert default_of("gemm", "sm_75", sizes(4096, 4096, 4096)) is None
    assert default_of("conv", "sm_80", sizes(4096, 4096, 4096)) is None


def test_store_then_table_then_the_kernels_own(tmp_path: Path) -> None:
    problem = Problem({"m": 4096, "n": 4096, "k": 4096})
    listed = gemm.choose(problem, "sm_80")
    expected = default_of("gemm", "sm_80", problem.sizes)
    assert expected is not None
    assert listed.candidate == expected.parameters
    assert "the table of defaults for 4096x4096x4096, sm_80" in str(listed)
    small = gemm.choose(Problem({"m": 16, "n": 16, "k": 16}), "sm_80")
    assert (small.candidate["BM"], small.source) == (64, "the kernel")
    narrow = gemm.pinned({"BM": 64, "BN": 64})  # what the table has is not of this space
    assert narrow.choose(problem, "sm_80").source == "the kernel"

    file = tmp_path / "tune.sqlite"
    pinned = gemm.pinned({"BM": 64, "BK": 32, "warps": 4})
    (study,) = tilec.tune(pinned, targets=["sm_80"], problems=[problem], store=file)
    assert study.best is not None
    chosen = gemm.choose(problem, "sm_80", file)
    assert chosen.candidate == study.best.candidate
    assert f"the store {file}, by the model" in str(chosen)
    assert gemm.choose(problem, "sm_90a", file).source != chosen.source  # another target's
    with Store(file) as opened:  # a time on a GPU is more than any model
        key = opened.studies()[study.key.id]
        slow = study.ranked[-1]
        measured = replace(study.key, device="NVIDIA A100")
        assert key["device"] == "model"
        id_ = opened.study(measured)
        opened.put(id_, replace(slow, measured={"median": 1e-3}))
    chosen = gemm.choose(problem, "sm_80", file)
    assert chosen.candidate == slow.candidate
    assert "measured on NVIDIA A100" in str(chosen)


def test_a_launch_takes_what_is_chosen() -> None:
    random = np.random.default_rng(0)
    a = random.integers(-4, 5, (96, 64)).astype(np.float16)
    b = random.integers(-4, 5, (64, 80)).astype(np.float16)
    c = np.zeros((96, 80), np.float32)
    report = gemm.launch(a, b, c, device="sim")
    np.testing.assert_array_equal(c, a.astype(np.float32) @ b.astype(np.float32))
    assert report.kernel == "gemm"


@pytest.mark.parametrize(
    ("shapes", "message"),
    [
        (((8, 8), (8, 8)), "takes a, b, c; 2 are given"),
        (((8, 8), (8, 8), (8,)), "argument 'c' has extents"),
        (((8, 8), (16, 8), (8, 8)), "size 'k' is 8, and 16 of argument 'b'"),
    ],
)
def test_arguments_that_are_no_problem_are_errors(
    shapes: tuple[tuple[int, ...], ...], message: str
) -> None:
    arrays = [np.zeros(shape, np.float16) for shape in shapes]
    with pytest.raises(TilecError, match=message) as found:
        gemm.launch(*arrays)
    assert f"{Path(__file__).name}:" in str(found.value)


def test_a_store_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(TilecError, match=r"nothing.sqlite: there is no such store"):
        gemm.choose(gemm.default_problem, "sm_80", tmp_path / "nothing.sqlite")


LINALG = """\
func.func @matmul(%a: memref<{m}x{k}xf16>, %b: memref<{k}x{n}xf16>, %c: memref<{m}x{n}xf32>) {{
  linalg.matmul ins(%a, %b : memref<{m}x{k}xf16>, memref<{k}x{n}xf16>)
    outs(%c : memref<{m}x{n}xf32>)
  return
}}
"""


def remark_of(text: str, name: str, pipeline: Any = None) -> str:
    compiled = tilec.compile(text, target=name, pipeline=pipeline)
    (found,) = [str(one) for one in compiled.remarks if "becomes tiles" in str(one)]
    return found


@pytest.mark.parametrize("name", ["sm_80", "sm_90a"])
def test_linalg_takes_the_tables_tiles(name: str) -> None:
    row = default_of("gemm", name, {"m": 4096, "n": 4096, "k": 4096})
    assert row is not None
    p = row.parameters
    found = remark_of(LINALG.format(m=4096, n=4096, k=4096), name)
    tiles = f"{p['BM']}x{p['BN']}x{p['BK']}"
    assert f"becomes tiles of {tiles} (M, N, K) for {p['warps']} warps" in found
    assert f"as the table of defaults for 4096x4096x4096, {name} has it" in found


def test_linalg_of_other_sizes_and_pins_is_as_before() -> None:
    assert "table" not in remark_of(LINALG.format(m=100, n=100, k=100), "sm_80")
    assert "table" not in remark_of(LINALG.format(m="?", n="?", k="?"), "sm_80")


def test_kernels_of_the_table_are_the_examples() -> None:
    file = Path(__file__).parents[3] / "benchmarks" / "default_kernels.py"
    for kernel in {one for one, _, _ in ROWS}:
        tunable: Tunable = load(file, kernel)
        for one, _, row in ROWS:
            if one == kernel:
                assert row["parameters"] in tunable.candidates(Problem(row["sizes"]))


def test_what_only_spares_dram_is_not_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel's own, what its SMs do faster, or what is nearly as good and does less."""
    folder = Path(__file__).parents[3] / "benchmarks"
    monkeypatch.syspath_prepend(str(folder))
    choice = import_module("make_defaults").choice

    def outcome(tile: int, cost: float, throughput: float, work: float) -> Outcome:
        counts = {"estimate": {"throughput": throughput, "cycles": {"tensor": work}}}
        return Outcome({"BM": tile}, State.RANKED, counts=counts, cost=cost)

    def chosen(*others: Outcome) -> int:
        found = sorted((outcome(128, 1.0, 0.8, 5), *others), key=lambda one: one.cost or 0.0)
        tunable = SimpleNamespace(space=SimpleNamespace(default={"BM": 128}))
        made = choice(SimpleNamespace(outcomes=found, ranked=found), tunable)
        return int(made.candidate["BM"])

    assert chosen(outcome(256, 0.5, 0.81, 1)) == 128
    assert chosen(outcome(256, 0.5, 0.8, 1)) == 256
    assert chosen(outcome(256, 0.99, 0.7, 1)) == 128
    assert chosen(outcome(256, 0.5, 0.8, 2), outcome(64, 0.505, 0.8, 1)) == 64

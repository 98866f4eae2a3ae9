"""CTAs that take one tile of the grid after the other: results, launches, the JSON."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import tilec
import tilec.lang as tl
from tilec.isa import LaunchError, TilecError, target
from tilec.launch import run
from tilec.launch.abi import Abi
from tilec.launch.schema import SchemaError
from tilec.passes.analysis.costs import rows_together
from tilec.pipelines import pipeline
from tilec.tools import tile_run

ROOT = Path(__file__).parents[3]
GEMM = ROOT / "examples" / "kernels" / "gemm.mlir"


@pytest.fixture(scope="module")
def gemm() -> tilec.Compiled:
    """The example of tiles of 128x128, compiled for Hopper, without clusters."""
    alone = "array<i32: 256, 1, 1>, tile.cluster = array<i64: 1, 1, 1>"
    text = GEMM.read_text(encoding="utf-8").replace("array<i32: 256, 1, 1>", alone)
    return tilec.compile(text, target="sm_90a")


def _matrix(values: Any, type_: type) -> Any:
    """Rows whose beginnings are 16 bytes apart, and other numbers behind each."""
    rows, cols = values.shape
    memory = np.full((rows, -(-cols // 8) * 8 + 8), 77, type_)
    memory[:, :cols] = values
    return memory[:, :cols]


def _arrays(m: int, n: int, k: int) -> tuple[list[Any], Any]:
    """A, B, C; and what C must become."""
    rng = np.random.default_rng(m + n + k)
    a, b = (rng.integers(-2, 3, shape) for shape in ((m, k), (k, n)))
    held = [_matrix(a, np.float16), _matrix(b, np.float16)]
    return [*held, _matrix(np.zeros((m, n)), np.float32)], a @ b


def _grid(m: int, n: int) -> tuple[int, int]:
    return max(1, -(-n // 128)), max(1, -(-m // 128))


@pytest.mark.parametrize(
    ("extents", "sms"),
    [
        ((257, 136, 136), 1),  # six tiles, one CTA
        ((300, 257, 72), 4),  # some CTAs take three, the others two
        ((130, 136, 64), 132),  # a CTA for each tile
        ((1, 1, 1), 2),
        ((256, 256, 0), 3),  # no rounds: arrays without elements have no tensor maps
    ],
)
def test_products(gemm: tilec.Compiled, extents: tuple[int, int, int], sms: int) -> None:
    arrays, wanted = _arrays(*extents)
    gemm.launch(*arrays, grid=_grid(*extents[:2]), device="sim", sms=sms)
    c = arrays[2]
    np.testing.assert_array_equal(c, wanted)
    assert (c.base[:, extents[1] :] == 77).all()


@pytest.mark.parametrize("cluster", [pytest.param("1, 1", marks=pytest.mark.slow), "2, 1"])
def test_along_a_curve(cluster: str) -> None:
    """Each tile has one place; clusters of two, whose second CTA may have none, go along it."""
    pins = (
        f"array<i32: 256, 1, 1>, tile.cluster = array<i64: {cluster}, 1>, "
        'tile.rasterize = "hilbert"'
    )
    text = GEMM.read_text(encoding="utf-8").replace("array<i32: 256, 1, 1>", pins)
    compiled = tilec.compile(text, target="sm_90a")
    arrays, wanted = _arrays(640, 360, 40)
    report = compiled.launch(*arrays, grid=(3, 5), device="sim", sms=4)
    assert report is not None
    assert not report.findings
    np.testing.assert_array_equal(arrays[2], wanted)
    (order,) = (one.message for one in compiled.remarks if "takes tiles" in one.message)
    assert "takes tiles along Hilbert curves" in order


@tilec.kernel(warps=8)
def batched(
    a: tl.Array[tl.float16, int, int, int],
    b: tl.Array[tl.float16, int, int, int],
    c: tl.Array[tl.float16, int, int, int],
    bias: tl.Array[tl.float32, int],
) -> None:
    """A product of each pair, and a bias; every axis of the grid counts."""
    i, row, col = tl.program_id(2), tl.program_id(1) * 128, tl.program_id(0) * 128
    acc = tl.zeros((128, 128))
    for k in range(0, a.shape[2], 64):
        acc = tl.dot(tl.load(a, (i, row, k), (128, 64)), tl.load(b, (i, k, col), (64, 128)), acc)
    shift = tl.load(bias, (col,), (128,))
    tl.store(c, (i, row, col), (acc + shift[None, :]).astype(tl.float16))


def test_three_axes_and_an_epilogue() -> None:
    rng = np.random.default_rng(0)
    a = rng.integers(-2, 3, (2, 136, 72)).astype(np.float16)
    b = rng.integers(-2, 3, (2, 72, 264)).astype(np.float16)
    c, bias = np.zeros((2, 136, 264), np.float16), rng.integers(-9, 9, 264).astype(np.float32)
    compiled = batched.using(target="sm_90a").compile(a, b, c, bias)
    (kernel,) = compiled.kernels
    assert kernel.ctas_per_sm == 1
    compiled.launch(a, b, c, bias, grid=(3, 2, 2), device="sim", sms=5)
    wanted = np.einsum("imk,ikn->imn", a.astype(int), b.astype(int)) + bias.astype(int)
    np.testing.assert_array_equal(c.astype(int), wanted)


@pytest.mark.parametrize("group", [1, 2, 16])
def test_each_tile_is_taken_once_in_every_order(group: int) -> None:
    """Of a grid of 3 by 3 tiles, of which groups of two rows leave one."""
    chosen = pipeline(target("sm_90a")).replaced(
        "tile-make-persistent", f"tile-make-persistent{{group={group}}}"
    )
    rng = np.random.default_rng(group)
    a, b = (rng.integers(-2, 3, shape) for shape in ((300, 8), (8, 257)))
    arrays = [_matrix(a, np.float16), _matrix(b, np.float16), _matrix(np.zeros((300, 257)), "f4")]
    compiled = tilec.compile(GEMM, target="sm_90a", pipeline=chosen)
    compiled.launch(*arrays, grid=(3, 3), device="sim", sms=2)
    np.testing.assert_array_equal(arrays[2], a @ b)


def test_groups_read_least() -> None:
    """Between 8 and 16 rows: what 132 SMs read at a time, by a formula coded apart."""
    for rows, cols, at_once in ((128, 256, 132), (256, 128, 66), (128, 128, 132), (64, 256, 66)):
        read = {n: n * rows + math.ceil(at_once / n) * cols for n in (8, 16)}
        assert read[rows_together(rows, cols, at_once)] == min(read.values())


def test_in_a_grouped_order_each_tile_is_taken_once() -> None:
    """Of a result that leaves by boxes, too: it is seen that their places are not negative."""
    text = GEMM.parents[1].joinpath("hopper", "tiles.mlir").read_text(encoding="utf-8")
    asked = "array<i32: 256, 1, 1>, tile.rasterize = 2 : i64"
    compiled = tilec.compile(text.replace("array<i32: 256, 1, 1>", asked))
    (kernel,) = compiled.kernels
    assert kernel.ctas_per_sm == 1
    assert "cp.async.bulk.tensor.2d.global.shared::cta" in compiled.ptx
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-2, 3, (rows, 72)).astype(np.float16) for rows in (300, 264))
    c = np.zeros((300, 264), np.float16)
    compiled.launch(a, b, c, grid=(2, 3), device="sim", sms=2)
    np.testing.assert_array_equal(c, a @ b.T)


@pytest.mark.parametrize("attribute", ["tile.persistent = false", "tile.persistent = true"])
def test_it_is_pinned(attribute: str) -> None:
    text = GEMM.read_text(encoding="utf-8")
    pinned = text.replace("array<i32: 256, 1, 1>", f"array<i32: 256, 1, 1>, {attribute}")
    compiled = tilec.compile(pinned, target="sm_90a")
    (kernel,) = compiled.kernels
    assert (kernel.ctas_per_sm is not None) == ("true" in attribute)
    arrays, wanted = _arrays(200, 136, 72)
    compiled.launch(*arrays, grid=(2, 2), device="sim", sms=1)
    np.testing.assert_array_equal(arrays[2], wanted)
    assert not any("persistent" in one.message for one in compiled.remarks)


def test_without_warps_that_load_it_is_right_too(gemm: tilec.Compiled) -> None:
    """A pass of the pipeline may be missing; the loop over tiles is as one of the source."""
    kept = gemm.pipeline.replaced("tile-specialize-warps", "tile-specialize-warps{enabled=false}")
    compiled = tilec.compile(GEMM, target="sm_90a", pipeline=kept)
    assert compiled.kernels[0].cluster == (2, 1, 1)
    assert "setmaxnreg" not in compiled.ptx
    arrays, wanted = _arrays(257, 136, 72)
    compiled.launch(*arrays, grid=(2, 3), device="sim", sms=2)
    np.testing.assert_array_equal(arrays[2], wanted)


def test_what_is_launched(gemm: tilec.Compiled) -> None:
    (kernel,) = gemm.kernels
    assert kernel.launched((3, 5, 7), 200) == (105, 1, 1)
    assert kernel.launched((3, 5, 7), 100) == (100, 1, 1)
    assert kernel.launched((3, 5, 7), 100, 9) == (9, 1, 1)
    assert kernel._replace(ctas_per_sm=2).launched((3, 5, 7), 4) == (8, 1, 1)
    assert kernel._replace(ctas_per_sm=None).launched((3, 5, 7), 4) == (3, 5, 7)
    with pytest.raises(LaunchError, match=r"a grid of \(65536, 32768, 1\), 2147483648 tiles; CTAs"):
        kernel.launched((65536, 32768, 1), 132)
    assert kernel.launched((3, 5, 7), 100, np.int32(9)) == (9, 1, 1)  # type: ignore[arg-type]
    wrong: list[Any] = [0, True, 1.5, "3", [1]]
    for sms in wrong:
        with pytest.raises(LaunchError, match=re.escape(f"on {sms!r} SMs; legal: 1 or more")):
            kernel.launched((1, 1, 1), 132, sms)


def test_the_driver_is_told(gemm: tilec.Compiled, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[Any] = []
    gpu = SimpleNamespace(activate=lambda: None, multiprocessors=4)
    monkeypatch.setattr(run.cuda, "launch", lambda *args, **_: told.append(args))
    monkeypatch.setattr(run.cuda, "gpu", lambda: gpu)
    arrays, _ = _arrays(300, 257, 64)
    gemm.launch(*arrays, grid=(3, 3), device="cuda")
    gemm.launch(*arrays, grid=(3, 3), device="cuda", sms=2)
    assert [args[2] for args in told] == [(4, 1, 1), (2, 1, 1)]
    assert told[0][4][-5:-2] == [3, 3, 1]  # in front of the tensor maps of A and B


def test_the_json(gemm: tilec.Compiled) -> None:
    document = json.loads(str(gemm.abi))
    (kernel,) = document["kernels"]
    assert kernel["ctas_per_sm"] == 1
    passed = [(one["kind"], one.get("axis")) for one in kernel["arguments"][3:6]]
    assert passed == [("grid", 0), ("grid", 1), ("grid", 2)]
    assert Abi.parse(str(gemm.abi)) == gemm.abi
    del kernel["ctas_per_sm"]
    with pytest.raises(SchemaError, match="are passed, along x, y and z, where 'ctas_per_sm'"):
        Abi.parse(json.dumps(document))
    kernel["ctas_per_sm"] = 1
    kernel["arguments"].append(kernel["arguments"].pop(5))
    with pytest.raises(SchemaError, match=r"arguments\[5\]: tensor maps stand behind all other"):
        Abi.parse(json.dumps(document))


def test_tile_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "gemm.mlir"
    source.write_text(GEMM.read_text(encoding="utf-8").replace('"sm_80"', '"sm_90a"'))
    given = ["randint:136x72:f16", "randint:72x200:f16", "zeros:136x200:f32"]
    command = [str(source), "--device=sim", "--grid=2,2", "--check=gemm"]
    command += [f"--arg={one}" for one in given]
    assert tile_run.main([*command, "--sms=3"]) == 0
    assert "check gemm: argument 2: largest difference 0" in capsys.readouterr().out
    assert tile_run.main([*command, "--sms=0"]) == 1
    assert "on 0 SMs; legal: 1 or more" in capsys.readouterr().err


def test_ptxas_has_nothing_to_note(gemm: tilec.Compiled, assemblers_for: Any) -> None:
    for ptxas in assemblers_for(gemm.target):
        status, report = ptxas.run(gemm.ptx, "sm_90a", "-v")
        assert status == 0, report
        assert "0 bytes spill stores, 0 bytes spill loads" in report
        assert "serialized" not in report


def test_a_kernel_that_takes_extents_is_passed_them(gemm: tilec.Compiled) -> None:
    from tilec.launch.arguments import passed

    arrays, _ = _arrays(8, 8, 8)
    with pytest.raises(TilecError, match="takes the extents of the grid; there is none"):
        passed(gemm.kernels[0], arrays)

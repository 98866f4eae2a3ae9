"""`tilec --store`: what `tile-tune` found is what is compiled."""

from __future__ import annotations

import re
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from tilec.tools import tile_tune, tilec
from tilec.tuning import load
from tilec.tuning.store import Outcome, State, Store, StudyKey
from tilec.tuning.store.keys import versions

TEMPLATE = """gpu.module @m {
  gpu.func @double(%x: memref<?xf32>) kernel
      attributes {known_block_size = array<i32: ${32 * warps}, 1, 1>} {
    %size = arith.constant ${B} : index
    %block = gpu.block_id x
    %at = arith.muli %block, %size : index
    %tile = tile.load %x[%at] : memref<?xf32> -> tensor<${B}xf32>
    %twice = arith.addf %tile, %tile : tensor<${B}xf32>
    tile.store %twice, %x[%at] : tensor<${B}xf32>, memref<?xf32>
    gpu.return
  }
}
"""
DECLARATION = """{
  "template": "double.mlir.in",
  "kernel": "double",
  "parameters": {"B": [64, 128, 256], "warps": [1, 2]},
  "problem": {"n": 4096},
  "arguments": {"x": "f32[n]"},
  "grid": "cdiv(n, B)"
}
"""
PRODUCT = """func.func @product(%a: memref<256x512xf16>, %b: memref<512x768xf16>,
                   %c: memref<256x768xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<256x768xf32>)
  linalg.matmul ins(%a, %b : memref<256x512xf16>, memref<512x768xf16>)
      outs(%c : memref<256x768xf32>)
  return
}
"""


@pytest.fixture
def declaration(tmp_path: Path) -> Path:
    (tmp_path / "double.mlir.in").write_text(TEMPLATE)
    file = tmp_path / "double.json"
    file.write_text(DECLARATION)
    return file


def threads(ptx: str) -> int:
    found = re.search(r"ntid\s+(\d+)", ptx)
    assert found is not None
    return int(found[1])


def stored(file: Path, key: StudyKey, *trials: tuple[dict[str, int], float, float | None]) -> None:
    with Store(file) as store:
        id_ = store.study(key)
        for candidate, cost, seconds in trials:
            measured = None if seconds is None else {"median": seconds}
            store.put(id_, Outcome(candidate, State.RANKED, cost=cost, measured=measured))


def test_a_template_takes_what_tuning_found(
    declaration: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store, out = tmp_path / "d.sqlite", tmp_path / "d.ptx"
    words = ["run", str(declaration), "--store", str(store), "--pin", "B=256", "--pin", "warps=2"]
    assert tile_tune.main(words) == 0
    capsys.readouterr()
    given = [str(declaration), "--store", str(store), "-o", str(out)]
    assert tilec.main(given) == 0
    said = capsys.readouterr().err
    assert f"B=256, warps=2, as the store {store}, by the model, has it" in said
    assert "remark: kernel 'double' for n=4096, sm_80: " in said
    assert threads(out.read_text()) == 64
    # Another problem, and another target: the kernel's own.
    for more, named in ((["--problem", "n=512"], "n=512, sm_80"), (["--target", "sm_90"], "sm_90")):
        assert tilec.main([*given, *more]) == 0
        said = capsys.readouterr().err
        assert f"{named}: B=64, warps=1, as the kernel has it; the store {store} knows" in said
        assert threads(out.read_text()) == 32
    assert tilec.main([str(declaration), "-o", str(out)]) == 0
    assert capsys.readouterr().err.endswith("B=64, warps=1, as the kernel has it [tilec]\n")


def test_a_measured_candidate_comes_first(
    declaration: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tunable, store = load(declaration), tmp_path / "d.sqlite"
    common = {"kernel": "double", "digest": tunable.digest, "sizes": {"n": 4096},
              "types": {"x": "f32"}, "target": "sm_80"}  # fmt: skip
    current: dict[str, Any] = {**common, "versions": versions()}
    stored(store, StudyKey(**current, device="model"), ({"B": 64, "warps": 1}, 1e-6, None))
    times = ({"B": 128, "warps": 2}, 3e-6, 2e-6), ({"B": 256, "warps": 2}, 2e-6, 3e-6)
    stored(store, StudyKey(**current, device="a GPU"), *times)
    other = StudyKey(**common, versions={**versions(), "code": "other"}, device="a GPU")
    stored(store, other, ({"B": 64, "warps": 2}, 1e-9, 1e-9))
    assert tilec.main([str(declaration), "--store", str(store), "-o", "/dev/null"]) == 0
    said = capsys.readouterr().err
    assert f"B=128, warps=2, as the store {store}, measured on a GPU, has it" in said


def test_products_take_what_tuning_found(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of a kernel with the sizes and parameters of a product, for these extents."""
    program, store, out = tmp_path / "p.mlir", tmp_path / "p.sqlite", tmp_path / "p.ptx"
    program.write_text(PRODUCT)
    sizes = {"m": 256, "n": 768, "k": 512}
    common: dict[str, Any] = {
        "kernel": "gemm", "digest": "its", "device": "model",
        "types": {"a": "f16", "b": "f16", "c": "f32"},
    }  # fmt: skip
    best = {"BM": 32, "BN": 64, "BK": 32, "warps": 2}
    worse = {"BM": 64, "BN": 64, "BK": 32, "warps": 4}
    key = StudyKey(**common, sizes=sizes, target="sm_80", versions=versions())
    stored(store, key, (best, 1e-6, None), (worse, 2e-6, None))
    old = {**versions(), "code": "other"}
    stored(store, StudyKey(**common, sizes=sizes, target="sm_80", versions=old), (worse, 0.0, None))
    assert tilec.main([str(program), "--store", str(store), "-o", str(out), "--remarks"]) == 0
    said = capsys.readouterr().err
    assert (
        f"{program}:5:3: remark: 'linalg.matmul' op becomes tiles of 32x64x32 (M, N, K) for" in said
    )
    assert "2 warps, as the tuning store for 256x768x512, sm_80, has it; its grid is (12, 8" in said
    assert threads(out.read_text()) == 64
    words = [str(program), "--store", str(store), "--target", "sm_90", "-o", str(out), "--remarks"]
    assert tilec.main(words) == 0
    assert "the tuning store knows no tiles for 256x768x512, sm_90" in capsys.readouterr().err


def test_wrong_use(declaration: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program, newer, none = tmp_path / "p.mlir", tmp_path / "newer.sqlite", tmp_path / "none"
    program.write_text(PRODUCT)
    stored(newer, StudyKey("k", "d", {}, {}, "sm_80", "model", {}))
    with sqlite3.connect(newer) as database:
        database.execute("PRAGMA user_version = 99")
    none.write_text("no database" * 100)
    out = tmp_path / "out.ptx"
    missing = tmp_path / "missing"
    for words, said in (
        ([str(program), "--store", str(missing)], f"--store {missing}: there is no such file"),
        (
            [str(program), "--store", str(newer)],
            f"{newer}: written by a newer tilec, with schema 99",
        ),
        ([str(declaration), "--store", str(newer)], f"{newer}: written by a newer tilec"),
        ([str(program), "--store", str(none)], f"{none}: file is not a database"),
        ([str(program), "--problem", "m=1"], "the input is a .json file"),
        ([str(declaration), "--problem", "m=1"], "the kernel has no size 'm'; nearest: n"),
    ):
        assert tilec.main([*words, "-o", str(out)]) == 1
        captured = capsys.readouterr()
        assert captured.err.count("error: ") == 1
        assert said in captured.err
        assert not out.exists()

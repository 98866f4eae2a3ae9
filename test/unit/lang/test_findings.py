"""What the simulator finds names the line of the kernel's Python, of PTX without lines, too."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tilec
import tilec.lang as tl
from tilec.sim import SimulationError

Vector = tl.Array[tl.float32, int]


@tilec.kernel
def reads_beyond(x: Vector, y: Vector) -> None:
    held = tl.load(x, 0, 32) * 2
    held = held + tl.load(x, 16, 32, bounds=False)  # wrong
    tl.store(y, 0, held)


@tilec.kernel
def stores_beyond(x: Vector, y: Vector) -> None:
    for at in range(0, 96, 32):
        held = tl.load(x, at, 32)
        tl.store(y, at, held, bounds=False)  # wrong


@tilec.kernel(warps=1)
def races(keys: tl.Array[tl.int32, int], sums: Vector) -> None:
    at = tl.load(keys, 0, 64)
    tl.store(sums, at, tl.arange(64).astype(tl.float32))  # wrong


def place(kernel: Any) -> str:
    """The line that is wrong."""
    lines, first = inspect.getsourcelines(inspect.unwrap(kernel))
    return f"{__file__}:{first + next(at for at, line in enumerate(lines) if '# wrong' in line)}"


@pytest.mark.parametrize("target", ["sm_80", "sm_90a"])
@pytest.mark.parametrize("kernel", [reads_beyond, stores_beyond], ids=["load", "store"])
def test_a_finding_names_its_line(kernel: Any, target: str) -> None:
    x, y = np.zeros(40, np.float32), np.zeros(70, np.float32)
    line = place(kernel)
    with pytest.raises(SimulationError) as caught:
        kernel.using(target=target)[1](x, y)
    assert f"({line}): thread" in str(caught.value)
    report = caught.value.report
    assert report is not None
    assert {(one.kind, one.source) for one in report.findings} == {("out-of-bounds", line)}


def test_a_race_names_both_lines() -> None:
    with pytest.raises(SimulationError, match="race") as caught:
        races[1](np.ones(64, np.int32), np.zeros(8, np.float32))
    assert str(caught.value).count(f" ({place(races)})") >= 2


def test_of_what_the_cache_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TILEC_CACHE", "1")
    monkeypatch.setenv("TILEC_CACHE_DIR", str(tmp_path))
    x, y = np.zeros(40, np.float32), np.zeros(70, np.float32)
    for _ in range(2):  # another kernel of the same source takes what the first one kept
        kernel = tilec.kernel(inspect.unwrap(reads_beyond))
        with pytest.raises(SimulationError, match="out-of-bounds") as caught:
            kernel[1](x, y)
        assert place(reads_beyond) in str(caught.value)
    assert type(kernel.compile(x, y)).__name__ == "CachedCompilation"


def test_a_text_of_tiles_names_its_lines() -> None:
    text = """gpu.module @m [#nvvm.target<chip = "sm_80">] {
  gpu.func @k(%m: memref<?xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %t = tile.load %m[%c0] : memref<?xf32> -> tensor<32xf32>
    %d = arith.addf %t, %t : tensor<32xf32>
    tile.store %d, %m[%c0] : tensor<32xf32>, memref<?xf32>
    gpu.return
  }
}
"""
    compiled = tilec.compile(text)
    with pytest.raises(SimulationError, match=r"<ptx>:\d+ \(-:4\): thread"):
        compiled.launch(np.zeros(8, np.float32), grid=1, device="sim")

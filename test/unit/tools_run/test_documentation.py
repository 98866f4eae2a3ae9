"""The commands and the code of docs/simulator.md run as written."""

import re
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tilec.tools import tile_run

ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs" / "simulator.md").read_text()

SAXPY = """\
.version 8.0
.target sm_80
.address_size 64
.entry saxpy(.param .u64 y, .param .u64 x, .param .f32 a, .param .u32 n)
{
  .reg .pred %p; .reg .f32 %f<4>; .reg .b64 %d<4>; .reg .b32 %r<5>;
  ld.param.u32 %r4, [n];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mad.lo.u32 %r1, %r2, %r3, %r1;
  setp.ge.u32 %p, %r1, %r4;
  @%p ret;
  ld.param.u64 %d1, [y];
  ld.param.u64 %d2, [x];
  ld.param.f32 %f1, [a];
  mul.wide.u32 %d3, %r1, 4;
  add.u64 %d1, %d1, %d3;
  add.u64 %d2, %d2, %d3;
  ld.global.f32 %f2, [%d2];
  ld.global.f32 %f3, [%d1];
  fma.rn.f32 %f3, %f1, %f2, %f3;
  st.global.f32 [%d1], %f3;
  ret;
}
"""


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder with what the page names."""
    monkeypatch.chdir(tmp_path)
    Path("saxpy.ptx").write_text(SAXPY)
    Path("examples").symlink_to(ROOT / "examples")
    (reference,) = (block for block in blocks("python") if "def reference" in block)
    Path("saxpy.py").write_text(reference)
    (problems,) = (block for block in blocks("text") if block.startswith("--grid"))
    Path("sizes.txt").write_text(problems)


def test_python() -> None:
    launch, stopping = (block for block in blocks("python") if "launch(" in block)
    names: dict[str, Any] = {}
    exec(compile(launch, "simulator.md", "exec"), names)
    np.testing.assert_array_equal(names["y"], 2 * np.arange(1000))
    exec(compile(stopping, "simulator.md", "exec"), names)
    np.testing.assert_array_equal(names["sums"][0], 4 * np.arange(32))
    np.testing.assert_array_equal(names["y"], 4 * np.arange(1000))


def test_commands() -> None:
    commands = shlex.split("".join(blocks("sh")).replace("\\\n", " ").replace("\n", " ; "))
    count = 0
    while commands:
        end = commands.index(";")
        name, *arguments = commands[:end]
        assert name == "tile-run"
        assert tile_run.main(arguments) == 0
        commands, count = commands[end + 1 :], count + 1
    assert count == 5
    assert np.load("small.npy").shape == (128, 256)
    np.testing.assert_array_equal(np.load("y.npy"), 2 * np.arange(1000))

"""Reproducers: what is written before a pipeline runs can be run again, even after a crash."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tilec.isa import TilecError
from tilec.report.reproducer import Reproducer, read_reproducer, reproducible
from tilec.tools import tile_opt

CRASH = """
import os, sys
from dataclasses import dataclass
from typing import ClassVar
from tilec.passes import Pass, register

@register
@dataclass(frozen=True)
class Crash(Pass):
    name: ClassVar[str] = "tile-crash"
    def apply(self, module):
        os.abort()

from tilec.tools.tile_opt import main
sys.exit(main(["-", "--pass-pipeline=canonicalize,tile-crash",
               "--mlir-pass-pipeline-crash-reproducer=" + sys.argv[1]]))
"""


@given(st.text("module {}\n@f", min_size=1), st.text(), st.booleans())
def test_comes_back(module: str, pipeline: str, each: bool) -> None:
    written = str(Reproducer(module, pipeline, each))
    read = read_reproducer(written)
    assert read.module.rstrip() == module.rstrip()
    assert (read.pipeline, read.verify_each) == (pipeline, each)


@pytest.mark.parametrize("fails", [False, True])
def test_what_was_there_is_there_again_unless_it_fails(fails: bool, tmp_path: Path) -> None:
    """A user's file, nothing, and a device, which a user who may could lose."""
    file, missing, device = (tmp_path / name for name in ("file", "missing", "device"))
    file.write_text("mine")
    device.symlink_to("/dev/null")
    made = Reproducer("module {}", "canonicalize", False)
    for path in (file, missing, device):
        with suppress(ZeroDivisionError), reproducible(str(path), lambda: made):
            assert path == device or path.read_text() == str(made)
            assert 1 // (not fails)
    assert device.is_symlink()
    if fails:
        assert file.read_text() == missing.read_text() == str(made)
    else:
        assert file.read_text() == "mine"
        assert not missing.exists()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
def test_no_space_leaves_what_was_there(tmp_path: Path) -> None:
    device = tmp_path / "device"
    device.symlink_to("/dev/full")
    made = Reproducer("module {}", "canonicalize", False)
    with (
        pytest.raises(OSError, match="No space left") as caught,
        reproducible(str(device), lambda: made),
    ):
        pytest.fail("ran")
    assert caught.value.filename == str(device)
    assert device.is_symlink()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
def test_no_space_for_a_dump_names_its_file(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    program, out = tmp_path / "in.mlir", tmp_path / "out"
    program.write_text("module {}\n")
    words = [str(program), "--cse", "--mlir-print-ir-after-all", "-o", str(out)]
    words += ["--mlir-print-ir-tree-dir", str(tmp_path / "dumps")]
    assert tile_opt.main(words) == 0
    (dump,) = (path for path in (tmp_path / "dumps").rglob("*.mlir"))
    dump.unlink()
    dump.symlink_to("/dev/full")
    out.unlink()
    assert tile_opt.main(words) == 1
    assert capfd.readouterr().err == f"error: {dump}: No space left on device\n"
    assert not out.exists()


def test_none() -> None:
    with pytest.raises(TilecError, match="not a reproducer"):
        read_reproducer("module {}\n")


def test_is_left_by_a_crash(
    tmp_path: Path, scale: str, python: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    left = tmp_path / "left.mlir"
    done = python(CRASH, str(left), stdin=scale)
    assert done.returncode < 0
    read = read_reproducer(left.read_text())
    assert read.pipeline == "canonicalize,tile-crash"
    assert "gpu.func @scale" in read.module

"""Reproducers: what is written before a pipeline runs can be run again, even after a crash."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tilec.isa import TilecError
from tilec.report.reproducer import Reproducer, read_reproducer

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

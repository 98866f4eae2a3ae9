"""What `tilec.compile` takes: text, a path in a string or a `Path`, a module."""

from __future__ import annotations

from pathlib import Path

import pytest
import tilec
from tilec.passes.base import ProgramError

MMA = Path(__file__).resolve().parents[3] / "examples" / "mma.mlir"


def test_a_path_in_a_string_is_a_path(monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = tilec.compile(MMA, target="sm_80").ptx
    assert tilec.compile(str(MMA), target="sm_80").ptx == wanted
    monkeypatch.chdir(MMA.parent)
    assert tilec.compile("mma.mlir", target="sm_80").ptx == wanted


def test_a_path_that_leads_nowhere() -> None:
    with pytest.raises(FileNotFoundError, match=r"nowhere\.mlir"):
        tilec.compile("nowhere.mlir")


@pytest.mark.parametrize("text", ["module {} // a.mlir", "gpu.module @m {\n} // a.mlir", "a.ptx"])
def test_other_text_is_text(text: str) -> None:
    with pytest.raises((tilec.isa.TilecError, ProgramError)):
        tilec.compile(text, target="sm_80")

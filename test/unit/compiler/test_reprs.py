"""What a prompt shows of what tilec gives: a few lines that say what it is."""

from __future__ import annotations

import webbrowser
from pathlib import Path

import numpy as np
import pytest
import tilec
from tilec import isa, sim

ROOT = Path(__file__).resolve().parents[3]
GEMM = ROOT / "examples" / "gemm.mlir"
LINES = 8
COLUMNS = 160


def shown(value: object) -> str:
    text = repr(value)
    lines = text.splitlines()
    assert len(lines) <= LINES
    assert max(map(len, lines)) <= COLUMNS
    assert " object at 0x" not in text
    return text


def test_programs_say_what_was_made() -> None:
    compiled = tilec.compile(GEMM.read_text(), target="sm_80")
    assert "nothing" not in shown(compiled)
    assert "ptx" in shown(compiled)
    assert shown(compiled.abi).splitlines()[1].startswith("  gemm(arg0: memref<?x?xf16>, ")
    fresh = tilec.compile(GEMM.read_text(), target="sm_80", emit="tile")
    assert shown(fresh) == "<program for sm_80; made so far: tile>"


def test_reports_say_the_verdict_first() -> None:
    report = sim.Report("k", warp_instructions=12345)
    assert shown(report).splitlines()[:2] == ["kernel k: completed", "no findings"]
    assert "12,345 warp instructions" in shown(report)
    finding = sim.Finding("race", "threads meet", 3, "", "thread 0", 0, 1)
    report = sim.Report("k", findings=[finding] * 9, completed=False)
    assert shown(report).splitlines()[0] == "kernel k: stopped"
    assert "and 4 more findings" in shown(report)


@pytest.mark.parametrize("form", list(isa.forms().values())[::97], ids=str)
def test_forms_name_their_matrices(form: isa.Form) -> None:
    text = shown(form)
    assert text.startswith(f"<{form.ptx}:\n ")
    for operand in form.all_operands:
        assert f"{operand.name} {operand.rows}x{operand.cols}" in text


def test_targets_are_their_names() -> None:
    assert [shown(isa.target(name)) for name in ("sm_75", "sm_90a")] == ["<sm_75>", "<sm_90a>"]


def test_what_a_prompt_may_show_of_a_compilation() -> None:
    compiled = tilec.compile(GEMM.read_text(), target="sm_80")
    assert shown(compiled.kernels[0]).startswith("<kernel gemm(arg0: memref<?x?xf16>")
    assert shown(sim.read(compiled.ptx)) == "<PTX 7.0 for sm_80, kernels: gemm>"
    passes = len(compiled.pipeline.tile)
    assert shown(compiled.pipeline).startswith(f"<pipeline of {passes} passes on tiles and ")
    text = compiled.tile
    assert shown(tilec.transform(text, "cse")).startswith("<program of ")
    for remark in compiled.remarks[:3]:
        assert repr(remark).startswith("<remark of tile-")
    grid = sim.TensorMap(np.zeros((64, 32), np.float16), box=(8, 32), swizzle="64B")
    assert shown(grid) == "<tensor map of 64x32 float16, boxes of 8x32, swizzle 64B>"


def test_show_opens_the_explorer(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", opened.append)
    file = tilec.compile(GEMM.read_text(), target="sm_80").show()
    assert opened == [file.as_uri()]
    assert "<!doctype html>" in file.read_text(encoding="utf-8")[:200].lower()

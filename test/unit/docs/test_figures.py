"""The figures of the pages: what the script writes, and that it sees one that is not so."""

from __future__ import annotations

import importlib
import json
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(ROOT / "docs")
    monkeypatch.setattr(sys, "path", [*sys.path])  # the script adds the folder of the benchmarks
    return importlib.import_module("make_figures")


def test_every_figure_of_a_page_is_compared(script: ModuleType) -> None:
    """Each number of a sentence, and each row of a table, brought back when it is changed."""
    for page, items in script.PAGES.items():
        text = (ROOT / page).read_text(encoding="utf-8")
        for item in items():
            assert script.written(text, item) == text
            if hasattr(item, "rows"):
                place = text.index(item.rows)
                assert text[place : place + len(item.rows)] == item.rows
                spoilt = text.replace(item.rows, "| a |\n", 1)
                assert script.written(spoilt, item) == text
                continue
            (found,) = re.finditer(script.pattern(item.text), text)
            for start, end in found.regs[1:]:
                spoilt = f"{text[:start]}9x9{text[end:]}"
                assert script.written(spoilt, item) == text


def test_a_sentence_that_is_not_there_is_an_error(script: ModuleType) -> None:
    item = script.Sentence("takes {count} instructions", count=3)
    assert script.written("It takes 12\ninstructions.", item) == "It takes 3\ninstructions."
    for text in ("It has 12 instructions.", "It takes 1 instructions, or takes 2 instructions."):
        with pytest.raises(ValueError, match="not once: takes"):
            script.written(text, item)


def test_tables_have_a_row_of_the_results() -> None:
    """Read apart from the script: the loops of a GEMM that this project and others compiled."""
    for target, page in (("sm_90a", "hopper"), ("sm_100a", "blackwell")):
        file = max((ROOT / "benchmarks" / "results").glob(f"kernel_stats-{target}-*.json"))
        text = (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")
        kernel = {"sm_90a": "gemm_128x256", "sm_100a": "gemm"}[target]
        rows = [r for r in json.loads(file.read_text())["kernels"] if r["kernel"] == kernel]
        assert len(rows) > 1
        for row in rows:
            first, last = row["sass_loop"]["all"], f"{row['registers']} | {row['spills']} |"
            assert re.search(rf"^\|[^\n]*\| {first} \|[^\n]*{re.escape(last)}$", text, re.M), row

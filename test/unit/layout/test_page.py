"""The HTML page, in a real browser: what lights up is what the documentation's formulas say.

Skipped where there is no Chromium; what the page is made of is checked without it.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from html.parser import HTMLParser

import pytest
from tilec.isa import MatrixMemory, Mma, MovMatrix, warp_forms
from tilec.tools.tile_layout import main

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "chrome"))), None)


@pytest.fixture
def page(capsys):
    def make(*arguments: str) -> str:
        assert main([*arguments, "--format", "html"]) == 0
        return capsys.readouterr().out

    return make


class Cells(HTMLParser):
    """The cells of a page: attributes, operand and text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[dict[str, str]] = []
        self._table: dict[str, str] = {}
        self._inside = False
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        if tag == "table":
            self._table = given
        self._inside = tag == "td"
        if self._inside:
            names = {k.removeprefix("data-"): v for k, v in given.items()}
            names |= {"operand": self._table["data-name"]}
            self.found.append(names | {"product": self._table["data-product"], "text": ""})

    def handle_data(self, data):
        if self._inside:
            self.found[-1]["text"] += data
            self._inside = False


def span(text: str) -> range:
    first, _, last = text.partition("-")
    return range(int(first), int(last or first) + 1)


@pytest.fixture
def browse(tmp_path):
    """The cells of a page after its scripts have run, then those of a test's."""
    if CHROMIUM is None:
        pytest.skip("no Chromium here")

    def run(text: str, state: str = "", script: str = "") -> tuple[list[dict[str, str]], str]:
        file = tmp_path / "page.html"
        file.write_text(text.replace("</body>", f"<script>{{{script}}}</script></body>"), "utf-8")
        done = subprocess.run(
            [
                *(CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"),
                *("--enable-logging=stderr", "--virtual-time-budget=2000"),
                *(f"--user-data-dir={tmp_path / 'profile'}", f"file://{file}#{state}"),
            ],
            capture_output=True,
            text=True,
            timeout=120,
            check=True,
        )
        assert "CONSOLE" not in done.stderr, done.stderr
        return Cells(done.stdout).found, done.stdout

    return run


def lit(cells: list[dict[str, str]], mark: str) -> set[tuple[str, str]]:
    return {(c["operand"], c["text"]) for c in cells if mark in (c.get("class") or "").split()}


HALF = ("m16n8k16", "--operand", "a", "--type", "f16")


def test_a_lane_a_result_and_a_step(page, browse):
    text = page(*HALF)
    at = next(
        i for i, c in enumerate(Cells(text).found) if (c["operand"], c["text"]) == ("d", "14:1")
    )
    cells, _ = browse(text, f"cell={at}")
    lane = {(o, f"14:{r}") for o, count in (("a", 4), ("b", 2), ("d", 2)) for r in range(count)}
    assert lit(cells, "lane") == lane
    # d 14:1 is row 3 + 8, columns 4 and 5: lanes 12 to 15 of a, columns 4 and 5 of b
    row = {("a", f"{n}:{r}") for n in range(12, 16) for r in (1, 3)}
    cols = {("b", f"{n}:{r}") for n in range(16, 24) for r in (0, 1)}
    assert lit(cells, "term") == row | cols
    cells, dump = browse(text, f"cell={at}&k=13")
    assert lit(cells, "term") == {("a", "14:3"), ("b", "18:1"), ("b", "22:1")}
    assert "<output>13</output>" in dump
    assert "d: lane 14, register 1: row 11, col 4-5" in dump
    cells, _ = browse(text, "k=0")
    assert lit(cells, "term") == {("a", f"{4 * g}:{r}") for g in range(8) for r in (0, 1)} | {
        ("b", f"{4 * g}:0") for g in range(8)
    }
    assert lit(cells, "lane") == set()


def test_pointer_keyboard_and_slider(page, browse):
    text = page(*HALF)
    pointer = """
      const over = cell => cell.dispatchEvent(new MouseEvent("mouseover", { bubbles: true }));
      over([...document.querySelectorAll("td")].find(c => c.textContent === "5:0"));
    """
    cells, _ = browse(text, script=pointer)
    assert {text.split(":")[0] for _, text in lit(cells, "lane")} == {"5"}
    cells, _ = browse(text, script=pointer + "over(document.querySelector('h1'));")
    assert lit(cells, "lane") == set()
    keys = """
      const table = document.querySelector("table[data-name=a]");
      for (const key of ["ArrowDown", "ArrowDown", "ArrowRight", "ArrowUp", "ArrowUp"])
        table.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
    """
    cells, dump = browse(text, script=keys)
    # to the first cell, down, right, up, and up around to the last row
    assert "a: lane 29, register 1: row 15, col 2-3" in dump
    assert {text.split(":")[0] for _, text in lit(cells, "lane")} == {"29"}
    slide = """
      const slider = document.getElementById("k");
      slider.value = 2;
      slider.dispatchEvent(new Event("input"));
    """
    cells, _ = browse(text, script=slide)
    assert lit(cells, "term") == {("a", f"{4 * g + 1}:{r}") for g in range(8) for r in (0, 1)} | {
        ("b", f"{4 * g + 1}:0") for g in range(8)
    }


def test_sparse_steps_by_chunks(page, browse):
    text = page("m16n8k32", "--operand", "e", "--type", "f16", "--selector", "1")
    assert 'data-names="0-3 4-7 8-11' in text
    cells, _ = browse(text, "k=5")
    lanes = {
        operand: {t.split(":")[0] for o, t in lit(cells, "term") if o == operand}
        for operand in ("a", "b", "e")
    }
    assert lanes["a"] == {str(4 * g + 1) for g in range(8)}  # stored columns 10 and 11
    assert lanes["b"] == {str(4 * g + t) for g in range(8) for t in (2, 3)}  # rows 20 to 23
    assert lanes["e"] == {str(4 * g + 3) for g in range(8)}  # codes 4 to 7


def test_every_form_makes_a_page(page):
    """Every holder of every operand is in it, and nothing is loaded from elsewhere."""
    seen = set()
    for form in warp_forms().values():
        if not isinstance(form, Mma | MatrixMemory | MovMatrix):
            continue
        key = form.family, getattr(form, "shape", None), form.operands, form.results
        if key in seen:
            continue
        seen.add(key)
        name = (*form.results, *form.operands)[0].name
        text = page(form.ptx, "--operand", name)
        assert "{{" not in text
        assert not re.search(r"(src|href|url|import)\s*[=(]", text)
        assert "://" not in text
        held = {(c["operand"], *map(int, c["text"].split(":"))) for c in Cells(text).found}
        for operand in (*form.results, *form.operands):
            if operand.name in ("e", "sfa", "sfb", "c"):
                continue
            wanted = {(operand.name, n, r) for n in range(32) for r in range(operand.registers)}
            assert wanted <= held
    assert len(seen) > 100


def test_products_stand_apart(page):
    cells = Cells(page("m8n8k4", "--operand", "a", "--type", "f16", "--major", "col")).found
    for cell in cells:
        lane = int(cell["text"].split(":")[0])
        assert int(cell["product"]) == lane >> 2 & 3
    first = [c for c in cells if (c["operand"], c["text"]) == ("a", "16:0")]
    assert [(span(c["row"]), span(c["col"])) for c in first] == [(range(4, 6), range(1))]

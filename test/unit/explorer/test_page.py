"""The stage explorer in a real browser: pointer, keyboard, steps, columns, sizes, colours.

Skipped where there is no Chromium; the page's data are checked without one.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import tilec

EXAMPLES = Path(__file__).parents[3] / "examples"

HELP = """
  const pane = n => document.querySelectorAll(".lines")[n];
  const all = (n, what) => [...pane(n).querySelectorAll(what)];
  const line = (n, text) => all(n, ".l").find(l => l.textContent.includes(text));
  const bright = n => all(n, ".lit").map(l => l.textContent.trim());
  const chosen = () => [...document.querySelectorAll("select")]
    .map(s => s.selectedOptions[0].textContent.replace(/^\\d+\\. /, ""));
  const said = () => document.getElementById("status").textContent;
"""


@pytest.fixture(scope="module")
def html() -> str:
    return tilec.compile(EXAMPLES / "gemm.mlir").explore()


@pytest.fixture(scope="module")
def url(tmp_path_factory, html) -> str:
    path = tmp_path_factory.mktemp("page") / "gemm.html"
    path.write_text(html)
    return f"file://{path}"


@pytest.fixture
def page(browser, url, html):
    """Opens the page with some stages, given by name, as columns.

    At the end nothing was complained of and only the file was loaded.
    """
    names = re.findall(r'\{"name":"([^"]*)","text":', html)

    def load(*columns: str, state: str = "", **how):
        if columns:
            state = f"columns={','.join(str(names.index(name)) for name in columns)}{state}"
        browser.open(f"{url}#{state}" if state else url, **how)
        browser.run(HELP.replace("const ", "var "))
        return browser

    yield load
    assert browser.complaints == []
    assert browser.requests == [url]


def test_pointing_at_a_source_line_lights_what_became_of_it(page):
    tab = page()
    tab.point("line(0, '%s0 = ')")
    assert [text.split(" ")[0] for text in tab.run("bright(0)")] == ["%s0", "{form"]
    calls = tab.run("bright(1)")
    assert len([text for text in calls if "@llvm.nvvm.mma" in text]) == 16
    ptx = tab.run("bright(2)")
    assert len([text for text in ptx if text.startswith("mma.sync")]) == 16
    assert not any(text.startswith("ldmatrix") for text in ptx)
    assert tab.run("said()").startswith("source line 127; lines: ")
    tab.point("document.querySelector('h1')")
    assert tab.run("[bright(0), bright(1), bright(2), said()]") == [[], [], [], ""]


def test_and_back(page):
    tab = page()
    tab.point("line(2, 'mma.sync')")
    assert tab.run("bright(0)[0]").startswith("%s0 = tile.dot ")


def test_pressing_keeps_it_and_brings_it_into_view(page):
    tab = page()
    tab.point("line(0, '%s1 = ')", press=True)
    tab.point("line(0, '%c0 = ')")
    assert tab.run("bright(0)[0]").startswith("%s1")
    inside = """[1, 2].map(n => {
      const box = pane(n).querySelector(".lit").getBoundingClientRect();
      const around = pane(n).getBoundingClientRect();
      return box.top >= around.top && box.bottom <= around.bottom;
    })"""
    assert tab.run(inside) == [True, True]
    assert "line=129" in tab.run("location.hash")
    tab.key("Escape")
    assert tab.run("bright(0)") == []


def test_keyboard(page):
    tab = page("source", "LLVM IR")
    tab.run("pane(0).focus()")
    tab.key(*["ArrowDown"] * 50)  # to the constant of line 50
    assert tab.run("said()").startswith("source line 50;")
    tab.key("ArrowUp", "Enter")
    assert tab.run("said()").endswith("(kept)")
    assert tab.run("said()").startswith("source line 48;")  # line 49 continues it
    tab.key("]")
    assert tab.run("chosen()[0]") == "parse"
    tab.key("[", "[")
    assert tab.run("chosen()[0]") == "source"
    tab.run("pane(1).focus()")
    assert tab.run("chosen()[1]") == "LLVM IR"
    tab.key("]")
    assert tab.run("chosen()[1]") == "PTX"
    tab.key("Tab")
    assert tab.run("document.activeElement !== pane(1)")


def test_a_step_shows_its_difference(page):
    tab = page("tile-to-fragments")
    assert tab.run("chosen()[0]") == "tile-to-fragments"
    tab.run("pane(0).focus()")
    tab.key("d")
    shown = "all(0, '.{}').map(l => l.textContent.trim())"
    old, new = tab.run(shown.format("old")), tab.run(shown.format("new"))
    assert len([text for text in old if "= tile.dot " in text]) == 4
    assert not any("= tile.dot " in text for text in new)
    assert len([text for text in new if "= tile.mma " in text]) == 64
    assert re.fullmatch(r"#columns=\d+d", tab.run("location.hash"))
    tab.key("d")
    assert tab.run(shown.format("old")) == []


def test_columns_are_chosen(page):
    tab = page("source", "LLVM IR")
    tab.point("document.getElementById('more')", press=True)
    assert tab.run("chosen().slice(1)") == ["LLVM IR", "PTX"]
    for _ in range(2):
        tab.point("document.getElementById('fewer')", press=True)
    assert tab.run("chosen()") == ["source"]
    assert tab.run("document.getElementById('fewer').disabled")
    tab.point("document.querySelector('[aria-label=\"stage after\"]')", press=True)
    assert tab.run("chosen()") == ["parse"]
    assert tab.run("location.hash") == "#columns=1"


def test_a_state_that_makes_no_sense(page):
    assert page(state="columns=99,x&line=100000").run("chosen().length") == 3


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [1280, 390])
def test_sizes_and_colours(page, width, dark):
    tab = page("source", "PTX", state="&line=127", width=width, dark=dark)
    assert tab.run("document.documentElement.scrollWidth") == width
    assert tab.run("document.documentElement.scrollHeight") == 800
    ink, paper = tab.run(
        "(s => [s.color, s.backgroundColor].map(c => Number(c.match(/\\d+/)[0])))"
        "(getComputedStyle(document.body))"
    )
    assert (ink - paper > 150) == dark
    assert abs(ink - paper) > 150
    shown = tab.run("pane(0).getBoundingClientRect().width")
    assert shown > (300 if width == 390 else 600)
    assert len(tab.run("bright(1)")) > 16


def test_a_remark_leads_to_its_line(browser, emulated, tmp_path):
    path = tmp_path / "emulated.html"
    path.write_text(tilec.compile(emulated).explore())
    browser.open(f"file://{path}")
    browser.run(HELP.replace("const ", "var "))
    browser.point("document.querySelector('[data-line]')", press=True)
    assert browser.run("bright(0)[0]").startswith('%d = "tile.mma"')
    assert any("mma.sync" in text for text in browser.run("bright(2)"))
    assert browser.complaints == []

"""The stage explorer in a real browser: pointer, keyboard, steps, columns, sizes, colours.

Skipped where there is no Chromium; the page's data are checked without one.
"""

from __future__ import annotations

import base64
import json
import re
import zlib
from pathlib import Path

import pytest
import tilec

EXAMPLES = Path(__file__).parents[3] / "examples"

LOWERED = ("source", "reconcile-unrealized-casts", "PTX")
"""The source, what the passes made of it, and what LLVM made of that."""

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
    packed = re.search(r'id="data">(.*?)</script>', html)
    steps = json.loads(zlib.decompress(base64.b64decode(packed[1])))["steps"]
    names = [step["name"] for step in steps]

    def load(*columns: str, state: str = "", **how):
        if columns:
            state = f"columns={','.join(str(names.index(name)) for name in columns)}{state}"
        browser.open(f"{url}#{state}" if state else url, **how)
        browser.run("ready")
        browser.run(HELP.replace("const ", "var "))
        return browser

    yield load
    assert browser.complaints == []
    assert browser.requests == [url]


def test_pointing_at_a_source_line_lights_what_became_of_it(page):
    tab = page(*LOWERED)
    tab.point("line(0, '%s0 = ')")
    assert [text.split(" ")[0] for text in tab.run("bright(0)")] == ["%s0", ":"]
    calls = tab.run("bright(1)")
    assert len([text for text in calls if "@llvm.nvvm.mma" in text]) == 16
    ptx = tab.run("bright(2)")
    assert len([text for text in ptx if text.startswith("mma.sync")]) == 16
    assert not any(text.startswith("ldmatrix") for text in ptx)
    assert tab.run("said()").startswith("source line 123; lines: ")
    tab.point("document.querySelector('h1')")
    assert tab.run("[bright(0), bright(1), bright(2), said()]") == [[], [], [], ""]


def test_and_back(page):
    tab = page(*LOWERED)
    tab.point("line(2, 'mma.sync')")
    assert tab.run("bright(0)[0]").startswith("%s0 = tile.dot ")


def test_pressing_keeps_it_and_brings_it_into_view(page):
    tab = page(*LOWERED)
    tab.point("line(0, '%s1 = ')", press=True)
    tab.point("line(0, '%c0 = ')")
    assert tab.run("bright(0)[0]").startswith("%s1")
    inside = """[1, 2].map(n => {
      const box = pane(n).querySelector(".lit").getBoundingClientRect();
      const around = pane(n).getBoundingClientRect();
      return box.top >= around.top && box.bottom <= around.bottom;
    })"""
    assert tab.run(inside) == [True, True]
    assert "line=125" in tab.run("location.hash")
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


def test_it_opens_where_the_first_pass_of_tiles_changed_something(page):
    tab = page()
    first, middle, last = tab.run("chosen()")
    assert (first, last) == ("source", "PTX")
    assert middle.startswith("tile-")
    changed = "steps.filter(s => s.name.startsWith('tile-') && s.changes?.length).map(s => s.name)"
    assert tab.run(changed)[0] == middle
    assert tab.run("columns[1].check.checked")
    assert tab.run("all(1, '.new').length + all(1, '.old').length > 0")


def test_passes_that_changed_nothing_are_listed_when_asked_for(page):
    tab = page("source")
    options = "[...document.querySelector('select').options].map(o => o.textContent)"
    names = "[...document.querySelector('select').options].map(o => steps[o.value])"
    assert not any("no change" in text for text in tab.run(options))
    assert tab.run(f"{names}.every(s => !s.changes || s.changes.length)")
    tab.point("document.getElementById('all')", press=True)
    assert len(tab.run(options)) == tab.run("steps.length")
    assert any("no change" in text for text in tab.run(options))


IN_VIEW = """
  const seen = (column, line) => {
    const top = line.offsetTop - column.pane.offsetTop, from = column.pane.scrollTop;
    return top >= from && top < from + column.pane.clientHeight;
  };
"""


def test_each_difference_begins_in_view(page):
    """Of every pass that changed something, one of the lines that it changed."""
    tab = page("source", "parse")
    tab.run(IN_VIEW.replace("const ", "var "))
    hidden = tab.run("""(() => {
      const column = columns[1], found = [];
      steps.forEach((step, n) => {
        if (!step.changes?.length) return;
        column.check.checked = true;
        column.show(n);
        if (!column.rows.some((row, k) => row[0] && seen(column, column.lines[k])))
          found.push(step.name);
      });
      return found;
    })()""")
    assert hidden == []


def test_changes_are_stepped_through(page):
    """To the last of a pass, on to the next pass that changed something, and back."""
    tab = page("tile-to-fragments", state="")
    tab.run(IN_VIEW.replace("const ", "var "))
    tab.run("pane(0).focus()")
    tab.key("n")
    count = tab.run("columns[0].blocks.length")
    assert count > 1
    for at in range(1, count):
        tab.key("n")
        assert tab.run("columns[0].block") == at
        assert tab.run("seen(columns[0], columns[0].lines[columns[0].here])")
        assert tab.run("columns[0].rows[columns[0].here][0]") in ("old", "new")
    tab.key("n")
    after = tab.run("chosen()[0]")
    assert after != "tile-to-fragments"
    assert tab.run("columns[0].block") == 0
    tab.key("p")
    assert tab.run("[chosen()[0], columns[0].block]") == ["tile-to-fragments", count - 1]


def test_differences_are_marked_word_by_word(page):
    tab = page("source")
    line = "%3 = tile.load %a[%0, %c0] {vector = 8 : i64} : !A"
    other = "%7 = tile.load %b[%2, %c0] {vector = 4 : i64} : !A"
    marked = tab.run(f"words({line!r}, {other!r})")
    assert marked == line.replace("8 :", "<b>8</b> :")  # names of values are left out
    assert tab.run(f"words('gpu.return', {line!r})") == "gpu.return"
    assert tab.run("words('a < b & c', 'a < d & c')") == "a &lt; <b>b</b> &amp; c"


def test_all_columns_are_searched(page):
    tab = page(*LOWERED)
    tab.key("/")
    assert tab.run("document.activeElement.id") == "search"
    for letter in "mma":
        tab.key(letter)
    found = "columns.map(c => c.lines.filter(l => l.classList.contains('hit')).length)"
    wanted = (
        "columns.map(c => steps[c.step].text.filter(t => t.toLowerCase().includes('mma')).length)"
    )
    assert tab.run(found) == tab.run(wanted)
    assert tab.run("said()").startswith("found: ")
    tab.run(IN_VIEW.replace("const ", "var "))
    for _ in range(2):
        tab.key("Enter")
        assert tab.run("columns.every(c => seen(c, c.hits[c.hit]))")
    tab.key("Escape")
    assert sum(tab.run(found)) == 0


def test_screen_readers_are_told_the_line(page):
    tab = page("source", "PTX")
    assert tab.run("[pane(0).getAttribute('role'), pane(0).getAttribute('aria-label')]") == [
        "listbox",
        "source",
    ]
    assert tab.run("all(0, '[role=option]').length === columns[0].lines.length")
    tab.run("pane(0).focus()")
    tab.key("ArrowDown", "ArrowDown")
    active = "document.getElementById(pane(0).getAttribute('aria-activedescendant'))"
    assert tab.run(f"{active} === columns[0].lines[1]")
    assert tab.run("all(0, '[aria-selected=true]').length") == 1
    names = tab.run("[...document.querySelectorAll('[id]')].map(e => e.id)")
    assert len(set(names)) == len(names)


def test_a_pass_s_remarks_lead_to_the_pass(page):
    tab = page(*LOWERED)
    tab.run("document.querySelectorAll('details').forEach(d => d.open = true)")
    tab.point("document.querySelector('[data-pass=tile-fragments-to-nvvm]')", press=True)
    assert tab.run("[chosen()[1], columns[1].check.checked]") == ["tile-fragments-to-nvvm", True]


def test_a_state_that_makes_no_sense(page):
    assert page(state="columns=99,x&line=100000").run("chosen().length") == 3


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [1280, 390])
def test_sizes_and_colours(page, width, dark):
    tab = page("source", "PTX", state="&line=123", width=width, dark=dark)
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
    browser.run("ready")
    browser.run(HELP.replace("const ", "var "))
    browser.run("document.querySelectorAll('details').forEach(d => d.open = true)")
    browser.point("document.querySelector('[data-line]')", press=True)
    assert browser.run("bright(0)[0]").startswith('%d = "tile.mma"')
    assert any("mma.sync" in text for text in browser.run("bright(2)"))
    assert browser.complaints == []

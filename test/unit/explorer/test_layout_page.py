"""`tile-layout --format html` under a real pointer and real keys: nothing is logged or loaded.

What lights up is checked against the documentation's formulas for m16n8k16.
"""

from __future__ import annotations

import pytest
from tilec.tools.tile_layout import main

CELL = "[...document.querySelectorAll('table[data-name={}] td')].find(c => c.textContent === '{}')"
LIT = (
    "[...document.querySelectorAll('td.{}')]"
    ".map(c => c.closest('table').dataset.name + ' ' + c.textContent)"
)


@pytest.fixture
def page(browser, tmp_path):
    path = tmp_path / "page.html"
    arguments = ["m16n8k16", "--operand", "a", "--type", "f16", "--format", "html"]
    assert main([*arguments, "-o", str(path)]) == 0

    def load(width: int = 1280):
        browser.open(f"file://{path}", width=width)
        return browser

    yield load
    assert browser.complaints == []
    assert browser.requests == [f"file://{path}"]


@pytest.mark.parametrize("width", [1280, 390])
def test_pointer(page, width):
    tab = page(width)
    tab.point(CELL.format("d", "14:1"))
    held = {f"{o} 14:{r}" for o, count in (("a", 4), ("b", 2), ("d", 2)) for r in range(count)}
    assert set(tab.run(LIT.format("lane"))) == held
    # d 14:1 is row 3 + 8 and columns 4 and 5
    row = {f"a {lane}:{r}" for lane in range(12, 16) for r in (1, 3)}
    columns = {f"b {lane}:{r}" for lane in range(16, 24) for r in (0, 1)}
    assert set(tab.run(LIT.format("term"))) == row | columns
    assert tab.run("document.documentElement.scrollWidth") <= width


def test_keys_and_steps(page):
    tab = page()
    tab.key("Tab")
    assert tab.run("document.activeElement.id") == "k"
    tab.key("ArrowRight", "ArrowRight")
    assert tab.run("document.querySelector('output').textContent") == "1"
    # k = 1 is in the first register of the lanes that share a remainder of 0 by 4
    wanted = {f"a {4 * g}:{r}" for g in range(8) for r in (0, 1)} | {
        f"b {4 * g}:0" for g in range(8)
    }
    assert set(tab.run(LIT.format("term"))) == wanted
    tab.key("Tab")
    assert tab.run("document.activeElement.dataset.name") == "b"
    tab.key("ArrowDown", "ArrowDown")
    assert tab.run("document.getElementById('about').textContent").startswith("b: lane 1, ")

"""The pages that the tools write, judged by axe-core in both schemes, on 390 pixels, by keyboard.

axe-core comes with PyPI's axe-playwright-python (the extra `browser`); the browser is driven as in
the other tests of pages.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
import tilec
from tilec.tools.tile_layout import main as tile_layout
from tilec.tuning.report import page
from tilec.tuning.store import Outcome, State, Store, StudyKey

from .conftest import Browser

LAYOUTS = {
    "product": ["m16n8k16", "--operand", "a", "--type", "f16"],
    "sparse": ["m16n8k32", "--operand", "e", "--type", "f16", "--selector", "1"],
}


@pytest.fixture(scope="module")
def axe() -> str:
    """axe-core's script."""
    pytest.importorskip("axe_playwright_python", reason="no axe-core: pip install 'tilec[browser]'")
    return files("axe_playwright_python").joinpath("axe.min.js").read_text("utf-8")


SCALE = """\
gpu.module @m [#nvvm.target<chip = "sm_80">] {
  gpu.func @scale(%x: memref<64xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %i = gpu.thread_id x
    gpu.barrier

    %v = memref.load %x[%i] : memref<64xf32>
    %w = arith.addf %v, %v : f32
    memref.store %w, %x[%i] : memref<64xf32>
    gpu.return
  }
}
"""


def explorer() -> dict[str, str]:
    """The explorer with a timeline, and the timeline's own page."""
    compiled = tilec.compile(SCALE, lineinfo=True)
    report = compiled.launch(np.ones(64, "f4"), grid=1, device="sim", timeline=(0, 0, 0))
    assert report is not None
    assert report.timeline is not None
    return {"explorer": compiled.explore(report.timeline), "timeline": report.timeline.to_html()}


def tuning() -> str:
    """The page of a store: candidates that were ranked, refused and measured."""
    with Store(":memory:") as store:
        for device in ("model", "NVIDIA H200"):
            study = store.study(StudyKey("gemm", "", {"m": 4096}, {}, "sm_90a", device, {}))
            for size in (32, 64, 128, 256):
                time = {"median": size * 1e-6, "least": 1e-6, "most": 1e-3}
                measured = None if device == "model" else time
                counts = {"estimate": {"limit": "l2"}, "resident": 2}
                one = {"BLOCK": size, "warps": 4}
                store.put(study, Outcome(one, State.RANKED, "", "", counts, 1e-4, measured))
            refused = Outcome({"BLOCK": 512, "warps": 4}, State.REFUSED, "it spills", "8 bytes")
            store.put(study, refused)
        return page(store)


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    for name, text in explorer().items():
        (folder / f"{name}.html").write_text(text)
    (folder / "tuning.html").write_text(tuning())
    for name, arguments in LAYOUTS.items():
        to = folder / f"{name}.html"
        assert tile_layout([*arguments, "--format", "html", "-o", str(to)]) == 0
    return {path.stem: path for path in folder.iterdir()}


Open = Callable[..., Browser]


@pytest.fixture
def opened(browser: Browser, pages: dict[str, Path]) -> Open:
    """Opens a page, with everything unfolded."""

    def load(name: str, width: int = 1280, *, dark: bool = False) -> Browser:
        browser.open(pages[name].as_uri(), width=width, dark=dark)
        browser.run("typeof ready === 'undefined' ? 0 : ready.then(() => 0)")
        browser.run("document.querySelectorAll('details').forEach(one => one.open = true)")
        return browser

    return load


NAMES = ("explorer", "timeline", "tuning", *LAYOUTS)
DARK = ("explorer", "timeline", "tuning", "product")


@pytest.mark.parametrize(
    ("name", "dark"),
    [
        *((name, False) for name in NAMES),
        ("explorer", True),
        ("timeline", True),
        ("tuning", True),
        ("product", True),
    ],
)
def test_axe_finds_nothing(axe: str, opened: Open, name: str, dark: bool) -> None:
    tab = opened(name, dark=dark)
    tab.run(f"(0, eval)({json.dumps(axe)}); 0")
    found = tab.run("axe.run(document, { resultTypes: ['violations'] }).then(r => r.violations)")
    assert [
        (rule["id"], node["target"], node["failureSummary"])
        for rule in found
        for node in rule["nodes"][:2]
    ] == []


@pytest.mark.parametrize("name", NAMES)
def test_a_narrow_screen(opened: Open, pages: dict[str, Path], name: str) -> None:
    """The page is as wide as the screen: what is wider scrolls by itself. Nothing is asked for."""
    tab = opened(name, 390)
    assert tab.run("document.documentElement.scrollWidth") <= 390
    assert tab.complaints == []
    assert [url for url in tab.requests if url[:5] != "data:"] == [pages[name].as_uri()]


WALK = """(e => [e.tagName, e.id || e.getAttribute('aria-label') ||
    e.textContent.trim().slice(0, 20),
  getComputedStyle(e).outlineStyle !== 'none', e.getBoundingClientRect().width > 0])
  (document.activeElement)"""


@pytest.mark.parametrize("name", NAMES)
def test_a_walk_by_the_keyboard(opened: Open, name: str) -> None:
    """Tab reaches everything that can be used, each with a visible focus, and leaves the page."""
    tab = opened(name)
    usable = tab.run(
        "[...document.querySelectorAll("
        "'button:enabled, select, input:enabled, summary, [tabindex]')]"
        ".filter(e => e.tabIndex >= 0 && e.checkVisibility()).length"
    )
    reached = []
    for _ in range(usable + 5):
        tab.key("Tab")
        found = tab.run(WALK)
        if found[0] == "BODY":
            break
        reached.append(found)
    assert len(reached) >= usable > 0
    assert [one for one in reached if not one[2] or not one[3]] == []

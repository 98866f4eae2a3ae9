"""The site in headless Chromium: narrow screens, contrast, the keyboard, no request to anywhere.

`TILEC_SITE` names a site that `sphinx-build` has made of `docs`; without it some pages are built.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

DOCS = Path(__file__).resolve().parents[3] / "docs"
PAGES = ("index", "tour", "comparison", "api/isa")
WIDE, NARROW = {"width": 1400, "height": 900}, {"width": 390, "height": 800}
RULES = ("color-contrast", "image-alt", "link-name", "document-title", "html-has-lang")

BROWSERS = ("chromium", "chromium-browser", "google-chrome")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Headless Chromium, where there is one."""
    playwright = pytest.importorskip("playwright.sync_api", reason="no playwright")
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        pytest.skip("no chromium: Debian's package chromium has it")
    with playwright.sync_playwright() as running:
        found = running.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield found
        found.close()


@pytest.fixture(scope="module")
def site(browser: Any, tmp_path_factory: Any) -> Path:
    if made := os.environ.get("TILEC_SITE"):
        return Path(made).resolve()
    if not all(map(find_spec, ("sphinx", "furo", "myst_parser"))):
        pytest.skip("no Sphinx: pip install 'tilec[docs]'")
    folder = tmp_path_factory.mktemp("site")
    pages = (str(p.relative_to(DOCS)) for p in DOCS.rglob("*.md"))
    left_out = [page for page in pages if page.removesuffix(".md") not in PAGES]
    command = [sys.executable, "-m", "sphinx", "-q", "-b", "html", str(DOCS), str(folder)]
    options = ["-D", f"exclude_patterns={','.join(['_build', *left_out])}"]
    subprocess.run([*command, *options], check=True, stderr=subprocess.DEVNULL)
    return folder


def visit(browser: Any, site: Path, name: str, size: dict[str, int]) -> tuple[Any, list[str]]:
    """A page, and what it asked for that is not a file."""
    page = browser.new_page(viewport=size)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto((site / f"{name}.html").as_uri())
    page.wait_for_load_state("networkidle")
    return page, [url for url in asked if not url.startswith(("file:", "data:"))]


@pytest.mark.parametrize("name", PAGES)
def test_a_narrow_screen(browser: Any, site: Path, name: str) -> None:
    page, asked = visit(browser, site, name, NARROW)
    assert page.evaluate("document.documentElement.scrollWidth") <= NARROW["width"]
    assert asked == []
    page.close()


@pytest.mark.slow
def test_all_pages_on_a_narrow_screen(browser: Any, site: Path) -> None:
    wide, asked = [], []
    for file in site.rglob("*.html"):
        name = file.relative_to(site).with_suffix("").as_posix()
        page, foreign = visit(browser, site, name, NARROW)
        wide += [name] * (page.evaluate("document.documentElement.scrollWidth") > NARROW["width"])
        asked += foreign
        page.close()
    assert (wide, asked) == ([], [])


def violations(page: Any, scheme: str) -> list[tuple[str, str]]:
    """What axe-core finds on a page: the rule, and where."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="no axe-core")
    page.emulate_media(color_scheme=scheme)
    options = {"runOnly": {"type": "rule", "values": list(RULES)}}
    found = axe.Axe().run(page, options=options).response["violations"]
    return [(one["id"], str(node["target"])) for one in found for node in one["nodes"]]


@pytest.mark.parametrize(("name", "scheme"), [("index", "light"), ("tour", "dark")])
def test_contrast_and_names(browser: Any, site: Path, name: str, scheme: str) -> None:
    page, _ = visit(browser, site, name, WIDE)
    assert violations(page, scheme) == []
    page.close()


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_contrast_and_names_of_all_pages(browser: Any, site: Path, scheme: str) -> None:
    found = []
    for file in site.rglob("*.html"):
        name = file.relative_to(site).with_suffix("").as_posix()
        page, _ = visit(browser, site, name, WIDE)
        found += [(name, *one) for one in violations(page, scheme)]
        page.close()
    assert found == []


def test_a_walk_by_the_keyboard(browser: Any, site: Path) -> None:
    """The tab key reaches links that are in view, and the enter key follows one."""
    page, _ = visit(browser, site, "index", WIDE)
    reached = []
    for _ in range(200):
        page.keyboard.press("Tab")
        href = page.evaluate("document.activeElement.getAttribute('href')")
        if href and "tour.html" in href:
            reached.append(href)
            box = page.evaluate("JSON.stringify(document.activeElement.getBoundingClientRect())")
            assert '"width":0' not in box
            break
    assert reached
    page.keyboard.press("Enter")
    page.wait_for_url("**/*tour.html")
    page.close()

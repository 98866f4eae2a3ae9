"""Files and folders that the documentation names exist, or are written by the page."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
FOLDERS = "isa|layout|dialects|passes|compiler|sim|runtime|tools|test|docs|examples|benchmarks"
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_paths(page):
    text = page.read_text(encoding="utf-8")
    written = set(re.findall(r"^:caption: (\S+)$", text, re.MULTILINE))
    named = set(re.findall(rf"`((?:{FOLDERS})/[\w/.*-]*)`", text)) - written
    assert [name for name in named if not any(ROOT.glob(name.rstrip("/")))] == []

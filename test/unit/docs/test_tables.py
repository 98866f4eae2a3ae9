"""Every row of a table in the documentation has as many cells as its head."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
_RULE = re.compile(r"\|(?:\s*:?-+:?\s*\|)+")
_JOINED = re.compile(r"\|.*\|\s*-{3,}\s*\|")
_BAR = re.compile(r"(?<!\\)\|")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_rows_are_as_wide_as_the_head(page: Path) -> None:
    lines = [line.strip() for line in page.read_text(encoding="utf-8").splitlines()]
    for at, line in enumerate(lines):
        if not _RULE.fullmatch(line):
            assert not _JOINED.match(line), f"rows of a table in one line: {line}"
            continue
        bars = len(_BAR.findall(line))
        assert len(_BAR.findall(lines[at - 1])) == bars, lines[at - 1]
        for row in lines[at + 1 :]:
            if not row.startswith("|"):
                break
            assert len(_BAR.findall(row)) == bars, row


def test_definitions_of_the_glossary_are_indented_alike() -> None:
    """Sphinx cuts the letters off lines that are less indented than the first of a definition."""
    text = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    body = text.partition("```{glossary}\n")[2].partition("```")[0]
    assert {len(line) - len(line.lstrip()) for line in body.splitlines() if line} == {0, 2}

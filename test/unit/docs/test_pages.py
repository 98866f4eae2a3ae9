"""Every command of the documentation runs and prints what the page says it prints."""

from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[3] / "docs"
PAGES = sorted(p for p in DOCS.rglob("*.md") if "\n```console\n" in p.read_text(encoding="utf-8"))


def test_the_pages_to_follow_are_among_them():
    assert {"write_a_pass.md"} <= {page.name for page in PAGES}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_page(page, run_page):
    assert run_page(page) > 0


@pytest.mark.slow
@pytest.mark.skipif(not (DOCS.parent / ".git").exists(), reason="not a clone of the repository")
def test_pass_from_a_clone(run_page_in_clone):
    """From `git clone` on: a newcomer's whole way."""
    assert run_page_in_clone(DOCS / "write_a_pass.md") > 0

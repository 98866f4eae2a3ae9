"""What the scripts that write pages have in common."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A table in Markdown."""
    head = tuple(head)
    lines = [head, ("---",) * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def write_or_check(script: str, description: str, document: Callable[[], str]) -> int:
    """Write the page of a script, `make_X.py` that of X.md; with --check compare it.

    Returns:
        The exit code: 1 if the page is not up to date.
    """
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--check", action="store_true", help="compare, do not write")
    page = Path(script).with_name(Path(script).stem.removeprefix("make_") + ".md")
    if not parser.parse_args().check:
        page.write_text(document(), encoding="utf-8")
        return 0
    if page.read_text(encoding="utf-8") == document():
        return 0
    print(f"error: {page.name} is out of date; run docs/{Path(script).name}", file=sys.stderr)
    return 1

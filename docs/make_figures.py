"""Write the figures that pages quote: tables of committed results, and numbers in sentences.

    python docs/make_figures.py [--check]

`figures` says what stands where. A table stands between `<!-- figures: NAME -->` and
`<!-- end of figures -->`; of a sentence only the numbers are written. With --check nothing is
written, and the exit code says whether all pages are up to date.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterable

from figures import PAGES, Sentence, Table
from generated import ROOT


def written(text: str, item: Table | Sentence) -> str:
    """A page with the figures of a table or sentence.

    Raises:
        ValueError: the page does not have its place exactly once.
    """
    if isinstance(item, Table):
        first, last = re.escape(f"<!-- figures: {item.name} -->"), "<!-- end of figures -->"
        place, figures = rf"(?<={first}\n\n).*?(?=\n{last})", [item.rows]
    else:
        place, figures = pattern(item.text), [item.figures[name] for name in item.names]
    found = list(re.finditer(place, text, re.DOTALL))
    if len(found) != 1:
        raise ValueError(f"{len(found)} times, and not once: {item.name}")
    spans = found[0].regs[1:] or found[0].regs
    for (start, end), figure in reversed(list(zip(spans, figures, strict=True))):
        text = text[:start] + figure + text[end:]
    return text


def pattern(sentence: str) -> str:
    """What a sentence looks like with any numbers and line breaks."""
    words = re.sub(r"(\\ )+", r"\\s+", re.escape(sentence))
    return re.sub(r"\\\{\w+\\\}", r"(\\S+?)", words)


def stale(pages: Iterable[str], *, write: bool) -> list[str]:
    """What is not up to date, a line for each page; and write these pages."""
    found = []
    for name in pages:
        page = ROOT / name
        old = text = page.read_text(encoding="utf-8")
        try:
            for item in PAGES[name]():
                text = written(text, item)
        except ValueError as error:
            found.append(f"{name}: {error}")
            continue
        if text != old and write:
            page.write_text(text, encoding="utf-8")
        elif text != old:
            found.append(f"{name} is out of date; run docs/make_figures.py")
    return found


def main() -> int:
    """Write or check."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="compare, do not write")
    found = stale(PAGES, write=not parser.parse_args().check)
    for line in found:
        print(f"error: {line}", file=sys.stderr)
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())

"""`--split-input-file`: the parts of an input, each with the lines of the whole."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tilec.report.diagnostics import Source

BYTECODE = b"ML\xefR"
"""What an input that is not text begins with."""


def parts(text: str, name: str, marker: str | None) -> Iterator[Source]:
    """The parts of an input; blank lines before each keep its line numbers.

    Args:
        text: all of it.
        name: the file's.
        marker: how a line between two parts begins; None for one part.
    """
    from tilec.report.diagnostics import Source  # noqa: PLC0415

    if not marker:
        yield Source(name, text)
        return
    split = re.compile(rf"^{re.escape(marker)}.*\n?", re.MULTILINE)
    start = 0
    for end, following in [*(m.span() for m in split.finditer(text)), (len(text), len(text))]:
        yield Source(name, "\n" * text.count("\n", 0, start) + text[start:end])
        start = following

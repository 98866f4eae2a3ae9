"""What a pass changed: printed programs compared with SSA names and block labels left out."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher

Change = tuple[int, int, int, int]
"""Lines [i, j) of the program before became lines [k, l) of the one after."""

_NAMES = re.compile(r"%[\w$.-]+(?::\d+|#\d+)?|\^bb\d+")


def changes(before: Sequence[str], after: Sequence[str]) -> list[Change]:
    """The changes, in order.

    A value's number shifts with every operation above it; lines that differ in such names alone
    count as the same.
    """
    old, new = ([_NAMES.sub("%", line) for line in lines] for lines in (before, after))
    first = 0
    while first < min(len(old), len(new)) and old[first] == new[first]:
        first += 1
    last = 0
    while last < min(len(old), len(new)) - first and old[-1 - last] == new[-1 - last]:
        last += 1
    middle = SequenceMatcher(
        None, old[first : len(old) - last], new[first : len(new) - last], autojunk=False
    )
    return [
        (i + first, j + first, k + first, m + first)
        for tag, i, j, k, m in middle.get_opcodes()
        if tag != "equal"
    ]

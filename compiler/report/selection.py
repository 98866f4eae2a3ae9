"""Which of the remarks of a compilation are shown."""

from __future__ import annotations

import re
from collections.abc import Iterable

from tilec.passes.base import Diagnostic


def chosen(found: Iterable[Diagnostic], wanted: str | None) -> list[Diagnostic]:
    """The remarks to show: advice always, decisions of the passes that are asked for.

    Args:
        found: all remarks; of those that say the same of one place in a kernel the first is kept.
        wanted: a regular expression that finds the passes' names; None for no decisions.
    """
    once: dict[tuple[str, str, str], Diagnostic] = {}
    for one in found:
        once.setdefault((str(one.location), one.message, one.function), one)
    return [
        one
        for one in once.values()
        if not one.decided_by
        or one.advice
        or (wanted is not None and re.search(wanted, one.decided_by))
    ]

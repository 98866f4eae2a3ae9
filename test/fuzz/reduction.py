"""A smaller text that goes wrong in the same way: parts of it left out, while that is so."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from case import Case
from mutations import tokens


def reduced(case: Case, fails: Callable[[Case], bool], tries: int = 300) -> Case:
    """The case with a smaller text.

    Args:
        case: one that fails.
        fails: whether a case fails in the same way.
        tries: how often that may be asked.
    """
    left = [tries]

    def asked(text: str) -> bool:
        left[0] -= 1
        return left[0] >= 0 and fails(replace(case, text=text))

    text = case.text
    for parts in (lambda t: t.splitlines(keepends=True), tokens):
        text = "".join(_fewer(parts(text), lambda some: asked("".join(some))))
    return replace(case, text=text)


def _fewer(parts: Sequence[str], fails: Callable[[Sequence[str]], bool]) -> list[str]:
    """Parts that still fail, without any half, quarter and so on that is not needed."""
    kept = list(parts)
    size = len(kept) // 2
    while size:
        at = 0
        while at < len(kept):
            fewer = kept[:at] + kept[at + size :]
            if fewer and fails(fewer):
                kept = fewer
            else:
                at += size
        size //= 2
    return kept

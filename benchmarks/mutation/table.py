"""The rates by class and operator."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Any

from .operators import OPERATORS

VERDICTS = ("found", "advised", "wrong", "incomplete", "equivalent", "unchanged")
HEAD = (
    "mutants", "found", "in orders", *VERDICTS[1:],
    "by findings", "by advice too", "by results too",
)  # fmt: skip


def table(found: list[dict[str, Any]]) -> Iterator[str]:
    """Lines of text."""
    rows = list(counts(found, operators=True))
    yield f"{'':34}" + "".join(f"{head:>15}" for head in HEAD)
    for name, cells in rows:
        yield f"{name:34}" + "".join(f"{cell:>15}" for cell in cells)


def markdown(found: list[dict[str, Any]]) -> Iterator[str]:
    """Lines of a table of classes."""
    yield f"| | {' | '.join(HEAD)} |"
    yield "|---" * (len(HEAD) + 1) + "|"
    for name, cells in counts(found, operators=False):
        yield f"| {name} | {' | '.join(cells)} |"


def counts(
    found: list[dict[str, Any]], *, operators: bool
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """A row for each class, and of its operators, and one for all; cells as `HEAD`.

    The last three are rates of the mutants that are not equivalent: those found by findings, by
    findings or advice, and by these or their result.
    """
    tally: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for one in found:
        for row in ((one["class"], ""), (one["class"], one["operator"]), ("all", "")):
            tally[row][one["verdict"]] += 1
            tally[row]["in orders"] += one["kind"].startswith("order-")
    for class_ in (*OPERATORS, "all"):
        for (of, operator), count in tally.items():
            if of == class_ and (operators or not operator):
                yield (f"  {operator}" if operator else class_), _cells(count)


def _cells(count: Counter[str]) -> tuple[str, ...]:
    total = sum(count[verdict] for verdict in VERDICTS)
    others = total - count["equivalent"]
    advised = count["found"] + count["advised"]
    rates = (count["found"], advised, advised + count["wrong"])
    return (
        str(total),
        str(count["found"]),
        str(count["in orders"]),
        *(str(count[verdict]) for verdict in VERDICTS[1:]),
        *(f"{rate / others:.1%}" if others else "" for rate in rates),
    )

"""What a store knows, as a page of HTML.

The best per size, what each parameter changes, why losers lost, the model beside measurements.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from html import escape
from math import exp, log
from typing import Any

from .store import Outcome, State, Store

_BEST = 10
_STYLE = """\
body { font: 15px/1.5 system-ui, sans-serif; margin: 2em auto; max-width: 70em; color: #222 }
table { border-collapse: collapse; margin: .5em 0 1.5em }
th, td { padding: .2em .8em; border-bottom: 1px solid #ccc; text-align: right }
th:first-child, td:first-child { text-align: left }
caption { text-align: left; font-weight: bold; padding: .3em 0 }
"""


def page(store: Store) -> str:
    """The page of all studies of a store."""
    parts = []
    for id_, key in store.studies().items():
        outcomes = store.outcomes(id_)
        if outcomes:
            parts.append(_study(key, outcomes))
    body = "".join(parts) or "<p>Nothing has been tried yet.</p>"
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>Tuning</title>'
        f"<style>{_STYLE}</style></head>\n<body><main><h1>Tuning</h1>\n{body}</main></body></html>\n"
    )


def _study(key: dict[str, Any], outcomes: Sequence[Outcome]) -> str:
    ranked = [one for one in outcomes if one.state is State.RANKED]
    refused = Counter(one.reason for one in outcomes if one.state is State.REFUSED)
    sizes = ", ".join(f"{name} = {size}" for name, size in key["sizes"].items())
    head = f"<h2>{escape(key['kernel'])}, {escape(sizes)}, {escape(key['target'])}</h2>\n"
    said = f"<p>{len(ranked)} ranked, {refused.total()} rejected.</p>\n"
    return head + said + _best(ranked) + _sensitivity(ranked) + _refused(refused)


def _best(ranked: Sequence[Outcome]) -> str:
    """The best, with what limits each."""
    if not ranked:
        return ""
    names = list(ranked[0].candidate)
    rows = []
    for one in ranked[:_BEST]:
        estimate = one.counts.get("estimate", {})
        measured = "" if one.measured is None else f"{one.measured['median'] * 1e6:.1f}"
        rows.append(
            [f"{(one.cost or 0) * 1e6:.1f}", measured, estimate.get("limit", ""),
             one.counts.get("resident", ""), *(one.candidate[name] for name in names)]
        )  # fmt: skip
    head = ["model, µs", "measured, µs", "limited by", "CTAs per SM", *names]
    return _table("The best", head, rows)


def _sensitivity(ranked: Sequence[Outcome]) -> str:
    """What each value of each parameter costs, relative to the best."""
    if not ranked:
        return ""
    least = ranked[0].cost or 1.0
    rows: list[list[object]] = []
    for name in ranked[0].candidate:
        for value in sorted({one.candidate[name] for one in ranked}):
            costs = [one.cost or 0 for one in ranked if one.candidate[name] == value]
            mean = exp(sum(log(cost / least) for cost in costs) / len(costs))
            rows.append([name, value, f"{min(costs) / least:.2f}", f"{mean:.2f}", len(costs)])
    head = ["parameter", "value", "its best", "geometric mean", "candidates"]
    return _table("Cost by value of each parameter, relative to the best", head, rows)


def _refused(refused: Counter[str]) -> str:
    rows = [[reason, count] for reason, count in refused.most_common()]
    return _table("Why candidates were rejected", ["reason", "candidates"], rows) if rows else ""


def _table(title: str, head: Iterable[object], rows: Iterable[Iterable[object]]) -> str:
    def line(tag: str, cells: Iterable[object]) -> str:
        return f"<tr>{''.join(f'<{tag}>{escape(str(one))}</{tag}>' for one in cells)}</tr>\n"

    body = "".join(line("td", row) for row in rows)
    return f"<table><caption>{escape(title)}</caption>\n{line('th', head)}{body}</table>\n"

"""What a store knows, as a page of HTML that asks nobody for anything.

The best per size, what each parameter changes, the model beside measurements, why losers lost.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from math import exp, log
from statistics import median
from typing import Any

from . import plots
from .store import Outcome, State, Store

_BEST = 10
_STYLE = """\
:root { color-scheme: light dark }
body { font: 15px/1.5 system-ui, sans-serif; margin: 2em auto; max-width: 70em; padding: 0 1em;
  color: #222; background: #fff }
.wide { overflow-x: auto }
.wide:focus-visible { outline: 2px solid #0b57d0 }
table { border-collapse: collapse; margin: .5em 0 1.5em }
th, td { padding: .2em .8em; border-bottom: 1px solid #ccc; text-align: right; white-space: nowrap }
th:first-child, td:first-child { text-align: left }
caption { text-align: left; font-weight: bold; padding: .3em 0 }
img { display: block; max-width: 100%; height: auto; background: #fff; margin: .5em 0 1.5em }
@media (prefers-color-scheme: dark) { body { color: #ddd; background: #16181c } }
"""
_MODEL = "model"


@dataclass
class _Known:
    """A study of the model, and what was measured of its candidates, by device.

    Attributes:
        key: of the study, without the device.
        outcomes: the best by the model first, then those that were refused.
        measured: outcomes with times, the fastest first, by the name of the device.
    """

    key: dict[str, Any]
    outcomes: Sequence[Outcome] = ()
    measured: dict[str, list[Outcome]] = field(default_factory=dict)

    @property
    def ranked(self) -> list[Outcome]:
        """Those that can be launched."""
        return [one for one in self.outcomes if one.state is State.RANKED]

    @property
    def title(self) -> str:
        """The kernel, its sizes and the target."""
        sizes = ", ".join(f"{name} = {size}" for name, size in self.key["sizes"].items())
        return f"{self.key['kernel']}, {sizes}, {self.key['target']}"


def page(store: Store) -> str:
    """The page of all studies of a store."""
    known = [one for one in _known(store) if one.outcomes or one.measured]
    body = _overview(known) if known else "<p>Nothing was tried yet.</p>"
    if known and not plots.available():
        body += "<p>No plots: matplotlib is not installed, of the extra <code>plots</code>.</p>"
    body += "".join(map(_study, known))
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width"><title>Tuning</title>'
        f"<style>{_STYLE}</style></head>\n<body><main><h1>Tuning</h1>\n{body}</main></body></html>\n"
    )


def _known(store: Store) -> list[_Known]:
    """What was measured stands beside what the model says of the same."""
    found: dict[str, _Known] = {}
    for id_, key in store.studies().items():
        device = key.pop("device")
        one = found.setdefault(json.dumps(key, sort_keys=True), _Known(key))
        if device == _MODEL:
            one.outcomes = store.outcomes(id_)
        else:
            timed = [outcome for outcome in store.outcomes(id_) if outcome.measured]
            one.measured[device] = sorted(timed, key=_seconds)
    return list(found.values())


def _seconds(outcome: Outcome) -> float:
    return (outcome.measured or {}).get("median", 0.0)


def _overview(known: Sequence[_Known]) -> str:
    """The best of each study."""
    rows = []
    for one in known:
        model = next(iter(one.ranked), None)
        for device, timed in one.measured.items() or [("", [])]:
            best = timed[0] if timed else model
            rows.append([
                one.title, "" if model is None else _us(model.cost or 0),
                f"{_us(_seconds(timed[0]))} on {device}" if timed else "", _said(best),
                len(one.outcomes), len(one.outcomes) - len(one.ranked),
                _version(one.key["versions"]),
            ])  # fmt: skip
    head = ["kernel, sizes, target", "model, µs", "measured, µs", "the best", "tried", "refused"]
    return _table("The best of each size", [*head, "tilec"], rows)


def _version(versions: Mapping[str, str]) -> str:
    return f"{versions.get('tilec', '')} ({versions.get('code', '')[:8]})"


def _us(seconds: float) -> str:
    return f"{seconds * 1e6:,.1f}"


def _said(outcome: Outcome | None) -> str:
    if outcome is None:
        return "all were refused"
    return " ".join(f"{name}={value}" for name, value in sorted(outcome.candidate.items()))


def _study(one: _Known) -> str:
    ranked = one.ranked
    head = f"<h2>{escape(one.title)}</h2>\n"
    said = f"<p>{len(ranked)} ranked, {len(one.outcomes) - len(ranked)} refused.</p>\n"
    return head + said + _best(one) + _sensitivity(one) + _against(one) + _losers(one)


def _best(one: _Known) -> str:
    """The best by the model, with what limits each, and their times."""
    ranked = one.ranked
    if not ranked:
        return ""
    times = {o.name: _us(_seconds(o)) for timed in one.measured.values() for o in timed}
    names = sorted(ranked[0].candidate)
    rows = [
        [_us(o.cost or 0), times.get(o.name, ""), _limit(o), o.counts.get("resident", ""),
         *(o.candidate[name] for name in names)]
        for o in ranked[:_BEST]
    ]  # fmt: skip
    head = ["model, µs", "measured, µs", "limited by", "CTAs an SM", *names]
    return _table("The best by the model", head, rows)


def _limit(outcome: Outcome) -> str:
    return str(outcome.counts.get("estimate", {}).get("limit", ""))


def _sensitivity(one: _Known) -> str:
    """What each value of each parameter costs, relative to the best."""
    ranked = one.ranked
    if not ranked:
        return ""
    least = ranked[0].cost or 1.0
    rows: list[list[object]] = []
    for name in sorted(ranked[0].candidate):
        for value, costs in costs_by_value(ranked, name).items():
            mean = exp(sum(log(cost / least) for cost in costs) / len(costs))
            rows.append([name, value, f"{min(costs) / least:.2f}", f"{mean:.2f}", len(costs)])
    head = ["parameter", "value", "best of it", "geometric mean", "candidates"]
    title = "What each parameter changes, times the best"
    return _table(title, head, rows) + plots.sensitivity(ranked, f"{title}: {one.title}")


def costs_by_value(ranked: Sequence[Outcome], name: str) -> dict[int, list[float]]:
    """The costs of candidates, by the values of a parameter, in their order."""
    found: dict[int, list[float]] = {}
    for outcome in ranked:
        found.setdefault(outcome.candidate[name], []).append(outcome.cost or 0.0)
    return dict(sorted(found.items()))


def _against(one: _Known) -> str:
    """The model beside measurements, by device."""
    if not one.measured:
        return "<p>Nothing was measured: there is no time of a GPU beside the model's.</p>\n"
    parts = []
    for device, timed in one.measured.items():
        rows = [
            [_us(_seconds(o)), _spread(o), _us(o.cost or 0), f"{(o.cost or 0) / _seconds(o):.2f}",
             _said(o)]
            for o in timed[:_BEST]
        ]  # fmt: skip
        head = ["measured, µs", "least to most", "model, µs", "model / measured", "candidate"]
        title = f"Model and measurement on {device}"
        parts.append(_table(title, head, rows))
        if len(timed) > 2:
            ranks = spearman([_seconds(o) for o in timed], [o.cost or 0 for o in timed])
            said = f"Spearman's rank correlation over {len(timed)} candidates: {ranks:.2f}."
            parts.append(f"<p>{said}</p>\n{plots.against(timed, f'{title}: {one.title}')}")
    return "".join(parts)


def _spread(outcome: Outcome) -> str:
    times = outcome.measured or {}
    return " to ".join(_us(times[name]) for name in ("least", "most") if name in times)


def spearman(first: Sequence[float], second: Sequence[float]) -> float:
    """Spearman's rank correlation of two lists of numbers; equal numbers share their rank."""
    a, b = _ranks(first), _ranks(second)
    mean = (len(a) + 1) / 2
    products = sum((x - mean) * (y - mean) for x, y in zip(a, b, strict=True))
    squares = sum((x - mean) ** 2 for x in a) * sum((y - mean) ** 2 for y in b)
    return float(products / squares**0.5) if squares else 0.0


def _ranks(values: Sequence[float]) -> list[float]:
    order = sorted(values)
    first = {value: order.index(value) for value in set(values)}
    return [first[value] + (order.count(value) + 1) / 2 for value in values]


def _losers(one: _Known) -> str:
    """Why others are slower, and why others were refused."""
    ranked, parts = one.ranked, []
    if len(ranked) > 1:
        least = ranked[0].cost or 1.0
        limits: dict[str, list[float]] = {}
        for outcome in ranked[1:]:
            limits.setdefault(_limit(outcome), []).append((outcome.cost or 0) / least)
        rows = [
            [limit, len(costs), f"{min(costs):.2f}", f"{median(costs):.2f}", f"{max(costs):.2f}"]
            for limit, costs in sorted(limits.items(), key=lambda entry: -len(entry[1]))
        ]
        head = ["limited by", "candidates", "the best of them", "median", "the worst"]
        parts.append(_table("What limits those that are slower, times the best", head, rows))
    refused = [outcome for outcome in one.outcomes if outcome.state is State.REFUSED]
    counted = Counter(outcome.reason for outcome in refused)
    examples = {outcome.reason: outcome for outcome in reversed(refused)}
    rows = [
        [reason, str(count), _said(examples[reason]), examples[reason].detail]
        for reason, count in counted.most_common()
    ]
    if rows:
        head = ["reason", "candidates", "such as", "detail"]
        parts.append(_table("Why candidates were refused", head, rows))
    return "".join(parts)


def _table(title: str, head: Iterable[object], rows: Iterable[Iterable[object]]) -> str:
    def line(tag: str, cells: Iterable[object]) -> str:
        return f"<tr>{''.join(f'<{tag}>{escape(str(one))}</{tag}>' for one in cells)}</tr>\n"

    body = "".join(line("td", row) for row in rows)
    made = f"<table><caption>{escape(title)}</caption>\n{line('th', head)}{body}</table>"
    label = f'role="region" aria-label="{escape(title)}" tabindex="0"'
    return f'<div class="wide" {label}>{made}</div>\n'

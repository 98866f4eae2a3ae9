"""Plots of the page of a store, by matplotlib where it is installed (extra `plots`).

A plot stands in the page as SVG inside an `<img>`, whose `alt` says what is drawn; its numbers are
in a table beside it.
"""

from __future__ import annotations

import io
from base64 import b64encode
from collections.abc import Sequence
from html import escape
from importlib.util import find_spec
from typing import Any

from .store import Outcome

_ACROSS = 4
"""Parameters side by side."""


def available() -> bool:
    """Whether there is matplotlib."""
    try:
        return find_spec("matplotlib") is not None
    except ValueError:  # of a module that is None in sys.modules
        return False


def sensitivity(ranked: Sequence[Outcome], title: str) -> str:
    """Costs over the values of each parameter, times the best; empty without matplotlib.

    Args:
        ranked: candidates with costs, the best first.
        title: what a reader who sees no pictures is told.
    """
    names = [
        name for name in sorted(ranked[0].candidate)
        if len({one.candidate[name] for one in ranked}) > 1
    ]  # fmt: skip
    if not available() or not names:
        return ""
    rows = -(-len(names) // _ACROSS)
    figure = _figure(3 * min(len(names), _ACROSS), 2.6 * rows)
    least = ranked[0].cost or 1.0
    for number, name in enumerate(names):
        axes = figure.add_subplot(rows, min(len(names), _ACROSS), number + 1)
        values = sorted({one.candidate[name] for one in ranked})
        costs = [
            [(one.cost or 0) / least for one in ranked if one.candidate[name] == value]
            for value in values
        ]
        axes.boxplot(costs, tick_labels=[str(value) for value in values], whis=(0, 100))
        axes.set_yscale("log")
        axes.set_xlabel(name)
        if number % _ACROSS == 0:
            axes.set_ylabel("times the best")
    return _image(figure, title)


def against(timed: Sequence[Outcome], title: str) -> str:
    """The model's seconds over those of a GPU; empty without matplotlib.

    Args:
        timed: candidates with costs and times.
        title: what a reader who sees no pictures is told.
    """
    if not available():
        return ""
    figure = _figure(5, 4)
    axes = figure.add_subplot(1, 1, 1)
    measured = [(one.measured or {})["median"] * 1e6 for one in timed]
    model = [(one.cost or 0) * 1e6 for one in timed]
    axes.scatter(measured, model, s=14)
    ends = [min(*measured, *model), max(*measured, *model)]
    axes.plot(ends, ends, linewidth=1, color="#777")
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("measured, µs")
    axes.set_ylabel("model, µs")
    return _image(figure, title)


def _figure(width: float, height: float) -> Any:
    from matplotlib.figure import Figure  # noqa: PLC0415 (of the extra `plots`)

    return Figure(figsize=(width, height), layout="constrained")


def _image(figure: Any, title: str) -> str:
    """A figure as an element of a page; the same figure gives the same text."""
    import matplotlib as mpl  # noqa: PLC0415 (of the extra `plots`)

    written = io.BytesIO()
    with mpl.rc_context({"svg.hashsalt": "tilec"}):
        figure.savefig(written, format="svg", metadata={"Date": None, "Creator": None})
    data = b64encode(written.getvalue()).decode()
    return f'<img alt="{escape(title)}" src="data:image/svg+xml;base64,{data}">\n'

"""A timeline as HTML: rows of SVG whose axis is the order of steps."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape
from importlib.resources import files

from tilec.isa.wording import counted

from ..warps import warp_numbers
from .record import Flight, Record, Run, Wait
from .rows import TITLES, FlightRow, WarpRow, flight_rows, merged, warp_rows

KINDS = {
    "tensor": "products",
    "shared": "shared or tensor memory",
    "global": "global memory",
    "copy": "copies issued",
    "sync": "synchronisation",
    "other": "other instructions",
}
"""What the kinds of instructions are called."""

_MARKS = 10


def page(timeline: Record) -> str:
    """A page that stands alone."""
    title = escape(f"timeline of {timeline.kernel}")
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title} · tilec</title>\n<style>\n"
        ":root { color-scheme: light dark }\nbody { margin: 1rem; font: 14px/1.4 system-ui, "
        "sans-serif }\nh1 { font-size: 1.1rem; overflow-wrap: anywhere }\n</style>\n</head>\n"
        f"<body>\n<main>\n<h1>{title}</h1>\n{chart(timeline)}\n</main>\n</body>\n</html>\n"
    )


def chart(timeline: Record, file: str | None = None) -> str:
    """The picture, to be part of a page.

    Args:
        timeline: what it shows.
        file: the program whose lines, by `data-line`, lead to the rest of the page; None for none.
    """
    template = files(__package__).joinpath("chart.html").read_text("utf-8")
    rows = warp_rows(timeline)
    parts = {
        "about": escape(_about(timeline)),
        "legend": "".join(f'<li><i class="{kind}"></i>{what}</li>' for kind, what in KINDS.items()),
        "labels": "".join(f"<div>{escape(label)}</div>" for label in _labels(timeline, rows)),
        "rows": "".join(_drawn(timeline, rows, file)),
        "marks": _marks(timeline.steps),
        "table": "".join(_table(timeline, rows, file)),
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], template)


def _about(timeline: Record) -> str:
    cut = "; it went on, and is not recorded any further" if timeline.cut else ""
    return (
        f"CTA {timeline.cta} of kernel {timeline.kernel}: {counted(len(timeline.warps), 'warp')}, "
        f"{counted(timeline.steps, 'step')}{cut}."
    )


def _labels(timeline: Record, rows: list[WarpRow]) -> Iterator[str]:
    yield from (row.label for row in rows)
    yield from (row.label for row in flight_rows(timeline))


def _drawn(timeline: Record, rows: list[WarpRow], file: str | None) -> Iterator[str]:
    """An SVG a row."""
    steps = max(timeline.steps, 1)
    for row in rows:
        bars = [
            *(_bar("wait", wait, _wait_text(wait), file) for wait in row.of.waits),
            *(_bar(run.kind, run, _run_text(run), file) for run in row.of.runs),
        ]
        yield _svg(steps, bars)
    for flight_row in flight_rows(timeline):
        yield _svg(steps, _flight_bars(flight_row, file))


def _flight_bars(row: FlightRow, file: str | None) -> list[str]:
    return [_bar(flight.kind, flight, _flight_text(flight), file) for flight in row.flights]


def _svg(steps: int, bars: list[str]) -> str:
    return (
        f'<svg viewBox="0 0 {steps} 10" preserveAspectRatio="none" aria-hidden="true">'
        f"{''.join(bars)}</svg>"
    )


def _bar(style: str, what: Run | Wait | Flight, text: str, file: str | None) -> str:
    line = _line(what.source, file)
    leads = f' data-line="{line}"' if line else ""
    return (
        f'<rect class="{style}" x="{what.first}" width="{what.last - what.first + 1}" '
        f'height="10"{leads}><title>{escape(text)}</title></rect>'
    )


def _line(source: str, file: str | None) -> str:
    """The line of the page's program that something comes from, or empty."""
    name, _, line = source.rpartition(":")
    return line if file is not None and name == file else ""


def _steps(what: Run | Wait | Flight) -> str:
    several = what.first != what.last
    return f"steps {what.first:,} to {what.last:,}" if several else f"step {what.first:,}"


def _where(what: Run | Wait | Flight) -> str:
    return f"line {what.line} of the PTX" + (f", {what.source}" if what.source else "")


def _run_text(run: Run) -> str:
    return f"{KINDS[run.kind]}: {_steps(run)}, from {run.instruction}, {_where(run)}"


def _wait_text(wait: Wait) -> str:
    return f"waits for {wait.cause}: {_steps(wait)}, {_where(wait)}"


def _flight_text(flight: Flight) -> str:
    bytes_ = f", {counted(flight.bytes, 'byte')}" if flight.bytes else ""
    return (
        f"in flight: {_steps(flight)}, {flight.count} × {flight.instruction}{bytes_}, "
        f"{_where(flight)}"
    )


def _marks(steps: int) -> str:
    """Numbers of steps along the axis."""
    each = next(n for n in _nice() if n * _MARKS >= steps)
    at = range(0, max(steps, 1), each)
    return "".join(f'<span style="left:{100 * n / max(steps, 1):.3f}%">{n:,}</span>' for n in at)


def _nice() -> Iterator[int]:
    """1, 2, 5, 10, 20, 50 and so on."""
    scale = 1
    while True:
        yield from (scale, 2 * scale, 5 * scale)
        scale *= 10


def _table(timeline: Record, rows: list[WarpRow], file: str | None) -> Iterator[str]:
    """Waits and flights in words, in order."""
    found: list[tuple[str, str, Wait | Flight]] = [
        (row.label, f"waits for {wait.cause}", wait) for row in rows for wait in row.of.waits
    ]
    for flight in merged(timeline.flights):
        bytes_ = f", {counted(flight.bytes, 'byte')}" if flight.bytes else ""
        text = f"{TITLES[flight.kind]}: {flight.count} × {flight.instruction}{bytes_}"
        found.append((warp_numbers(flight.warps), text, flight))
    for who, text, what in sorted(found, key=lambda one: one[2].first):
        line = _line(what.source, file)
        place = f'<button data-line="{line}">line {line}</button>' if line else escape(_where(what))
        cells = "".join(f"<td>{escape(cell)}</td>" for cell in (_steps(what), who, text))
        yield f"<tr>{cells}<td>{place}</td></tr>"

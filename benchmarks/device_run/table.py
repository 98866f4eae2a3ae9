"""What a run found, as text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

Rows = Mapping[str, Sequence[Mapping[str, Any]]]
"""By section."""

LISTED = 20
"""Wrong results that are named, at most."""


def table(rows: Rows) -> str:
    """All sections."""
    return "\n".join(line for name, found in rows.items() for line in _section(name, found))


def wrong(rows: Rows) -> bool:
    """Whether anything is not as it should be."""
    return any(
        row.get("wrong") or row.get("failure") or row.get("right") is False
        for found in rows.values()
        for row in found
    )


def _section(name: str, rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    yield f"== {name}"
    yield from (f"FAILED: {row['failure']}" for row in rows if "failure" in row)
    yield from _LINES.get(name, _said)(rows)
    skipped = [row for row in rows if "skipped" in row]
    if skipped:
        yield f"left out: {len(skipped)}, the first: {skipped[0]['skipped']}"


def _forms(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    tried = [row for row in rows if "elements" in row]
    good = [row for row in tried if not row["wrong"]]
    elements = sum(row["elements"] for row in tried)
    yield f"{len(good)} of {len(tried)} forms as simulated, bit by bit, on {elements:,} elements"
    messages = [found["message"] for row in tried for found in row["wrong"]]
    yield from messages[:LISTED]
    if len(messages) > LISTED:
        yield f"and {len(messages) - LISTED} more"


def _programs(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    tried = [row for row in rows if "program" in row]
    good = [row for row in tried if not row["wrong"]]
    yield f"{len(good)} of {len(tried)} programs as simulated, bit by bit"
    yield from (found["message"] for row in tried for found in row["wrong"])


def _timed(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    timed = [row for row in rows if "tflops" in row]
    yield f"{'dtype':16} {'shape':>20} {'TFLOP/s':>8} {'peers':32} {'SM MHz':>6} {'W':>4}"
    for row in timed:
        peers = ", ".join(f"{name} {peer['tflops']:.0f}" for name, peer in row["peers"].items())
        clocks = row.get("clocks", {})
        mark = "" if row["right"] else f"  WRONG: error {row['error']:.3g}"
        yield (
            f"{row['dtype']:16} {' x '.join(map(str, row['shape'])):>20} {row['tflops']:8.0f} "
            f"{peers:32} {clocks.get('sm_mhz', 0):6.0f} {clocks.get('power_w', 0):4.0f}"
            f"  {row['configuration']} level {row['level']}{mark}"
        )
    for row in rows:
        for peer, reason in row.get("refusals", {}).items():
            yield f"{peer}: {reason}"


def _said(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    yield from (str(row["says"]) for row in rows if "says" in row)


def _best(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Of a sweep the fastest of each type and shape."""
    groups: dict[tuple[Any, ...], list[Mapping[str, Any]]] = {}
    for row in rows:
        if "tflops" in row:
            groups.setdefault((row["dtype"], *row["shape"]), []).append(row)
    for found in groups.values():
        found.sort(key=lambda row: -row["tflops"])
        yield from _timed(found[:5])


_LINES = {
    "forms": _forms,
    "programs": _programs,
    "gemm": _timed,
    "attention": _timed,
    "sweep": _best,
}

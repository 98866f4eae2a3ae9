"""What a run found, as text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

Rows = Mapping[str, Sequence[Mapping[str, Any]]]
"""By section."""

LISTED = 20
"""Wrong results that are named, at most."""


def table(rows: Rows) -> str:
    """All sections, then what matters most, since the end of an output is what is seen first."""
    lines = [line for name, found in rows.items() for line in _section(name, found)]
    return "\n".join([*lines, "== in short", *_short(rows)])


def wrong(rows: Rows) -> bool:
    """Whether anything is not as it should be."""
    return any(_is_wrong(row) for found in rows.values() for row in found)


def left_out(took: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """What there was no time for, and how right the plan was."""
    done = [one for one in took if one["seconds"] is not None]
    spent, planned = (sum(one[name] for one in done) for name in ("seconds", "planned"))
    yield f"{len(done)} entries took {spent:.0f} s, planned {planned:.0f}"
    groups: dict[str, list[str]] = {}
    for one in took:
        if one["seconds"] is None:
            groups.setdefault(one["section"], []).append(one["entry"])
    for section, names in groups.items():
        shown = ", ".join(names[:LISTED]) + (" …" if len(names) > LISTED else "")
        yield f"no time for {len(names)} of {section}: {shown}"


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


def _timed(rows: Sequence[Mapping[str, Any]], listed: int = 1) -> Iterator[str]:
    """Of every type and shape the fastest, and all that are wrong."""
    yield f"{'dtype':24} {'shape':>20} {'TFLOP/s':>8} {'peers':32} {'SM MHz':>6} {'W':>4}"
    for found in _groups(rows):
        for row in [*found[:listed], *(row for row in found[listed:] if not row["right"])]:
            yield _line(row)
    for row in rows:
        for peer, reason in row.get("refusals", {}).items():
            yield f"{peer}: {reason}"


def _swept(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    return _timed(rows, listed=5)


def _groups(rows: Sequence[Mapping[str, Any]]) -> list[list[Mapping[str, Any]]]:
    """Rows of one type and shape together, the fastest first."""
    groups: dict[tuple[Any, ...], list[Mapping[str, Any]]] = {}
    for row in rows:
        if "tflops" in row:
            groups.setdefault((row["dtype"], *row["shape"]), []).append(row)
    return [sorted(found, key=lambda row: -row["tflops"]) for found in groups.values()]


def _line(row: Mapping[str, Any]) -> str:
    peers = ", ".join(f"{name} {peer['tflops']:.0f}" for name, peer in row["peers"].items())
    clocks = row.get("clocks", {})
    mark = "" if row["right"] else f"  WRONG: error {row['error']:.3g}"
    return (
        f"{row['dtype']:24} {'x'.join(map(str, row['shape'])):>20} {row['tflops']:8.0f} "
        f"{peers:32} {clocks.get('sm_mhz', 0):6.0f} {clocks.get('power_w', 0):4.0f}"
        f"  {row['configuration']} l{row['level']}{mark}"
    )


def _short(rows: Rows) -> Iterator[str]:
    """What is wrong, and the speeds that everybody compares."""
    for name, found in rows.items():
        bad = sum(map(_is_wrong, found))
        yield f"{name}: {f'{bad} of {len(found)} rows WRONG' if bad else 'nothing wrong'}"
    for row in rows.get("forms", ()):
        if _is_wrong(row):
            yield f"  {row.get('form', row.get('failure'))}"
    for found in _groups(rows.get("kernels", ())):
        yield _line(found[0])
    for name, sizes in (("gemm", (4096, 8192)), ("attention", (8192,))):
        for found in _groups(rows.get(name, ())):
            square = len(set(found[0]["shape"])) == 1
            if found[0]["shape"][1] in sizes and (square or name == "attention"):
                yield _line(found[0])


def _is_wrong(row: Mapping[str, Any]) -> bool:
    return bool(row.get("wrong") or row.get("failure") or row.get("right") is False)


def _said(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    yield from (str(row["says"]) for row in rows if "says" in row)


_LINES = {
    "forms": _forms,
    "programs": _programs,
    "gemm": _timed,
    "attention": _timed,
    "kernels": _timed,
    "sweep": _swept,
}

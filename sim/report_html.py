"""A report as a notebook shows it."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .report import Report

_COLUMNS = ("line", "warps", "sectors", "wavefronts", "conflicts", "instruction", "source")


def html(report: Report) -> str:
    """The verdict, the counts, and the lines of the text to unfold."""
    verdict = "completed" if report.completed else "stopped"
    findings = list(map(str, report.findings)) or ["no findings"]
    counts: list[tuple[str, object]] = [
        ("warp instructions", report.warp_instructions),
        *((m.form, f"{m.warps:,} ({m.flops:,} FLOPs)") for m in report.matrix),
        ("global requests", report.requests),
        ("global sectors", report.sectors),
        ("shared wavefronts", report.wavefronts),
        ("of them conflicts", report.conflicts),
    ]
    lines = ([getattr(line, name) for name in _COLUMNS] for line in report.lines)
    return (
        f"<div><p>kernel <b>{escape(report.kernel)}</b>: {verdict}</p>"
        f"<ul>{''.join(f'<li>{escape(one)}</li>' for one in findings)}</ul>"
        f"<table>{_rows('td', counts)}</table>"
        f"<details><summary>{len(report.lines)} instructions of the text</summary>"
        f"<table>{_rows('th', [_COLUMNS])}{_rows('td', lines)}</table></details></div>"
    )


def _rows(tag: str, rows: Iterable[Iterable[object]]) -> str:
    return "".join(f"<tr>{''.join(_cell(tag, value) for value in row)}</tr>" for row in rows)


def _cell(tag: str, value: object) -> str:
    text = f"{value:,}" if isinstance(value, int) else escape(str(value))
    return f"<{tag}>{text}</{tag}>"

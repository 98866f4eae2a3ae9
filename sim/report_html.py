"""A report as a notebook shows it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape


def page(
    kernel: str,
    verdict: str,
    findings: Iterable[str],
    counts: Iterable[tuple[str, object]],
    columns: Sequence[str],
    lines: Sequence[Sequence[object]],
) -> str:
    """The verdict, the counts by name, and the lines of the text to unfold."""
    return (
        f"<div><p>kernel <b>{escape(kernel)}</b>: {verdict}</p>"
        f"<ul>{''.join(f'<li>{escape(one)}</li>' for one in findings)}</ul>"
        f"<table>{_rows('td', counts)}</table>"
        f"<details><summary>{len(lines)} instructions of the text</summary>"
        f"<table>{_rows('th', [columns])}{_rows('td', lines)}</table></details></div>"
    )


def _rows(tag: str, rows: Iterable[Iterable[object]]) -> str:
    return "".join(f"<tr>{''.join(_cell(tag, value) for value in row)}</tr>" for row in rows)


def _cell(tag: str, value: object) -> str:
    text = f"{value:,}" if isinstance(value, int) else escape(str(value))
    return f"<{tag}>{text}</{tag}>"

"""A report as a notebook shows it, and as a page."""

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


_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2em; color-scheme: light dark }
table { border-collapse: collapse; font-variant-numeric: tabular-nums }
th, td { padding: .1em .8em; text-align: left; border-bottom: 1px solid #8884 }
li { white-space: pre-wrap; font-family: ui-monospace, monospace }
summary { cursor: pointer; margin: 1em 0 .5em }
"""


def document(kernel: str, body: str, notes: Sequence[str]) -> str:
    """A page of what `page` gives, and of lines that follow it."""
    told = "".join(f"<p>{escape(note)}</p>" for note in notes)
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f"<title>{escape(kernel)}: report of a run</title><style>{_STYLE}</style></head>\n"
        f"<body>{body.replace('<details>', '<details open>')}{told}</body></html>"
    )


def _rows(tag: str, rows: Iterable[Iterable[object]]) -> str:
    return "".join(f"<tr>{''.join(_cell(tag, value) for value in row)}</tr>" for row in rows)


def _cell(tag: str, value: object) -> str:
    text = f"{value:,}" if isinstance(value, int) else escape(str(value))
    return f"<{tag}>{text}</{tag}>"

"""The page itself: the steps as data, and a template that shows them."""

from __future__ import annotations

import json
import re
from html import escape
from importlib.resources import files
from pathlib import PurePath
from typing import Any

from tilec.backend.external_tools import AssemblerError
from tilec.report.diagnostics import places

from .diff import changes
from .explored import Explored
from .kernels import kernel_table
from .steps import Recorded, Step, record


def explore(compiled: Explored) -> str:
    """A page that stands alone: every stage of a compilation side by side.

    Raises:
        TilecError: as compiling does, but for what the assembler and disassembler refuse.
    """
    recorded = record(compiled)
    page = files(__package__).joinpath("page.html").read_text("utf-8")
    # What JSON may say inside a script element: no "</script>", no "<!--".
    data = json.dumps(_data(recorded.steps), separators=(",", ":"), ensure_ascii=False)
    parts = {
        "title": escape(PurePath(recorded.source.name).name),
        "about": escape(_about(recorded.compiled)),
        "kernels": kernel_table(recorded.compiled),
        "remarks": _remarks(recorded),
        "data": data.replace("<", "\\u003c"),
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], page)


def _remarks(recorded: Recorded) -> str:
    """What the passes remark on, each with a button that shows its line."""
    found = recorded.compiled.remarks
    if not found:
        return ""
    items = []
    for remark in found:
        at = next((p.line for p in places(remark.location) if p.file == recorded.file), 0)
        button = f'<button data-line="{at}">line {at}</button> ' if at else ""
        items.append(f"<li>{button}{escape(remark.message)}</li>")
    return (
        f"<details open><summary>remarks ({len(found)})</summary>"
        f'<ul class="remarks">{"".join(items)}</ul></details>'
    )


def _data(steps: list[Step]) -> list[dict[str, Any]]:
    return [_step(step, before) for before, step in zip([None, *steps], steps, strict=False)]


def _step(step: Step, before: Step | None) -> dict[str, Any]:
    data: dict[str, Any] = {
        "name": step.name,
        "text": [line.text for line in step.lines],
        "from": [line.sources for line in step.lines],
    }
    if step.missing:
        data["missing"] = step.missing
    if step.by_pass and before:
        old, new = ([line.text for line in one.lines] for one in (before, step))
        data["changes"] = changes(old, new)
    return data


def _about(compiled: Explored) -> str:
    return f"{compiled.target} · -O{compiled.options.opt_level} · {_assembler(compiled)}"


def _assembler(compiled: Explored) -> str:
    try:
        return compiled.assembler
    except AssemblerError:
        return "not assembled"

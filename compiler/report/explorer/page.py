"""The page itself: the steps as data, and a template that shows them."""

from __future__ import annotations

import json
import re
import zlib
from base64 import b64encode
from html import escape
from importlib.resources import files
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from tilec.backend.external_tools import AssemblerError
from tilec.passes.base import Diagnostic
from tilec.report.diagnostics import places
from tilec.report.selection import chosen

from .diff import changes
from .explored import Explored
from .kernels import kernel_table
from .steps import Recorded, Step, record

if TYPE_CHECKING:
    from tilec.sim import Timeline


def explore(compiled: Explored, timeline: Timeline | None = None) -> str:
    """A page that stands alone: every stage of a compilation side by side.

    Args:
        compiled: the compilation.
        timeline: what the warps of a CTA did when it ran on the simulator, to be shown as well.

    Raises:
        TilecError: as compiling does, but for what the assembler and disassembler refuse.
    """
    recorded = record(compiled)
    page = files(__package__).joinpath("page.html").read_text("utf-8")
    parts = {
        "title": escape(PurePath(recorded.source.name).name),
        "about": escape(_about(recorded.compiled)),
        "kernels": kernel_table(recorded.compiled),
        "remarks": _remarks(recorded),
        "timeline": "" if timeline is None else _timeline(timeline, recorded),
        "data": _packed(recorded.steps),
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], page)


def _remarks(recorded: Recorded) -> str:
    """What the passes remark on, pass by pass, with buttons that show the line and the pass."""
    by_pass: dict[str, list[Diagnostic]] = {}
    for remark in chosen(recorded.compiled.remarks, ""):
        by_pass.setdefault(remark.decided_by, []).append(remark)
    if not by_pass:
        return ""
    names = {step.name for step in recorded.steps}
    groups = (_group(name, found, name in names, recorded.file) for name, found in by_pass.items())
    count = sum(map(len, by_pass.values()))
    return (
        f"<details><summary>remarks ({count})</summary>"
        f'<div class="remarks">{"".join(groups)}</div></details>'
    )


def _timeline(timeline: Timeline, recorded: Recorded) -> str:
    """A chart whose bars lead to the lines of the source that they come from."""
    from tilec.sim.timeline.page import chart  # noqa: PLC0415 (with the simulator)

    drawn = chart(timeline, recorded.source.name)
    return f'<details id="timeline"><summary>timeline of a CTA</summary>{drawn}</details>'


def _group(name: str, found: list[Diagnostic], is_step: bool, file: str) -> str:
    """The remarks of a pass."""
    show = f' <button data-pass="{escape(name)}">show what it changed</button>' if is_step else ""
    items = "".join(f"<li>{_remark(one, file)}</li>" for one in found)
    return (
        f"<details open><summary>{escape(name or 'others')} ({len(found)})</summary>"
        f"{show}<ul>{items}</ul></details>"
    )


def _remark(remark: Diagnostic, file: str) -> str:
    at = next((p.line for p in places(remark.location) if p.file == file), 0)
    button = f'<button data-line="{at}">line {at}</button> ' if at else ""
    kernel = f" in {escape(remark.function)}" if remark.function else ""
    return f'{button}<span class="kind">{remark.kind}{kernel}:</span> {escape(remark.message)}'


def _packed(steps: list[Step]) -> str:
    """The steps as JSON, deflated, in base64; each line that there is once (RFC 1950, RFC 4648)."""
    numbers: dict[str, int] = {}
    data = [
        _step(step, before, numbers) for before, step in zip([None, *steps], steps, strict=False)
    ]
    text = json.dumps({"lines": list(numbers), "steps": data}, separators=(",", ":"))
    return b64encode(zlib.compress(text.encode(), 9)).decode()


def _step(step: Step, before: Step | None, numbers: dict[str, int]) -> dict[str, Any]:
    data: dict[str, Any] = {
        "name": step.name,
        "text": [numbers.setdefault(line.text, len(numbers)) for line in step.lines],
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

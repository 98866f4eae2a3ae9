"""The Sphinx directive `gallery`: an example, with what the compiler and the simulator say of it.

The script is run on the simulator when the page is read. Of each of its kernels, at its
first launch, there are counts, a picture of a layout, and remarks; where the environment has
`TILEC_EXPLORERS`, the explorer as well, to which the page then links.
"""

from __future__ import annotations

import io
import os
import re
import runpy
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

from docutils import nodes
from sphinx.util.docutils import SphinxDirective
from tilec import Compiled
from tilec.isa import Mma, form
from tilec.sim import Report

KERNELS = Path(__file__).resolve().parents[1] / "examples" / "kernels"
SOURCE = "https://github.com/tilec/tilec/blob/main/examples/kernels"
MOST = 6
"""Remarks that are shown of a kernel; the explorer has all."""


@dataclass(frozen=True)
class Launch:
    """The first launch of a kernel: its program, and what the simulator found."""

    compiled: Compiled
    report: Report


def launches(script: Path) -> dict[str, Launch]:
    """Run a script; the first launch of each of its kernels, by name."""
    found: dict[str, Launch] = {}
    launch = Compiled.launch

    def recorded(self: Compiled, *args: Any, **how: Any) -> Any:
        report = launch(self, *args, **how)
        if isinstance(report, Report):
            found.setdefault(report.kernel, Launch(self, report))
        return report

    said = io.StringIO()
    watched = mock.patch.object(Compiled, "launch", recorded)
    with watched, redirect_stdout(said), redirect_stderr(said):
        runpy.run_path(str(script), run_name="__main__")
    return found


def title(script: Path) -> str:
    """The first line of a script's docstring."""
    return script.read_text(encoding="utf-8").partition("\n")[0].strip('"')


def described(launch: Launch) -> Iterator[str]:
    """What the page says of a launch, in Markdown."""
    report = launch.report
    rows = [
        ("warp instructions", report.warp_instructions),
        *((f"`{count.form}`", count.warps) for count in report.matrix),
        ("sectors of global memory", report.sectors),
        ("wavefronts of shared memory", report.wavefronts),
        ("of them bank conflicts", report.conflicts),
        ("barriers", report.barriers),
    ]
    yield "| what | count |\n|---|---:|\n" + "".join(f"| {n} | {c:,} |\n" for n, c in rows)
    if picture := _pictured(launch):
        yield f"```{{tile-layout}} {picture}\n```\n"
    said = list(dict.fromkeys(f"{r.decided_by}: {r.message}" for r in launch.compiled.remarks))
    if said:
        more = [f"and {len(said) - MOST} more"] if len(said) > MOST else []
        yield "```text\n" + "\n".join([*said[:MOST], *more]) + "\n```\n"


def _pictured(launch: Launch) -> str:
    """What `tile-layout` draws: an operand of the matrix instruction, else the layout of a tile."""
    for count in launch.report.matrix:
        if isinstance(form(count.form), Mma):
            return f"{count.form} --operand a"
    for remark in launch.compiled.remarks:
        if layout := re.search(r"the layout of .*: '(register [^']*)'", remark.message):
            return f"'{layout[1]}'"
    return ""


class Gallery(SphinxDirective):
    """An example, by the name of its script."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Title, and of each kernel what is said."""
        script = KERNELS / f"{self.arguments[0]}.py"
        self.env.note_dependency(str(script))
        parts = [f"{title(script)} [{script.name}]({SOURCE}/{script.name})\n"]
        for name, launch in launches(script).items():
            parts += [
                f"`{name}`, for {launch.compiled.target}{self._explorer(script, name, launch)}\n"
            ]
            parts += described(launch)
        return self.parse_text_to_nodes("\n".join(parts))

    def _explorer(self, script: Path, name: str, launch: Launch) -> str:
        """A link to the explorer, which is written."""
        if not os.environ.get("TILEC_EXPLORERS"):
            return ""
        folder = Path(self.env.app.outdir, "explorer")
        folder.mkdir(exist_ok=True)
        file = folder / f"{script.stem}.{name}.html"
        file.write_text(launch.compiled.explore(), encoding="utf-8")
        return f': <a href="explorer/{file.name}">explorer</a>'


def setup(app: Any) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive("gallery", Gallery)
    return {"parallel_read_safe": True}

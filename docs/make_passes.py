"""Write passes.md from the registry of passes, their docstrings and options.

    python docs/make_passes.py [--check]

With --check nothing is written, and the exit code says whether the file is up to date.
"""

from __future__ import annotations

import inspect
import re
import sys
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

from generated import table, write_or_check
from tilec.isa import TARGETS
from tilec.passes.registry import PASSES, pass_class
from tilec.pipelines import Pipeline, pipeline

_INTRODUCTION = """\
# Passes

Written by `docs/make_passes.py` from `passes/registry.py` and the passes themselves; do not edit.
`tile-opt --list-passes` prints them in short. A pass stands in a pipeline, beside upstream's, or
is a flag of its own:

    tile-opt gemm.mlir --pass-pipeline='builtin.module(tile-to-fragments,canonicalize)'
    tile-opt gemm.mlir --tile-to-fragments --canonicalize

Level 2 is tiles with layouts, level 3 fragments; see the
[tour for authors of passes](pass_tour.md).
"""


def _pipelines() -> str:
    found: dict[Pipeline, list[str]] = {}
    for target in TARGETS.values():
        found.setdefault(pipeline(target), []).append(target.name)
    text = "\n## Pipelines\n"
    for one, names in found.items():
        passes = "\n".join((*one.tile, *one.nvvm))
        targets = "all targets" if len(found) == 1 else ", ".join(names)
        text += f"\nOf {targets}, in order:\n\n```text\n{passes}\n```\n"
    return text


def _section(name: str) -> str:
    found = pass_class(name)
    stem = Path(inspect.getsourcefile(found) or "").stem
    text, _, described = inspect.cleandoc(found.__doc__ or "").partition("\nAttributes:\n")
    section = f"\n## {name}\n\n{text.rstrip()}\n"
    rows = [
        (f"`{f.name.replace('_', '-')}`", _kind(f), _said(f.name, described)) for f in fields(found)
    ]
    if rows:
        section += "\n" + table(("option", "type", "what"), rows)
    return f"{section}\nCode: `passes/{stem}.py`. Tests: `test/lit/passes/{stem}*.mlir`.\n"


def _kind(field: Any) -> str:
    kind = f"`{str(field.type).removesuffix(' | None')}`"
    return kind if field.default in (MISSING, None, "") else f"{kind}, default `{field.default}`"


def _said(name: str, described: str) -> str:
    """What the attributes in a docstring say of one."""
    said = re.search(rf"^    {name}: (.*(?:\n     .*)*)", described, re.MULTILINE)
    return " ".join(said[1].split()) if said else ""


def document() -> str:
    """The whole file."""
    return _INTRODUCTION + _pipelines() + "".join(_section(name) for name in PASSES)


if __name__ == "__main__":
    sys.exit(write_or_check(__file__, __doc__ or "", document))

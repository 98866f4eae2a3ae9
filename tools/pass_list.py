"""What `tile-opt --list-passes` and `--show-dialects` print."""

from __future__ import annotations

import re
from dataclasses import MISSING, fields

from tilec.diagnostics import Source
from tilec.passes.base import ProgramError
from tilec.passes.registry import PASSES, pass_class
from tilec.source import new_context, parse


def pass_list() -> str:
    """The passes of tilec with the first line of their documentation, and their options."""
    lines = ["tilec's passes, in the order of a whole compilation:", ""]
    for name in PASSES:
        found = pass_class(name)
        summary = (found.__doc__ or "").strip().partition("\n")[0]
        lines.append(f"  --{name:28} {summary}")
        for field in fields(found):
            option = field.name.replace("_", "-")
            default = "" if field.default in (MISSING, None, "") else f" (default {field.default})"
            lines.append(f"      {option}=<{_kind(str(field.type))}>{default}")
    lines += ["", "Upstream's passes may stand anywhere in the same pipeline.", ""]
    return "\n".join(lines)


def _kind(annotation: str) -> str:
    return annotation.removesuffix(" | None")


def dialect_list() -> str:
    """The dialects that a program may use, one a line."""
    # The bindings list no dialects; the error about an unknown one does.
    try:
        parse(Source("", "no_such_dialect.op"), new_context())
    except ProgramError as error:
        note = error.diagnostics[0].notes[0].message
    names = re.split(r"[;(] ?", note.removeprefix("Available dialects: "))[0].rstrip().split(", ")
    return "Available Dialects: " + ", ".join(sorted({*names, "tile"})) + "\n"

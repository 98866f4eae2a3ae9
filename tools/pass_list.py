"""What `tile-opt --list-passes` and `--show-dialects` print."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import MISSING, fields

from tilec.dialect_plugins import GROUP as DIALECTS
from tilec.frontend.contexts import new_context
from tilec.frontend.parsing import parse
from tilec.isa.plugins import PluginError, plugins
from tilec.passes.base import Pass, ProgramError
from tilec.passes.registry import GROUP, PASSES, pass_class
from tilec.pipeline_choice import GROUP as PIPELINES
from tilec.report.diagnostics import Source


def pass_list() -> str:
    """The passes, tilec's and other packages', and what other packages call pipelines."""
    lines = ["tilec's passes, in the order of a whole compilation:", ""]
    for name in PASSES:
        lines += _described(pass_class(name))
    if found := plugins(GROUP):
        lines += ["", "Passes of other packages:", ""]
    for name, plugin in found.items():
        try:
            if name in PASSES:
                raise plugin.wrong("which is the name of one of tilec's")
            lines += _described(pass_class(name), f" ({plugin.package})")
        except PluginError as error:
            lines.append(f"  --{name:28} error: {error}")
    if named := plugins(PIPELINES):
        lines += ["", "Pipelines of other packages, for tilec --pipeline:", ""]
        lines += [f"  {plugin.name:30} ({plugin.package})" for plugin in named.values()]
    lines += ["", "Upstream's passes may stand anywhere in the same pipeline.", ""]
    return "\n".join(lines)


def _described(found: type[Pass], whose: str = "") -> Iterator[str]:
    """A pass with the first line of its documentation, and its options."""
    summary = (found.__doc__ or "").strip().partition("\n")[0]
    yield f"  --{found.name:28} {summary}{whose}"
    for field in fields(found):
        option = field.name.replace("_", "-")
        default = "" if field.default in (MISSING, None, "") else f" (default {field.default})"
        yield f"      {option}=<{_kind(field.type)}>{default}"


def _kind(annotation: type | str) -> str:
    """An option's type; a class where its module does not postpone annotations."""
    text = annotation.__name__ if isinstance(annotation, type) else str(annotation)
    return text.removesuffix(" | None")


def dialect_list() -> str:
    """The dialects that a program may use, one a line."""
    # The bindings list no dialects; the error about an unknown one does.
    try:
        parse(Source("", "no_such_dialect.op"), new_context())
    except ProgramError as error:
        note = error.diagnostics[0].notes[0].message
    names = re.split(r"[;(] ?", note.removeprefix("Available dialects: "))[0].rstrip().split(", ")
    return "Available Dialects: " + ", ".join(sorted({*names, "tile", *plugins(DIALECTS)})) + "\n"

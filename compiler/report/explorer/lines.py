"""Printed programs, line by line, with the source lines that each came from.

Every reader takes a text with its debug locations and gives the lines without them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple


class Line(NamedTuple):
    """A line of a printed program.

    Attributes:
        text: the line, without what only says where it comes from.
        sources: numbers of the source lines that it comes from, counted from one, ascending.
    """

    text: str
    sources: tuple[int, ...] = ()


_LOCATION = re.compile(r"^(#loc\d*) = loc\((.*)\)$")
_FILE_LINE = re.compile(r'"((?:\\.|[^"\\])*)":(\d+):\d+')
_STRING_OR_BRACKET = re.compile(r'"(?:\\.|[^"\\])*"|[()]')
_STRING_OR_LOCATION = re.compile(r'"(?:\\.|[^"\\])*"|( loc\()')


def mlir(text: str, file: str) -> list[Line]:
    """Lines of MLIR printed with locations; an operation's first line has those of its last."""
    printed = text.splitlines()
    aliases = {m[1]: m[2] for line in printed if (m := _LOCATION.match(line))}
    lines: list[Line] = []
    opened: list[int] = []
    for line in printed:
        if _LOCATION.match(line):
            continue
        plain, location = _split(line)
        sources = _named(location, aliases, file)
        if plain.lstrip().startswith("}") and opened:
            first = opened.pop()
            lines[first] = Line(lines[first].text, sources)
        if plain.endswith("{"):
            opened.append(len(lines))
        lines.append(Line(plain, sources))
    return lines


def _split(line: str) -> tuple[str, str]:
    """A line without locations, and the location that it ends with."""
    plain, location, at = "", "", 0
    for found in _STRING_OR_LOCATION.finditer(line):
        if not found[1] or found.start() < at:
            continue
        plain += line[at : found.start()]
        at = _closing(line, found.end())
        location = line[found.end() : at - 1] if at == len(line) else ""
    return plain + line[at:], location


def _closing(line: str, at: int) -> int:
    """The place after the bracket that closes one opened before `at`."""
    depth = 1
    for found in _STRING_OR_BRACKET.finditer(line, at):
        depth += {"(": 1, ")": -1}.get(found[0], 0)
        if depth == 0:
            return found.end()
    return len(line)


def _named(location: str, aliases: dict[str, str], file: str) -> tuple[int, ...]:
    """The lines of `file` that a location names, by itself or through aliases."""
    found = {int(line) for name, line in _FILE_LINE.findall(location) if name == file}
    for alias in re.findall(r"#loc\d*\b", location):
        found |= set(_named(aliases.get(alias, ""), aliases, file))
    return tuple(sorted(found - {0}))


_NODE = re.compile(r"^(!\d+) = (?:distinct )?!(DI\w+)\((.*)\)$", re.MULTILINE)
_ATTACHED = re.compile(r",? !dbg (!\d+)")


def llvm_ir(text: str, file: str) -> list[Line]:
    """Lines of LLVM IR, without metadata."""
    nodes = {name: (kind, fields) for name, kind, fields in _NODE.findall(text)}

    def sources(name: str) -> Iterator[int]:
        kind, fields = nodes[name]
        where = nodes[_field(fields, "scope")] if kind == "DILocation" else (kind, fields)
        if _path(nodes.get(_field(where[1], "file"), ("", ""))[1]) == file:
            yield int(_field(fields, "line") or 0)
        if caller := _field(fields, "inlinedAt"):
            yield from sources(caller)

    lines = []
    for line in text.splitlines():
        if line.startswith("!"):
            continue
        names = [] if line.startswith("declare") else _ATTACHED.findall(line)
        found = {number for name in names for number in sources(name)}
        lines.append(Line(_ATTACHED.sub("", line), tuple(sorted(found - {0}))))
    while lines and not lines[-1].text:
        lines.pop()
    return lines


def _field(fields: str, name: str) -> str:
    found = re.search(rf'\b{name}: ("[^"]*"|[^,\s]+)', fields)
    return found[1].strip('"') if found else ""


def _path(fields: str) -> str:
    folder, name = _field(fields, "directory"), _field(fields, "filename")
    return f"{folder}/{name}" if folder else name


_FILE = re.compile(r'^\s*\.file\s+(\d+)\s+"(.*)"', re.MULTILINE)
_LOC = re.compile(r"\s*\.loc\s")
_PLACE = re.compile(r"(?:\.loc|inlined_at)\s+(\d+)\s+(\d+)")
_BOOKKEEPING = re.compile(r"\s*(\.file\s|\$L__(tmp|func_begin|func_end)\d+:|\.section\s+\.debug)")
_PTX_INSTRUCTION = re.compile(r"\t(?!//|\.reg\b|\.loc\b)|\$L__BB")


def ptx(text: str, file: str) -> list[Line]:
    """Lines of PTX, without `.loc` and what comes with it."""
    own = {number for number, name in _FILE.findall(text) if name == file}
    lines: list[Line] = []
    here: tuple[int, ...] = ()
    for line in text.splitlines():
        if _LOC.match(line):
            numbers = {int(n) for number, n in _PLACE.findall(line) if number in own}
            here = tuple(sorted(numbers - {0}))
        elif not _BOOKKEEPING.match(line):
            if line.startswith("}"):
                here = ()
            lines.append(Line(line, here if _PTX_INSTRUCTION.match(line) else ()))
    while lines and not lines[-1].text.strip():
        lines.pop()
    return lines


_SASS_PLACE = re.compile(r'\s*//## File "(.*?)", line (\d+)')
_SASS_INSTRUCTION = re.compile(r"\s+(/\*[0-9a-f]+\*/)\s+(.*)")


def sass(text: str, file: str) -> list[Line]:
    """Lines of nvdisasm, without its comments on lines."""
    lines: list[Line] = []
    here: set[int] = set()
    fresh = False
    for line in text.splitlines():
        if place := _SASS_PLACE.match(line):
            here = here if fresh else set()
            fresh = True
            here |= {int(place[2])} if place[1] == file else set()
            continue
        fresh = False
        if line.lstrip().startswith(".section"):
            here = set()
        if of_code := _SASS_INSTRUCTION.match(line):
            lines.append(Line(f"  {of_code[1]}  {of_code[2]}", tuple(sorted(here - {0}))))
        else:
            lines.append(Line(line))
    return lines

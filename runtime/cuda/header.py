"""What a launch needs to know of a PTX text: version, target, and what its kernels take."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tilec.isa import PtxVersion
from tilec.isa.launch import Extents
from tilec.isa.types import TYPE_BITS

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_VERSION = re.compile(r"\.version\s+(\d+\.\d+)")
_TARGET = re.compile(r"\.target\s+(sm_\w+)")
_ENTRY = re.compile(r"\.entry\s+([\w$%]+)\s*(?:\(([^)]*)\))?([^{;]*)\{")
_FUNCTION = re.compile(r"\.(?:entry|func)\b")
_WAIT = "griddepcontrol.wait"
_REQUIRED = re.compile(r"\.reqntid\s+([\d,\s]+)")
_PARAMETER = re.compile(
    r"\.param\s+(?:\.align\s+(\d+)\s+)?\.(\w+)\b[^\[]*?([\w$%]+)\s*(?:\[\s*(\d+)\s*\])?\s*$"
)


@dataclass(frozen=True, slots=True)
class Param:
    """A parameter of a kernel.

    Attributes:
        name: its name.
        type: its fundamental type, without the dot.
        size: its bytes.
        align: its alignment in bytes.
    """

    name: str
    type: str
    size: int
    align: int


@dataclass(frozen=True, slots=True)
class Entry:
    """A kernel of a PTX text.

    Attributes:
        parameters: what it takes.
        block: the threads of a CTA that it requires, if it does.
        waits: whether it waits for the grids before it, by `griddepcontrol.wait`, itself: one
            that is in a function that it calls does not count.
    """

    parameters: tuple[Param, ...]
    block: Extents | None
    waits: bool = False


@dataclass(frozen=True, slots=True)
class Header:
    """What a PTX text says of itself.

    Attributes:
        version: its PTX version.
        target: what it is for, such as `sm_90a`.
        entries: its kernels, by name.
    """

    version: PtxVersion
    target: str
    entries: dict[str, Entry]


def header(ptx: str) -> Header | None:
    """Read a PTX text; None if it is none."""
    text = _COMMENT.sub(" ", ptx)
    version, target = _VERSION.search(text), _TARGET.search(text)
    if not version or not target:
        return None
    entries = {
        found[1]: Entry(
            tuple(_parameters(found[2] or "")), _block(found[3]), _WAIT in _body(text, found.end())
        )
        for found in _ENTRY.finditer(text)
    }
    return Header(PtxVersion.parse(version[1]), target[1], entries)


def _body(text: str, start: int) -> str:
    """What stands from a function's first brace on, up to the next function."""
    end = _FUNCTION.search(text, start)
    return text[start : end.start() if end else len(text)]


def _parameters(text: str) -> Iterator[Param]:
    for part in text.split(","):
        found = _PARAMETER.search(part)
        if found:
            align, type_, name, count = found.groups()
            type_ = type_ if type_ in TYPE_BITS else "b64"  # opaque, such as .texref
            bytes_ = TYPE_BITS[type_] // 8
            yield Param(name, type_, bytes_ * int(count or 1), int(align or bytes_))


def _block(directives: str) -> Extents | None:
    found = _REQUIRED.search(directives)
    if not found:
        return None
    x, y, z = (*map(int, found[1].split(",")), 1, 1)[:3]
    return x, y, z

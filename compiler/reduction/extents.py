"""Smaller types: tiles without layouts, and an extent halved wherever a program's text says it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

_TYPE = re.compile(r"(?:tensor|memref|vector)<[^<>]*")
_ENCODED = re.compile(r"(tensor<[^<>]*), #\w+(?=>)")
_BLOCK = re.compile(r"(known_block_size = array<i32: )(\d+)")


def extents(text: str) -> list[int]:
    """The extents of tiles and memory that a program speaks of, the largest first."""
    found = {
        int(part)
        for type_ in _TYPE.findall(text)
        for part in type_.partition("<")[2].split("x")[:-1]
        if part.isdigit()
    }
    return sorted((n for n in found if n > 1), reverse=True)


def smaller(text: str) -> Iterator[str]:
    """The program without layouts, with an extent halved everywhere, or half as many threads."""
    if _ENCODED.search(text):
        yield _ENCODED.sub(r"\g<1>", text)
    for extent in extents(text):
        for less in dict.fromkeys((1, 16 if extent > 16 else 1, extent // 2)):
            yield _TYPE.sub(partial(_with, extent=extent, less=less), text)
    block = _BLOCK.search(text)
    if block and int(block[2]) > 32:
        for threads in dict.fromkeys((32, int(block[2]) // 2)):
            yield _BLOCK.sub(rf"\g<1>{threads}", text)


def _with(found: re.Match[str], extent: int, less: int) -> str:
    head, _, inside = found.group().partition("<")
    new = [str(less) if part == str(extent) else part for part in inside.split("x")]
    return f"{head}<{'x'.join(new)}"

"""Short names of the dialect's long types and attributes, each told by what it stands for alone."""

from __future__ import annotations

import re
from functools import lru_cache
from zlib import crc32

_SHORT = 40
"""Characters that need no alias."""
_ATTRIBUTE = re.compile(r'#tile\.(\w+)<"?([^"]*)"?>')
_FRAGMENT = re.compile(r"!tile\.frag<tensor<(.*)>, (#tile\.\w+<.*>)>")
_BYTES = re.compile(r"!tile\.byte<(\w+)>")


@lru_cache(maxsize=4096)
def alias_of(spelling: str, digits: int = 4) -> str | None:
    """The alias of a type or attribute; None if it is short, or nothing is known of its kind.

    An operand's layout always has one, so that what stands after it keeps its column when it is
    written out.

    Args:
        spelling: as it is printed.
        digits: of the checksum that tells layouts without a name apart.

    Example:
        >>> alias_of("!tile.frag<tensor<16x8xf32>, #tile.operand<c, m16n8>>")
        '!c_16x8xf32'
    """
    if len(spelling) <= _SHORT and not spelling.startswith("#tile.operand"):
        return None
    if found := _FRAGMENT.fullmatch(spelling):
        return _fragment(found[1], found[2], digits)
    if found := _ATTRIBUTE.fullmatch(spelling):
        return f"#{_attribute(found[1], found[2], digits)}"
    kind = re.match(r"([#!])tile\.(\w+)", spelling)
    return f"{kind[1]}{kind[2]}_{_checksum(spelling, digits)}" if kind else None


def _fragment(tile: str, layout: str, digits: int) -> str:
    tile = _BYTES.sub(r"byte_\1", tile)
    tile = re.sub(r"\W", "_", tile)
    found = _ATTRIBUTE.fullmatch(layout)
    kind, inside = (found[1], found[2]) if found else ("frag", layout)
    if kind == "operand":
        return f"!{inside.partition(',')[0]}_{tile}"
    if "->" not in inside:
        words = "_".join(re.findall(r"\w+", inside))
        return f"!{words}_{tile}"
    return f"!frag_{tile}_{_checksum(inside, digits)}"


def _attribute(kind: str, inside: str, digits: int) -> str:
    if kind == "operand":
        return "_".join(word for word in re.findall(r"\w+", inside) if word != "warps")
    extents = "x".join(re.findall(r"\w+ (\d+)", inside.partition("->")[2]))
    return "_".join(filter(None, (kind, extents, _checksum(inside, digits))))


def _checksum(text: str, digits: int) -> str:
    return f"{crc32(text.encode()):08x}"[:digits]

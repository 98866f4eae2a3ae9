"""Fragments joined into one and cut apart again: registers named otherwise, none moved."""

from __future__ import annotations

from tilec.dialects.tile.emit import emit
from tilec.dialects.tile.ops import ConcatOp, SliceOp
from tilec.ir.aliases import Type, Value
from tilec.ir.attributes import i64_attribute


def join(parts: list[Value], whole: Type) -> Value:
    """One fragment of type `whole` from consecutive parts of it.

    A single part may still be of another type: a warp's part of a larger tile.
    """
    return parts[0] if parts[0].type == whole else emit(ConcatOp, parts, whole)


def cut(whole: Value, count: int, part: Type) -> list[Value]:
    """The `count` parts of a fragment, each of type `part`."""
    if whole.type == part:
        return [whole]
    return [emit(SliceOp, [whole], part, index=i64_attribute(number)) for number in range(count)]

"""Fragments joined into one and cut apart again: registers named otherwise, none moved."""

from __future__ import annotations

from typing import Any

from tilec.dialects.tile.emit import emit
from tilec.dialects.tile.ops import ConcatOp, SliceOp
from tilec.ir.mlir import ir


def join(parts: list[Any], whole: Any) -> Any:
    """One fragment of type `whole` from consecutive parts of it.

    A single part may still be of another type: a warp's part of a larger tile.
    """
    return parts[0] if parts[0].type == whole else emit(ConcatOp, parts, whole)


def cut(whole: Any, count: int, part: Any) -> list[Any]:
    """The `count` parts of a fragment, each of type `part`."""
    if whole.type == part:
        return [whole]
    i64 = ir.IntegerType.get_signless(64)
    return [
        emit(SliceOp, [whole], part, index=ir.IntegerAttr.get(i64, number))
        for number in range(count)
    ]

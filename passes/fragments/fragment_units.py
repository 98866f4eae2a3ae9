"""Tiles put together of units, and taken apart: lists of fragments, of which none is touched."""

from __future__ import annotations

from collections.abc import Mapping

from tilec.dialects.tile.ops import ConcatOp, SliceOp

from .expansion import Expansion, Handler, Values, lowers
from .fragment_types import FragmentTypes


class FragmentUnits:
    """The units of one kernel's tiles.

    Args:
        types: its tiles' fragments.
    """

    def __init__(self, types: FragmentTypes) -> None:
        self._types = types

    def handlers(self) -> Mapping[str, Handler]:
        """The handler of each op."""
        return dict([lowers(ConcatOp, self._concat), lowers(SliceOp, self._slice)])

    def _concat(self, op: ConcatOp, expansion: Expansion) -> list[Values] | None:
        if self._types.of(op.whole.type) is None:
            return None
        return [expansion.all(op.operation.operands)]

    def _slice(self, op: SliceOp, expansion: Expansion) -> list[Values] | None:
        types = self._types.of(op.part.type)
        if types is None:
            return None
        first = op.index.value * len(types)
        return [expansion.values(op.whole)[first : first + len(types)]]

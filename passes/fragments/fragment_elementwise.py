"""Fills, constants, elementwise ops and casts of tiles, fragment by fragment."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tilec.dialects.tile.emit import emit
from tilec.dialects.tile.ops import (
    CASTS,
    COMPARISONS,
    ELEMENTWISE,
    CastOp,
    ElementwiseOp,
    FillOp,
    SelectOp,
)
from tilec.dialects.tile.ops.base import TileOp
from tilec.ir.mlir import ir
from tilec.isa import TilecError

from ..emit import create
from .expansion import Expansion, Handler, Values
from .fragment_types import FragmentTypes


class FragmentElementwise:
    """What goes element by element, in one kernel."""

    def __init__(self, types: FragmentTypes) -> None:
        self._types = types

    def handlers(self) -> Mapping[str, Handler]:
        """The handler of each op."""
        return {
            **dict.fromkeys((*ELEMENTWISE, *COMPARISONS), self._elementwise),
            **dict.fromkeys(CASTS, self._cast),
            "arith.constant": self._constant,
            "arith.select": self._select,
            "tile.fill": self._fill,
        }

    def _fill(self, op: Any, _: Expansion) -> list[Values] | None:
        types = self._types.of(op.results[0].type)
        if types is None:
            return None
        filled = emit(FillOp, [op.operands[0]], types[0])
        return [[filled] * len(types)]

    def _constant(self, op: Any, _: Expansion) -> list[Values] | None:
        types = self._types.of(op.results[0].type)
        if types is None:
            return None
        value = op.attributes["value"]
        if not value.is_splat:
            raise TilecError("of a tile must be the same number everywhere (a splat)")
        element = op.results[0].type.element_type
        scalar = create("arith.constant", [], element, value=value.get_splat_value())
        return [[emit(FillOp, [scalar], types[0])] * len(types)]

    def _elementwise(self, op: Any, expansion: Expansion) -> list[Values] | None:
        return self._apply(op, expansion, ElementwiseOp)

    def _cast(self, op: Any, expansion: Expansion) -> list[Values] | None:
        return self._apply(op, expansion, CastOp)

    def _apply(self, op: Any, expansion: Expansion, kind: type[TileOp]) -> list[Values] | None:
        types = self._types.of(op.results[0].type)
        if types is None:
            return None
        operation = op.operation
        attributes = {a: operation.attributes[a] for a in operation.attributes}
        attributes["fn"] = ir.StringAttr.get(operation.name)
        inputs = [expansion.values(v) for v in operation.operands]
        if any(len(values) != len(types) for values in inputs):
            raise TilecError("changes the layout: convert it first")
        return [
            [
                emit(kind, list(parts), type_, **attributes)
                for *parts, type_ in zip(*inputs, types, strict=True)
            ]
        ]

    def _select(self, op: Any, expansion: Expansion) -> list[Values] | None:
        types = self._types.of(op.results[0].type)
        if types is None:
            return None
        conditions, *values = (expansion.values(v) for v in op.operands)
        if len(conditions) == 1:
            conditions = conditions * len(types)
        inputs = zip(conditions, *values, types, strict=True)
        return [[emit(SelectOp, list(three), type_) for *three, type_ in inputs]]

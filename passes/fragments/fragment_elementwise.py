"""Fills, constants, elementwise ops and casts of tiles, fragment by fragment."""

from __future__ import annotations

from collections.abc import Mapping

from tilec.dialects.tile.emit import emit, emit_all
from tilec.dialects.tile.ops import (
    CASTS,
    COMPARISONS,
    ELEMENTWISE,
    CastOp,
    ElementwiseOp,
    FillOp,
    InlineAsmOp,
    InlineAsmVolatileOp,
    SelectOp,
)
from tilec.dialects.tile.ops.base import TileOp
from tilec.ir.attributes import attribute
from tilec.ir.mlir import ir
from tilec.ir.ops import arith
from tilec.ir.types import element_of
from tilec.isa import TilecError

from .expansion import Expansion, Handler, Values, lowers
from .fragment_types import FragmentTypes


class FragmentElementwise:
    """What goes element by element, in one kernel."""

    def __init__(self, types: FragmentTypes) -> None:
        self._types = types

    def handlers(self) -> Mapping[str, Handler]:
        """The handler of each op."""
        return {
            **dict.fromkeys((*ELEMENTWISE, *COMPARISONS), self._elementwise),
            **dict.fromkeys((*CASTS, CastOp.OPERATION_NAME), self._cast),
            "arith.constant": self._constant,
            "arith.select": self._select,
            **dict(
                (
                    lowers(FillOp, self._fill),
                    lowers(InlineAsmOp, self._assembly),
                    lowers(InlineAsmVolatileOp, self._assembly),
                )
            ),
        }

    def _fill(self, op: FillOp, _: Expansion) -> list[Values] | None:
        types = self._types.of(op.results[0].type)
        if types is None:
            return None
        filled = emit(FillOp, [op.value], types[0])
        return [[filled] * len(types)]

    def _constant(self, op: ir.OpView, _: Expansion) -> list[Values] | None:
        types = self._types.of(op.results[0].type)
        if types is None:
            return None
        value = attribute(op, "value", ir.DenseElementsAttr)
        if not value.is_splat:
            raise TilecError("of a tile must be the same number everywhere (a splat)")
        scalar = arith.constant(element_of(op.results[0].type), value.get_splat_value())
        return [[emit(FillOp, [scalar], types[0])] * len(types)]

    def _elementwise(self, op: ir.OpView, expansion: Expansion) -> list[Values] | None:
        return self._apply(op, expansion, ElementwiseOp)

    def _cast(self, op: ir.OpView, expansion: Expansion) -> list[Values] | None:
        return self._apply(op, expansion, CastOp)

    def _apply(
        self, op: ir.OpView, expansion: Expansion, kind: type[TileOp]
    ) -> list[Values] | None:
        types = self._types.of(op.results[0].type)
        if types is None:
            return None
        operation = op.operation
        attributes = {a: operation.attributes[a] for a in operation.attributes}
        attributes.setdefault("fn", ir.StringAttr.get(operation.name))
        inputs = [expansion.values(v) for v in operation.operands]
        if any(len(values) != len(types) for values in inputs):
            raise TilecError("changes the layout: convert it first")
        return [
            [
                emit(kind, list(parts), type_, **attributes)
                for *parts, type_ in zip(*inputs, types, strict=True)
            ]
        ]

    def _assembly(
        self, op: InlineAsmOp | InlineAsmVolatileOp, expansion: Expansion
    ) -> list[Values] | None:
        each = [self._types.of(result.type) or [] for result in op.results]
        if not each[0]:
            return None
        attributes = {name: op.attributes[name] for name in op.attributes}
        inputs = [expansion.values(value) for value in op.operands]
        made = [
            emit_all(type(op), parts, types, attributes)
            for parts, types in zip(zip(*inputs, strict=True), zip(*each, strict=True), strict=True)
        ]
        return [list(values) for values in zip(*made, strict=True)]

    def _select(self, op: ir.OpView, expansion: Expansion) -> list[Values] | None:
        types = self._types.of(op.results[0].type)
        if types is None:
            return None
        conditions, *values = (expansion.values(v) for v in op.operands)
        if len(conditions) == 1:
            conditions = conditions * len(types)
        inputs = zip(conditions, *values, types, strict=True)
        return [[emit(SelectOp, list(three), type_) for *three, type_ in inputs]]

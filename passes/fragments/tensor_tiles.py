"""Loads and stores of whole accumulators in tensor memory, fragment by fragment."""

from __future__ import annotations

from tilec.dialects.tile.emit import emit, emit_all, emit_effect
from tilec.dialects.tile.ops import (
    Tcgen05LdOp,
    Tcgen05StOp,
    Tcgen05WaitLdOp,
    Tcgen05WaitStOp,
    TensorLoadOp,
    TensorStoreOp,
)
from tilec.dialects.tile.ops.tensor_dot import AccumulatorMoveOp
from tilec.ir.aliases import Value
from tilec.ir.mlir import ir
from tilec.ir.ops import arith

from ..emit import add_constant, index_constant, linear
from ..thread_index import ThreadIndex
from .expansion import Expansion, Handler, Values, lowers
from .fragment_types import FragmentTypes


class TensorTiles:
    """`tile.tensor_load`s and `tile.tensor_store`s of one kernel."""

    def __init__(self, types: FragmentTypes, thread: ThreadIndex) -> None:
        self._types = types
        self._thread = thread

    def handlers(self) -> dict[str, Handler]:
        """By op name."""
        return dict([lowers(TensorLoadOp, self._load), lowers(TensorStoreOp, self._store)])

    def _load(self, op: TensorLoadOp, _: Expansion) -> list[Values]:
        """A load for each fragment, and one wait for all."""
        form = self._form(op, store=False)
        types = self._types.of(op.tile.type) or []
        loaded = [
            emit(Tcgen05LdOp, [op.source, *at], type_, form=form)
            for type_, at in zip(types, self._places(op), strict=True)
        ]
        return [emit_all(Tcgen05WaitLdOp, loaded, types, {})]

    def _store(self, op: TensorStoreOp, expansion: Expansion) -> list[Values]:
        """A store for each fragment, and one wait for all."""
        form = self._form(op, store=True)
        for value, at in zip(expansion.values(op.tile), self._places(op), strict=True):
            emit_effect(Tcgen05StOp, [value, op.target, *at], form=form)
        emit_effect(Tcgen05WaitStOp)
        return []

    def _form(self, op: AccumulatorMoveOp, *, store: bool) -> ir.StringAttr:
        """What moves a fragment: less than a warp could at once, if a product has smaller ones."""
        tile = self._types.tile(op.held.type)
        assert tile is not None
        _, columns = self._types.parts(tile).unit.out_sizes.values()
        return ir.StringAttr.get(op.move(columns, store=store))

    def _places(self, op: AccumulatorMoveOp) -> list[list[Value]]:
        """Of each fragment the matrix, and the row and column in that; the accumulator first."""
        stages = list(op.operands)[op.FIXED :]
        tile = self._types.tile(op.held.type)
        assert tile is not None
        parts = self._types.parts(tile)
        row, col = linear(parts.warps, "warp", self._thread.warp)
        _, _, rows, cols = op.matrices
        m, row = _split(row, rows)
        n, col = _split(col, cols)
        found = []
        for number in range(parts.count):
            place = parts.repeats(register=number)
            (more_m, down), (more_n, right) = divmod(place[0], rows), divmod(place[1], cols)
            found.append(
                [
                    *stages,
                    add_constant(m, more_m),
                    add_constant(n, more_n),
                    add_constant(row, down),
                    add_constant(col, right),
                ]
            )
        return found


def _split(index: Value, size: int) -> tuple[Value, Value]:
    """The matrix that a row or column lies in, and its place in that; sizes are powers of two."""
    return (
        arith.divui(index, index_constant(size)),
        arith.remui(index, index_constant(size)),
    )

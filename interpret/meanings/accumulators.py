"""Loads and stores of the whole accumulator of a product of tiles in tensor memory."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from tilec.dialects.tile.ops.tensor_dot import AccumulatorMoveOp
from tilec.dialects.tile.tensor_dots import QUARTERS
from tilec.interpret.call import Call
from tilec.interpret.memory import dtype_of
from tilec.interpret.numbers import Array
from tilec.interpret.registry import meaning
from tilec.interpret.tensor import Elements, TensorView, elements
from tilec.interpret.touches import Touch

_Piece = tuple[int, Elements, slice, slice]
"""A warp, what it reaches of a matrix, and the rows and columns of the tile that this is."""


def _pieces(call: Call, view: TensorView, stage: tuple[Array, ...]) -> Iterator[_Piece]:
    """What each warp moves: of each of its matrices the rows in its quarter of the lanes."""
    op = call.op
    assert isinstance(op, AccumulatorMoveOp)
    grid = call.fact("grid", lambda: op.grid)
    along, across, rows, cols = call.fact("matrices", lambda: op.matrices)
    before = int(stage[0].flat[0]) * along * across if stage else 0
    share, groups = rows // QUARTERS, grid[0] // QUARTERS
    columns = across * cols // grid[1]
    for warp in np.flatnonzero(call.warps).tolist():
        group, quarter = divmod(warp, QUARTERS)
        left = group // groups * columns
        for m in range(group % groups, along, groups):
            for n in range(across):
                first, last = max(left, n * cols), min(left + columns, (n + 1) * cols)
                if first >= last:
                    continue
                own = slice(quarter * share, (quarter + 1) * share)
                found = elements(
                    view, before + m * across + n, own, slice(first - n * cols, last - n * cols)
                )
                top = m * rows
                yield warp, found, slice(top + own.start, top + own.stop), slice(first, last)


@meaning("tile.tensor_load", meets=True)
def _load(call: Call, view: TensorView, *stage: Array) -> Array:
    type_ = call.result_type()
    tile = call.tile(type_)
    assert tile is not None
    found = np.zeros(tile.shape, dtype_of(call.number(type_), call.arithmetic))
    for warp, part, rows, cols in _pieces(call, view, stage):
        found[rows, cols] = call.cta.tensor.load(part, warp, call.arithmetic, call.report)
    _wait(call, Touch.READ)
    return found


@meaning("tile.tensor_store", meets=True)
def _store(call: Call, values: Array, view: TensorView, *stage: Array) -> None:
    for warp, part, rows, cols in _pieces(call, view, stage):
        call.cta.tensor.store(part, values[rows, cols], warp, call.arithmetic, call.report)
    _wait(call, Touch.WRITE)


def _wait(call: Call, kind: Touch) -> None:
    for warp in np.flatnonzero(call.warps).tolist():
        call.cta.tensor.wait(kind, warp)

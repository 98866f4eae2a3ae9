"""Walks of MLIR's that let through what a visitor raises."""

from __future__ import annotations

from collections.abc import Callable

from .mlir import ir


def visit(
    op: ir.Operation,
    look: Callable[[ir.Operation], ir.WalkResult],
    order: ir.WalkOrder = ir.WalkOrder.POST_ORDER,
) -> None:
    """Call `look` with `op` and with each operation inside it, as `ir.Operation`s.

    MLIR makes a `RuntimeError` of whatever its visitor raises, which says that memory is short, or
    Ctrl-C was pressed, in the traceback in its message alone. Here that ends the walk as it is.

    Args:
        op: where to begin.
        look: says by its result whether to go on, and whether into what it was given.
        order: parents before what they hold, or behind it.
    """
    raised: list[BaseException] = []

    def guarded(inner: ir.Operation) -> ir.WalkResult:
        try:
            return look(inner)
        except BaseException as error:
            raised.append(error)
            return ir.WalkResult.INTERRUPT

    op.walk(guarded, order)
    if raised:
        raise raised.pop()

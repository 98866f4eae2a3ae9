"""Erasing an op whose results are used, which MLIR answers by a crash, somewhere, later."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from tilec.ir.aliases import Op
from tilec.ir.mlir import ir, rewrite


@cache
def refuse_uses() -> None:
    """Have `erase` and `erase_op` of the bindings refuse ops that have uses, in this process.

    It is for the passes of others: tilec's own are tested.
    """
    for kind in (ir.Operation, ir.OpView):
        setattr(kind, "erase", _checked(kind.erase))  # noqa: B010 (a class of the bindings)
    rewriter = rewrite.PatternRewriter
    setattr(rewriter, "erase_op", _checked_by_rewriter(rewriter.erase_op))  # noqa: B010


def _checked(erase: Callable[[Op], None]) -> Callable[[Op], None]:
    def checked(op: Op) -> None:
        _check(op.operation)
        erase(op)

    return checked


def _checked_by_rewriter(
    erase: Callable[[rewrite.PatternRewriter, Op], None],
) -> Callable[[rewrite.PatternRewriter, Op], None]:
    def checked(rewriter: rewrite.PatternRewriter, op: Op) -> None:
        _check(op.operation)
        erase(rewriter, op)

    return checked


def _check(op: ir.Operation) -> None:
    """Refuse to erase an op whose results are used.

    Raises:
        ValueError: if one is.
    """
    for number, result in enumerate(op.results):
        for use in result.uses:
            raise ValueError(
                f"'{op.name}' cannot be erased: its result {number} is used by "
                f"'{use.owner.operation.name}'; replace or erase the uses first"
            )

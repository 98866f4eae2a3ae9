"""Erasing an op whose results are used, which MLIR answers by a crash, somewhere, later."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, wraps
from typing import Concatenate, ParamSpec

from tilec.ir.aliases import Op
from tilec.ir.mlir import ir, rewrite

P = ParamSpec("P")


@cache
def refuse_uses() -> None:
    """Have `erase` and `erase_op` of the bindings refuse ops that have uses, in this process.

    It is for the passes of others: tilec's own are tested.
    """
    for kind in (ir.Operation, ir.OpView):
        kind.erase = _checked(kind.erase)  # type: ignore[method-assign]
    rewriter = rewrite.PatternRewriter
    rewriter.erase_op = _checked_rewrite(rewriter.erase_op)  # type: ignore[method-assign]


def _checked(erase: Callable[Concatenate[Op, P], None]) -> Callable[Concatenate[Op, P], None]:
    @wraps(erase)
    def checked(op: Op, *args: P.args, **kwargs: P.kwargs) -> None:
        _check(op.operation)
        erase(op, *args, **kwargs)

    return checked


def _checked_rewrite(
    erase: Callable[[rewrite.PatternRewriter, Op], None],
) -> Callable[[rewrite.PatternRewriter, Op], None]:
    @wraps(erase)
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

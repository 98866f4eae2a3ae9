"""Finding a few operations among many: MLIR compares the names, not Python."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tilec.ir.mlir import rewrite


def named(root: Any, names: Iterable[str]) -> list[Any]:
    """The operations inside `root` that have one of these names, as `ir.Operation`.

    Blocks that nothing reaches are left out, which no conversion of upstream looks at either.
    """
    found: list[Any] = []

    def look(op: Any, rewriter: Any) -> bool:
        del rewriter
        found.append(op.operation)
        return True  # no match: nothing is rewritten

    with root.context:
        patterns = rewrite.RewritePatternSet()
        for name in set(names):
            patterns.add(name, look)
        rewrite.walk_and_apply_patterns(root.operation, patterns.freeze())
    return found

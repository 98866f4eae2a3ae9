"""Finding a few operations among many: MLIR compares the names, not Python."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeVar

from tilec.ir.aliases import Op
from tilec.ir.mlir import ir, rewrite

OpClass = TypeVar("OpClass", bound=ir.OpView)


def named(root: Op, names: Iterable[str | type[ir.OpView]]) -> list[ir.Operation]:
    """The operations inside `root` of these classes or names, as `ir.Operation`, in program order.

    Of a class that is not an op itself those of its subclasses.

    Blocks that nothing reaches are left out, which no conversion of upstream looks at either.
    """
    found: list[ir.Operation] = []

    def look(op: ir.OpView, rewriter: rewrite.PatternRewriter) -> bool:
        del rewriter
        found.append(op.operation)
        return True  # no match: nothing is rewritten

    with root.context:
        patterns = rewrite.RewritePatternSet()
        for name in {name for kind in names for name in _names_of(kind)}:
            patterns.add(name, look)
        rewrite.walk_and_apply_patterns(root.operation, patterns.freeze())
    return found


def ops_of(root: Op, kind: type[OpClass]) -> list[OpClass]:
    """The operations inside `root` of a class, in program order."""
    views = (op.opview for op in named(root, [kind]))
    return [view for view in views if isinstance(view, kind)]


def _names_of(kind: str | type[ir.OpView]) -> Iterator[str]:
    """The names of the ops of a class."""
    if isinstance(kind, str):
        yield kind
    elif name := getattr(kind, "OPERATION_NAME", None):
        yield name
    else:
        for inner in kind.__subclasses__():
            yield from _names_of(inner)


def defining_op(value: ir.Value, kind: type[OpClass]) -> OpClass | None:
    """The op of a class that gives `value`; None if it comes from elsewhere."""
    owner = value.owner
    if isinstance(owner, ir.Block):
        return None
    op = owner.opview
    return op if isinstance(op, kind) else None

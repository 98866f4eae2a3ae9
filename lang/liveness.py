"""Which names a function reads after each statement: what its loops and branches must hand on."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from typing import NamedTuple

Names = frozenset[str]
_NONE: Names = frozenset()


class _Loop(NamedTuple):
    """What is read after `break` and after `continue`."""

    left: Names
    again: Names


class Liveness:
    """Names read after each statement of a function."""

    def __init__(self, tree: ast.FunctionDef) -> None:
        self._after: dict[int, Names] = {}
        self._entry: dict[int, Names] = {}
        self._block(tree.body, _NONE, _Loop(_NONE, _NONE))

    def after(self, statement: ast.stmt) -> Names:
        """The names that are read, before they are assigned again, after `statement`."""
        return self._after.get(id(statement), _NONE)

    def entry(self, loop: ast.For | ast.While) -> Names:
        """The names that are read, before they are assigned, in a turn of `loop` or after it."""
        return self._entry.get(id(loop), _NONE)

    def _block(self, body: Sequence[ast.stmt], live: Names, loop: _Loop) -> Names:
        for statement in reversed(body):
            self._after[id(statement)] = live
            live = self._statement(statement, live, loop)
        return live

    def _statement(self, node: ast.stmt, live: Names, loop: _Loop) -> Names:
        match node:
            case ast.If():
                branches = self._block(node.body, live, loop) | self._block(node.orelse, live, loop)
                return branches | read(node.test)
            case ast.For() | ast.While():
                return self._loop(node, live)
            case ast.Return():
                return read(node.value) if node.value else _NONE
            case ast.Break():
                return loop.left
            case ast.Continue():
                return loop.again
        return (live - assigned([node])) | read(node)

    def _loop(self, node: ast.For | ast.While, live: Names) -> Names:
        head = read(node.test) if isinstance(node, ast.While) else _NONE
        bound = assigned([node.target]) if isinstance(node, ast.For) else _NONE
        again = live | head
        for _ in range(2):  # the second time, a turn knows what the next reads
            inside = self._block(node.body, again, _Loop(live, again)) - bound
            again = again | inside
        self._entry[id(node)] = again
        return again | (read(node.iter) if isinstance(node, ast.For) else _NONE)


def read(node: ast.AST) -> Names:
    """The names that a node reads."""
    found = {
        n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)
    }
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
        found.add(node.target.id)
    return frozenset(found)


def assigned(nodes: Iterable[ast.AST]) -> Names:
    """The names that nodes assign."""
    return frozenset(
        n.id
        for node in nodes
        for n in ast.walk(node)
        if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
    )


def local_names(body: Iterable[ast.stmt]) -> frozenset[str]:
    """The names that are local to a function with these statements, beside its parameters.

    The variables of comprehensions are not: they are the comprehension's own.
    """
    found = _LocalNames()
    for statement in body:
        found.visit(statement)
    return frozenset(found.names)


class _LocalNames(ast.NodeVisitor):
    def __init__(self) -> None:
        self.names: set[str] = set()

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Store):
            self.names.add(node.id)

    def visit_comprehension(self, node: ast.comprehension) -> None:
        for part in (node.iter, *node.ifs):
            self.visit(part)

"""Python's operators that cannot be overloaded, as calls that can see the kernel's values.

`a and b`, `a or b`, `not a`, `a if c else b` and `a < b < c` ask for a truth value at once. Here
they become calls, their parts wrapped so that only those are evaluated that Python would. Where
nothing but the truth of `a and b` matters, as after `if`, the call is another one: its parts may
be of several types.
"""

from __future__ import annotations

import ast
from typing import TypeVar

T = TypeVar("T", bound=ast.AST)

AND, OR, NOT, CHOICE = "__tilec_and", "__tilec_or", "__tilec_not", "__tilec_choice"
ALL, ANY = "__tilec_all", "__tilec_any"
"""`and` and `or` of which the truth alone matters."""


def rewrite(tree: ast.FunctionDef) -> ast.FunctionDef:
    """The function with such expressions rewritten and early returns made branches."""
    for statement in tree.body:
        _Conditions().visit(statement)
    tree.body = _branches(tree.body)
    return ast.fix_missing_locations(tree)


class _Conditions(ast.NodeTransformer):
    def __init__(self) -> None:
        self._tests: set[ast.expr] = set()  # conditions, of which the truth alone matters

    def visit_If(self, node: ast.If) -> ast.stmt:
        return self._tested(node)

    def visit_While(self, node: ast.While) -> ast.stmt:
        return self._tested(node)

    def visit_Assert(self, node: ast.Assert) -> ast.stmt:
        return self._tested(node)

    def _tested(self, node: ast.If | ast.While | ast.Assert) -> ast.stmt:
        self._tests.add(node.test)
        self.generic_visit(node)
        return node

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        is_test = node in self._tests
        if is_test:
            self._tests.update(node.values)
        self.generic_visit(node)
        values, truths = (AND, ALL) if isinstance(node.op, ast.And) else (OR, ANY)
        name = truths if is_test else values
        return _call(name, [node.values[0], *map(_later, node.values[1:])], node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        is_not = isinstance(node.op, ast.Not)
        if is_not:
            self._tests.add(node.operand)
        self.generic_visit(node)
        return _call(NOT, [node.operand], node) if is_not else node

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        self._tests.add(node.test)
        self.generic_visit(node)
        return _call(CHOICE, [node.test, _later(node.body), _later(node.orelse)], node)

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        self.generic_visit(node)
        if len(node.ops) == 1:
            return node
        operands = [node.left, *node.comparators]
        pairs: list[ast.expr] = [
            _at(node, ast.Compare(operands[at], [op], [operands[at + 1]]))
            for at, op in enumerate(node.ops)
        ]
        return _call(AND, [pairs[0], *map(_later, pairs[1:])], node)


def _later(node: ast.expr) -> ast.expr:
    empty = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
    return _at(node, ast.Lambda(empty, node))


def _call(name: str, arguments: list[ast.expr], node: ast.expr) -> ast.expr:
    return _at(node, ast.Call(_at(node, ast.Name(name, ast.Load())), arguments, []))


def _at(node: ast.AST, made: T) -> T:
    return ast.copy_location(made, node)


def _branches(body: list[ast.stmt]) -> list[ast.stmt]:
    """`if c: return` and what follows, as `if c: return` with an `else`.

    So a condition of the kernel that leaves a function or a loop in one branch needs no other
    after it. The same goes for `break` and `continue`.
    """
    for at, statement in enumerate(body):
        if isinstance(statement, ast.For | ast.While):
            statement.body = _branches(statement.body)
        if not isinstance(statement, ast.If):
            continue
        statement.body = _branches(statement.body)
        statement.orelse = _branches(statement.orelse)
        rest = body[at + 1 :]
        one, other = _leaves(statement.body), _leaves(statement.orelse)
        if rest and one != other:
            if one:
                statement.orelse = _branches([*statement.orelse, *rest])
            else:
                statement.body = _branches([*statement.body, *rest])
            return body[: at + 1]
    return body


def _leaves(body: list[ast.stmt]) -> bool:
    """Whether what stands after a block is never reached from it."""
    if not body:
        return False
    last = body[-1]
    if isinstance(last, ast.If):
        return _leaves(last.body) and _leaves(last.orelse)
    return isinstance(last, ast.Return | ast.Raise | ast.Break | ast.Continue)

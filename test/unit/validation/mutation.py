"""Passes of tilec with one thing changed: an operator, a number, a condition, a dropped call.

A mutant is the name of a function, what stood at a place in it, and what stands there instead. It
is put into effect by giving the function other code, so that whoever holds it executes that.
"""

from __future__ import annotations
import __future__

import ast
import copy
import importlib
import inspect
import random
import sys
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import CodeType, FunctionType
from typing import Any, NamedTuple


class Mutant(NamedTuple):
    """A change of a function.

    Attributes:
        seed: that it comes from.
        function: module and qualified name, parted by a colon.
        place: the number of the changed node, in the order of `ast.walk`.
        old, new: what stands there without and with it, as text.
    """

    seed: int
    function: str
    place: int
    old: str
    new: str


_COMPARED = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
_BINARY = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}


def _changed(node: ast.AST) -> Iterator[ast.AST]:
    """What may stand in place of a node."""
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in _COMPARED:
        yield ast.Compare(node.left, [_COMPARED[type(node.ops[0])]()], node.comparators)
    if isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
        yield ast.BinOp(node.left, _BINARY[type(node.op)](), node.right)
    if isinstance(node, ast.BoolOp):
        yield ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield node.operand
    if isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield ast.Constant(not node.value)
    elif isinstance(node, ast.Constant) and isinstance(node.value, int):
        yield ast.Constant(node.value + 1)
    if isinstance(node, ast.IfExp):
        yield node.orelse
        yield node.body
    if isinstance(node, ast.If):
        yield ast.If(ast.Constant(True), node.body, node.orelse)
        yield ast.If(ast.Constant(False), node.body, node.orelse)
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        yield ast.Pass()
    if isinstance(node, ast.Call) and len(node.args) == 2 and not node.keywords:
        yield ast.Call(node.func, node.args[::-1], [])


def _tree(function: FunctionType) -> ast.Module:
    return ast.parse(textwrap.dedent(inspect.getsource(function)))


def mutants(function: str) -> list[tuple[int, str, str]]:
    """Every change of a function: the place, and what stands there without and with it."""
    tree = _tree(find(function))
    return [
        (place, ast.unparse(node), ast.unparse(ast.fix_missing_locations(new)))
        for place, node in enumerate(ast.walk(tree))
        for new in _changed(node)
    ]


def find(function: str) -> FunctionType:
    """The function of a name."""
    module, _, name = function.partition(":")
    found: Any = importlib.import_module(module)
    for part in name.split("."):
        found = found.__dict__[part] if isinstance(found, type) else getattr(found, part)
    assert isinstance(found, FunctionType)
    return found


def draw(seed: int, functions: list[str]) -> Mutant | None:
    """The mutant of a seed; None if the function has nothing to change."""
    chosen = random.Random(seed)
    function = chosen.choice(functions)
    found = mutants(function)
    return Mutant(seed, function, *chosen.choice(found)) if found else None


def _code(mutant: Mutant) -> CodeType:
    """What the mutant executes.

    Raises:
        LookupError: if the function is not any more what it was.
    """
    function = find(mutant.function)
    tree = _tree(function)
    nodes = list(ast.walk(tree))
    if mutant.place >= len(nodes) or ast.unparse(nodes[mutant.place]) != mutant.old:
        raise LookupError(f"{mutant.function} has no '{mutant.old}' at {mutant.place}")
    node = nodes[mutant.place]
    new = next(n for n in _changed(node) if ast.unparse(n) == mutant.new)
    replaced = _Replace(node, copy.deepcopy(new)).visit(tree)
    replaced.body[0].decorator_list = []
    ast.fix_missing_locations(replaced)
    # With the annotations that all modules of tilec postpone.
    whole = compile(
        replaced,
        f"<{mutant.function}>",
        "exec",
        __future__.annotations.compiler_flag,
        dont_inherit=True,
    )
    (code,) = [c for c in whole.co_consts if isinstance(c, CodeType)]
    return code


class _Replace(ast.NodeTransformer):
    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self._old, self._new = old, new

    def visit(self, node: ast.AST) -> Any:
        return self._new if node is self._old else super().visit(node)


@contextmanager
def applied(mutant: Mutant) -> Iterator[None]:
    """The mutant instead of the function."""
    function, code = find(mutant.function), _code(mutant)
    kept = function.__code__
    function.__code__ = code
    try:
        yield
    finally:
        function.__code__ = kept


def executed(act: Callable[[], object], package: str = "tilec.passes") -> list[str]:
    """The functions of a package that something executes, and that may be changed."""
    codes: set[CodeType] = set()

    def profile(frame: Any, event: str, _: Any) -> None:
        if event == "call" and frame.f_globals.get("__name__", "").startswith(package):
            codes.add(frame.f_code)

    sys.setprofile(profile)
    try:
        act()
    finally:
        sys.setprofile(None)
    found = set()
    for name, module in list(sys.modules.items()):
        if not name.startswith(package):
            continue
        for owner in (module, *(v for v in vars(module).values() if isinstance(v, type))):
            for value in list(vars(owner).values()):
                plain = isinstance(value, FunctionType) and value.__module__ == name
                if plain and value.__code__ in codes and not value.__code__.co_freevars:
                    found.add(f"{name}:{value.__qualname__}")
    return sorted(one for one in found if "<" not in one and _is_plain(one))


def _is_plain(function: str) -> bool:
    """Whether it is found by its name, and what is read there is what is executed."""
    try:
        tree = _tree(find(function))
    except (AssertionError, AttributeError, KeyError, OSError, SyntaxError):
        return False
    return len(tree.body) == 1 and not tree.body[0].decorator_list  # type: ignore[attr-defined]

"""A function's Python as a syntax tree whose places are those of its file."""

from __future__ import annotations

import ast
import inspect
import linecache
from collections.abc import Callable
from copy import copy
from types import CodeType, FunctionType
from typing import Any

from tilec.isa import TilecError
from tilec.isa.lazy import cached_property
from tilec.report.diagnostics import Place

from .errors import KernelError
from .liveness import Liveness, local_names
from .liveness import read as names_read
from .rewriting import rewrite
from .syntax import check

_DEEPEST = 256
"""Levels of a function's syntax tree; 1,000 calls fill Python's stack, and a level takes three."""


class FunctionSource:
    """The Python of a function.

    Attributes:
        function: the function.
        file: what it is in.
        text: its definition as it stands there, with decorators.
        tree: its definition, with conditional expressions rewritten.
    """

    def __init__(self, function: FunctionType, file: str, text: str, tree: ast.FunctionDef) -> None:
        self.function = function
        self.file = file
        self.text = text
        self.tree = tree
        self._compiled: dict[ast.AST, tuple[CodeType, frozenset[str]]] = {}

    def compiled(self, key: ast.AST, node: ast.expr) -> tuple[CodeType, frozenset[str]]:
        """An expression's code and the names that it reads, found again by the part `key`."""
        if key not in self._compiled:
            code = compile(ast.Expression(node), self.file, "eval", dont_inherit=True)
            self._compiled[key] = code, names_read(node)
        return self._compiled[key]

    @cached_property
    def liveness(self) -> Liveness:
        """Which names are read after each statement."""
        return Liveness(self.tree)

    @cached_property
    def code(self) -> CodeType:
        """Its statements as Python compiles them: names from outside are globals there."""
        bare = copy(self.tree)
        bare.decorator_list, bare.returns = [], None
        module = compile(ast.Module([bare], []), self.file, "exec", dont_inherit=True)
        codes = (const for const in module.co_consts if isinstance(const, CodeType))
        return next(code for code in codes if code.co_name == self.tree.name)

    @cached_property
    def variables(self) -> frozenset[str]:
        """The names that are its own: those that it assigns, parameters left out."""
        return local_names(self.tree.body)

    @cached_property
    def local(self) -> tuple[str, ...]:
        """The names of its parameters and variables, in no order."""
        code = self.function.__code__
        return *code.co_varnames, *code.co_cellvars

    @property
    def first_line(self) -> int:
        """The line of its first decorator, or of its definition."""
        return self.function.__code__.co_firstlineno

    @property
    def place(self) -> Place:
        """Where the definition is."""
        return Place(self.file, self.tree.lineno, self.tree.col_offset + 1)

    def place_of(self, parameter: str) -> Place:
        """Where a parameter is."""
        arguments = self.tree.args
        nodes = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        node = next(node for node in nodes if node.arg == parameter)
        return Place(self.file, node.lineno, node.col_offset + 1)


def _beginning(function: FunctionType) -> Place:
    """Where a function begins."""
    code = function.__code__
    return Place(code.co_filename, code.co_firstlineno, 1)


def text_of(code: CodeType) -> str:
    """The source of a function, with its decorators; as `inspect.getsource`, but at once.

    Raises:
        OSError: if it cannot be read.
    """
    linecache.checkcache(code.co_filename)
    lines = linecache.getlines(code.co_filename)[code.co_firstlineno - 1 :]
    if not lines:
        raise OSError
    return "".join(inspect.getblock(lines))


def read(function: Callable[..., Any]) -> FunctionSource:
    """The source of a function that is to run in a kernel.

    Raises:
        KernelError: if it cannot be read, or uses what kernels cannot.
        TilecError: if it is none.
    """
    if not isinstance(function, FunctionType):
        raise TilecError(f"a kernel is a function defined by def, not {function!r}")
    place = _beginning(function)
    if function.__name__ == "<lambda>":
        raise KernelError(place, "a kernel is defined by def, not lambda")
    code = function.__code__
    try:
        text = text_of(code)
    except (OSError, SyntaxError):
        raise KernelError(
            place,
            f"the source of '{function.__name__}' cannot be read; kernels are compiled from it: "
            "define it in a file or a notebook's cell, not by exec or at a prompt",
        ) from None
    tree = _definition(text, code.co_firstlineno, function.__name__, place)
    _check_depth(tree, place)
    check(tree, place.file)
    return FunctionSource(function, place.file, text, rewrite(tree))


def _check_depth(tree: ast.AST, place: Place) -> None:
    """See that what walks the tree, each level on Python's stack, finds its end.

    Raises:
        KernelError: if expressions or statements nest too deep.
    """
    level, at = [tree], place
    for _ in range(_DEEPEST):
        level = [child for node in level for child in ast.iter_child_nodes(node)]
        if not level:
            return
        placed = next((one for one in level if isinstance(one, ast.expr | ast.stmt)), None)
        if placed is not None:
            at = Place(place.file, placed.lineno, placed.col_offset + 1)
    raise KernelError(at, f"expressions and statements nest more than {_DEEPEST} deep")


def _definition(text: str, first: int, name: str, place: Place) -> ast.FunctionDef:
    indented = text[:1].isspace()
    try:
        module = ast.parse(f"if True:\n{text}" if indented else text)
    except SyntaxError:
        module = ast.Module([], [])
    ast.increment_lineno(module, first - 1 - indented)
    for node in ast.walk(module):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == name:
            if isinstance(node, ast.AsyncFunctionDef):
                raise KernelError(place, "a kernel is defined by def, not async def")
            return node
    raise KernelError(
        place, f"the source of '{name}' has changed since it was defined; define it again"
    )

"""Runs a function's statements while a kernel is compiled.

Statements are read from the syntax tree; expressions are Python's own to evaluate. So whatever is
known at compile time is plain Python, and conditions and loops of the kernel become `scf`.
"""

from __future__ import annotations

import ast
import builtins
import itertools
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import Any

from tilec.isa import TilecError
from tilec.report.diagnostics import Place

from . import branches, conditions, loops
from .block_end import BlockEnd, Returned
from .emit import located
from .errors import KernelError, user_places
from .program import Range
from .source import FunctionSource
from .syntax import place
from .tile import Tile
from .yielded import Undefined

_MOST_TURNS = 1 << 14
"""Turns of a loop that is written out: beyond, it never ends, or the code would fit nowhere."""
_DEEPEST = 64
"""Calls of helpers inside each other; more is taken for a recursion without end."""


_depth: ContextVar[int] = ContextVar("depth", default=0)


def call(source: FunctionSource, names: dict[str, Any]) -> Any:
    """Run a function in the kernel that is being built.

    Args:
        source: of the function.
        names: its arguments.

    Returns:
        What it returns.

    Raises:
        KernelError: for what is wrong in it, at its place.
    """
    if _depth.get() >= _DEEPEST:
        raise KernelError(source.place, f"more than {_DEEPEST} calls inside each other")
    token = _depth.set(_depth.get() + 1)
    try:
        signal = Frame(source, names).run(source.tree.body)
    finally:
        _depth.reset(token)
    return signal.value if isinstance(signal, Returned) else None


class Frame:
    """A function under way.

    Attributes:
        source: of the function.
        names: every name's value, globals and builtins that behave otherwise in kernels with them.
        tails: the conditions behind which the function ends.
        inside: what the statement stands in: `loop` and `if` of the kernel, `static` loops.
    """

    def __init__(self, source: FunctionSource, arguments: dict[str, Any]) -> None:
        function = source.function
        self.source = source
        self.names: dict[str, Any] = {**conditions.BUILTINS, **function.__globals__}
        for name, cell in zip(
            function.__code__.co_freevars, function.__closure__ or (), strict=True
        ):
            with suppress(ValueError):  # a variable that has no value yet
                self.names[name] = cell.cell_contents
        for name in source.variables:
            self.names.pop(name, None)  # as in Python, wherever the function assigns it
        self.names |= conditions.REWRITTEN
        self.names |= arguments
        self.tails = frozenset(_tails(source.tree.body))
        self.inside: list[str] = []

    def place(self, node: ast.AST) -> Place:
        """Where a node is."""
        return place(node, self.source.file)

    def run(self, body: Sequence[ast.stmt]) -> BlockEnd:
        """Run the statements of a block."""
        for statement in body:
            signal = self._statement(statement)
            if signal is not None:
                return signal
        return None

    def _statement(self, node: ast.stmt) -> BlockEnd:
        match node:
            case ast.Expr():
                self.value(node.value)
            case ast.Assign():
                value = self.value(node.value)
                for target in node.targets:
                    self.assign(target, value)
            case ast.AnnAssign():
                if node.value is not None:
                    self.assign(node.target, self.value(node.value))
            case ast.AugAssign():
                loaded = ast.copy_location(ast.Name(_name(node.target), ast.Load()), node.target)
                sum_ = ast.copy_location(ast.BinOp(loaded, node.op, node.value), node)
                self.assign(node.target, self._evaluated(node, sum_))
            case ast.Return():
                return self._returned(node)
            case ast.Break() | ast.Continue():
                return self._leaving(node)
            case ast.If():
                return self._if(node)
            case ast.For():
                return self._for(node)
            case ast.While():
                return self._while(node)
            case ast.Assert():
                self._assert(node)
            case ast.Raise():
                self._raise(node)
        return None

    def value(self, node: ast.expr) -> Any:
        """What an expression is.

        Raises:
            KernelError: for whatever is wrong in it.
        """
        return self._evaluated(node, node)

    def _evaluated(self, key: ast.AST, node: ast.expr) -> Any:
        code, names = self.source.compiled(key, node)
        for name in names:
            if isinstance(self.names.get(name), Undefined):
                raise KernelError(self._use(node, name), self.names[name].reason)
        try:
            with located(None):
                return eval(code, self.names)
        except KernelError as error:
            outside = user_places(error.__traceback__)[-1:] or [self.place(node)]
            raise KernelError(error.place, error.reason, (*error.calls, *outside)) from None
        except Exception as error:
            at, *calls = user_places(error.__traceback__) or [self.place(node)]
            own = isinstance(error, TilecError)
            reason = str(error) if own else f"{type(error).__name__}: {error}"
            raise KernelError(at, reason, calls) from (None if own else error)

    def _use(self, node: ast.expr, name: str) -> Place:
        uses = (n for n in ast.walk(node) if isinstance(n, ast.Name) and n.id == name)
        return self.place(next(uses, node))

    def assign(self, target: ast.expr, value: Any) -> None:
        """Give a value to a name, or parts of it to several.

        Raises:
            KernelError: if it does not have as many parts.
        """
        if isinstance(target, ast.Name):
            self.names[target.id] = value
            return
        assert isinstance(target, ast.Tuple | ast.List)
        if isinstance(value, Tile) or not hasattr(value, "__iter__"):
            raise KernelError(self.place(target), f"{value!r} cannot be taken apart")
        parts = list(value)
        star = next((i for i, t in enumerate(target.elts) if isinstance(t, ast.Starred)), None)
        if star is not None:
            after = len(target.elts) - star - 1
            many = parts[star : len(parts) - after]
            parts[star : len(parts) - after] = [many]
        if len(parts) != len(target.elts):
            raise KernelError(
                self.place(target), f"{len(parts)} values for {len(target.elts)} names"
            )
        for one, part in zip(target.elts, parts, strict=True):
            self.assign(one.value if isinstance(one, ast.Starred) else one, part)

    def _returned(self, node: ast.Return) -> BlockEnd:
        if "loop" in self.inside:
            raise KernelError(
                self.place(node),
                "no return inside a loop of the kernel: set a variable, and return behind the loop",
            )
        return Returned(self.value(node.value) if node.value else None)

    def _leaving(self, node: ast.Break | ast.Continue) -> BlockEnd:
        word = "break" if isinstance(node, ast.Break) else "continue"
        if self.inside and self.inside[-1] != "static":
            advice = "while with a condition" if word == "break" else "if around what follows"
            raise KernelError(
                self.place(node), f"no {word} out of a loop of the kernel: use {advice}"
            )
        return type(node)

    def _if(self, node: ast.If) -> BlockEnd:
        condition = self.value(node.test)
        if isinstance(condition, Tile):
            with self._at(node):
                return branches.branch(self, node, condition)
        return self.run(node.body if condition else node.orelse)

    def _for(self, node: ast.For) -> BlockEnd:
        values = self.value(node.iter)
        if isinstance(values, Range):
            with self._at(node):
                loops.count(self, node, values)
            return None
        if isinstance(values, Tile) or not hasattr(values, "__iter__"):
            raise KernelError(
                self.place(node.iter), f"a loop goes through range(…) or a tuple, not {values!r}"
            )
        for turn, value in enumerate(values):
            self.assign(node.target, value)
            signal = self._turn(node, turn)
            if signal is ast.Break:
                break
            if isinstance(signal, Returned):
                return signal
        return None

    def _while(self, node: ast.While) -> BlockEnd:
        for turn in itertools.count():
            with self._at(node):
                more = loops.repeat(self, node)
            if not more:
                return None
            signal = self._turn(node, turn)
            if signal is ast.Break:
                return None
            if isinstance(signal, Returned):
                return signal
        return None

    def _turn(self, node: ast.For | ast.While, turn: int) -> BlockEnd:
        """Run the body of a loop that is written out."""
        if turn == _MOST_TURNS:
            raise KernelError(
                self.place(node),
                f"a loop that is written out while the kernel is compiled has more than {turn} "
                "turns; a loop of the kernel's own goes through range(…), or while a value of the "
                "kernel says so",
            )
        return self.within("static", node.body)

    def within(self, what: str, body: Sequence[ast.stmt]) -> BlockEnd:
        """Run statements that stand in a loop or a condition."""
        self.inside.append(what)
        try:
            return self.run(body)
        finally:
            self.inside.pop()

    @contextmanager
    def _at(self, node: ast.AST) -> Iterator[None]:
        """Give ops, and errors without a place, that of a statement."""
        try:
            with located(self.place(node)):
                yield
        except KernelError:
            raise
        except TilecError as error:
            raise KernelError(self.place(node), str(error)) from None

    def _assert(self, node: ast.Assert) -> None:
        found = self.value(node.test)
        if isinstance(found, Tile):
            raise KernelError(
                self.place(node),
                "an assert is checked at compile time; this is known only when the kernel runs",
            )
        if not found:
            message = self.value(node.msg) if node.msg else ast.unparse(node.test)
            raise KernelError(self.place(node), f"assertion failed: {message}")

    def _raise(self, node: ast.Raise) -> None:
        if self.inside and any(what != "static" for what in self.inside):
            raise KernelError(
                self.place(node), "no raise under a condition or in a loop of the kernel"
            )
        error = self.value(node.exc) if node.exc else "raise"
        if isinstance(error, builtins.type):
            error = error.__name__
        raise KernelError(self.place(node), str(error))


def _name(target: ast.expr) -> str:
    assert isinstance(target, ast.Name)  # checked when the source was read
    return target.id


def _tails(body: Sequence[ast.stmt]) -> list[int]:
    """The conditions, by id, behind which there is nothing more."""
    if not body or not isinstance(body[-1], ast.If):
        return []
    last = body[-1]
    return [id(last), *_tails(last.body), *_tails(last.orelse)]

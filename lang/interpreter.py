"""Runs a function's statements while a kernel is compiled.

Statements are read from the syntax tree; expressions are Python's own to evaluate. So whatever is
known at compile time is plain Python, and conditions and loops of the kernel become `scf`.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import partial
from typing import Any

from tilec.isa import TilecError
from tilec.isa.errors import MissingNameError
from tilec.isa.wording import counted
from tilec.report.diagnostics import Place

from . import branches, conditions, loops
from .block_end import END, VALUE, BlockEnd, Way, ended
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
        raise KernelError(source.place, f"calls nest more than {_DEEPEST} deep")
    token = _depth.set(_depth.get() + 1)
    try:
        return Frame(source, names).result()
    finally:
        _depth.reset(token)


class Frame:
    """A function under way.

    Attributes:
        source: of the function.
        names: every name's value, globals and builtins that behave otherwise in kernels with them.
        loops: those that the statement stands in, the innermost last.
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
        self.loops: list[ast.For | ast.While] = []
        self._conditions = 0
        """How many loops and conditions of the kernel the statement stands in."""

    def place(self, node: ast.AST) -> Place:
        """Where a node is."""
        return place(node, self.source.file)

    def result(self) -> Any:
        """Run the function: what it returns.

        Raises:
            KernelError: for what is wrong in it, at its place.
        """
        end = self.run(self.source.tree.body)
        if len(end.ways) > 1:
            with self._at(self.source.tree.body[-1]):
                branches.go_on(self, end, self._end_of_function, frozenset())
        value = self.names[VALUE] if Way.RETURN in end.ways else None
        if isinstance(value, Undefined):
            raise KernelError(self.source.place, value.reason)
        return value

    def _end_of_function(self) -> BlockEnd:
        self.names[VALUE] = None
        return ended(Way.RETURN)

    def run(self, body: Sequence[ast.stmt]) -> BlockEnd:
        """Run the statements of a block."""
        for at, statement in enumerate(body):
            end = self._statement(statement)
            if Way.END not in end.ways:
                return end
            if end.known is None and body[at + 1 :]:
                live = self.source.liveness.after(body[-1])
                with self._at(statement):
                    return branches.go_on(self, end, partial(self.run, body[at + 1 :]), live)
            if end.known is None:
                return end
        return END

    def _statement(self, node: ast.stmt) -> BlockEnd:
        match node:
            case ast.Return():
                self.names[VALUE] = self.value(node.value) if node.value else None
                return ended(Way.RETURN)
            case ast.Break():
                return ended(Way.BREAK)
            case ast.Continue():
                return ended(Way.CONTINUE)
            case ast.If():
                return self._if(node)
            case ast.For():
                return self._for(node)
            case ast.While():
                return self._written_out(node, self._while_turns(node))
        self._plain(node)
        return END

    def _plain(self, node: ast.stmt) -> None:
        """Run a statement after which the next one follows."""
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
            case ast.Assert():
                self._assert(node)
            case ast.Raise():
                self._raise(node)

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
            if isinstance(error, TilecError | MissingNameError):
                raise KernelError(at, str(error), calls) from None
            from .hints import of_keyword  # noqa: PLC0415 (for errors only)

            reason = f"{type(error).__name__}: {error}{of_keyword(str(error))}"
            raise KernelError(at, reason, calls) from error

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
            raise KernelError(self.place(target), f"{value!r} cannot be unpacked")
        parts = list(value)
        star = next((i for i, t in enumerate(target.elts) if isinstance(t, ast.Starred)), None)
        if star is not None:
            after = len(target.elts) - star - 1
            many = parts[star : len(parts) - after]
            parts[star : len(parts) - after] = [many]
        if len(parts) != len(target.elts):
            raise KernelError(
                self.place(target), f"{counted(len(parts), 'value')} for {len(target.elts)} names"
            )
        for one, part in zip(target.elts, parts, strict=True):
            self.assign(one.value if isinstance(one, ast.Starred) else one, part)

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
                return loops.count(self, node, values)
        if isinstance(values, Tile) or not hasattr(values, "__iter__"):
            raise KernelError(
                self.place(node.iter), f"a loop iterates over range(…) or a tuple, not {values!r}"
            )
        return self._written_out(node, self._for_turns(node, values))

    def _for_turns(self, node: ast.For, values: Iterable[Any]) -> Iterator[None]:
        for value in values:
            self.assign(node.target, value)
            yield

    def _while_turns(self, node: ast.While) -> Iterator[BlockEnd | None]:
        """Get ready for each turn; for the turns that the kernel counts, give the loop's end."""
        while True:
            with self._at(node):
                found = loops.repeat(self, node)
            if found is False:
                return
            yield None if found is True else found

    def _written_out(
        self, node: ast.For | ast.While, turns: Iterator[BlockEnd | None], turn: int = 0
    ) -> BlockEnd:
        """Run a loop turn by turn while the kernel is compiled."""
        for number, of_kernel in enumerate(turns, turn):
            if of_kernel is not None:
                return of_kernel
            undo = loops.undoing(self) if loops.is_endless(node) else None
            end = self._turn(node, number)
            if undo is not None and loops.is_endless(node) and end.known is None:
                undo()
                with self._at(node):
                    return loops.repeat_always(self, node)
            if not end.ways & {Way.END, Way.CONTINUE}:
                return loops.behind(end)
            if end.ways & {Way.BREAK, Way.RETURN}:
                rest = partial(self._written_out, node, turns, number + 1)
                return self._other_turns(node, end, rest)
        return END

    def _other_turns(
        self, node: ast.For | ast.While, end: BlockEnd, rest: Callable[[], BlockEnd]
    ) -> BlockEnd:
        """Run the other turns of a loop where the kernel did not leave it."""
        live = self.source.liveness.after(node)
        self.loops.append(node)
        try:
            with self._at(node):
                return loops.behind(branches.go_on(self, end, rest, live, last=Way.CONTINUE))
        finally:
            self.loops.pop()

    def _turn(self, node: ast.For | ast.While, turn: int) -> BlockEnd:
        if turn == _MOST_TURNS:
            raise KernelError(
                self.place(node),
                f"a loop that is unrolled while the kernel is compiled has more than {turn} "
                "iterations; a loop of the kernel's own goes through range(…), or while a value of "
                "the kernel says so",
            )
        return self.turn(node)

    def turn(self, node: ast.For | ast.While) -> BlockEnd:
        """Run the body of a loop."""
        self.loops.append(node)
        try:
            return self.run(node.body)
        finally:
            self.loops.pop()

    def live(self, end: BlockEnd, behind: frozenset[str]) -> frozenset[str]:
        """The names that are read where a block goes on that ends so.

        Args:
            end: how it ends.
            behind: those that are read after it.
        """
        found: frozenset[str] = frozenset()
        liveness = self.source.liveness
        for way in end.ways:
            match way:
                case Way.END:
                    found |= behind
                case Way.CONTINUE:
                    found |= liveness.entry(self.loops[-1])
                case Way.BREAK:
                    found |= liveness.after(self.loops[-1])
                case Way.RETURN:
                    found |= {VALUE}
        return found

    @contextmanager
    def conditional(self) -> Iterator[None]:
        """Run what the kernel may leave out when it runs."""
        self._conditions += 1
        try:
            yield
        finally:
            self._conditions -= 1

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
                "an assert is checked at compile time; this is known only when the kernel runs: "
                "tl.device_assert checks it then",
            )
        if not found:
            message = self.value(node.msg) if node.msg else ast.unparse(node.test)
            raise KernelError(self.place(node), f"assertion failed: {message}")

    def _raise(self, node: ast.Raise) -> None:
        if self._conditions:
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

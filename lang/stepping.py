"""Kernels that run as Python does, statement by statement, with numpy for the tiles.

The kernel's own function is called, so that a debugger steps through it. Every operation of the
language makes the ops that it makes in a compilation, and the interpreter of tile programs executes
them at once: there is one definition of what an operation is, and one of what an op computes.
Python's own loops and conditions do the rest, since every value is known.
"""

from __future__ import annotations

import gc
import inspect
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from types import CodeType, FunctionType
from typing import Any, NamedTuple

import numpy as np
from tilec.dialects.semantics import Resource, root_memory, writes
from tilec.interpret.cta import Cta
from tilec.interpret.execution import execute
from tilec.interpret.findings import NoMeaning, Undefined
from tilec.interpret.memory import View
from tilec.interpret.numbers import Array, unsigned
from tilec.interpret.program import Body, Node, Reader
from tilec.ir import mlir
from tilec.isa import TilecError
from tilec.report.diagnostics import Place

from . import emit
from .conditions import BUILTINS
from .emit import place
from .errors import KernelError
from .tile import Tile, reading

_FATAL = frozenset({"bounds", "divergent", "uninitialised"})
"""Findings of the interpreter that end a kernel."""
_POLLS = 5_000
_HELD = 1 << 29
"""Bytes of tiles beyond which those that nobody refers to are given up."""


class Stepper:
    """A CTA that executes ops as they are made.

    Attributes:
        cta: its state.
        block: where ops are made; those in regions of one are executed with it.
    """

    def __init__(self, cta: Cta, block: Any) -> None:
        self.cta = cta
        self.block = block
        self._reader = Reader()
        self._active = np.ones(cta.threads, bool)
        self._waiting: list[Any] = []
        self._held, self._most = 0, _HELD
        self._old: set[int] = set()
        self._polls: dict[Place, _Poll] = {}
        self._protected: dict[Any, str] = {}
        self._calls: set[tuple[tuple[CodeType, int], ...]] = set()

    def give(self, value: Any, known: Any) -> None:
        """Say what a value is."""
        self._put(self._reader.number(value), known)

    def protect(self, value: Any, name: str) -> None:
        """Say that an argument is an array that must not be changed, and its name."""
        self._protected[value] = name

    def check_first(self, what: str) -> None:
        """See that what makes something of the CTA's is called once, as a compilation calls it.

        Raises:
            TilecError: if it is called by the same calls again.
        """
        calls, frame = [], inspect.currentframe()
        while frame is not None:
            calls.append((frame.f_code, frame.f_lasti))
            frame = frame.f_back
        if tuple(calls) in self._calls:
            raise TilecError(f"{what} in a loop cannot be stepped through: call it before the loop")
        self._calls.add(tuple(calls))

    def made(self, op: Any) -> None:
        """An op was made: execute what came before, and it too, unless it is yet to be filled."""
        op = op.operation
        if op.block != self.block:
            return
        self.settle()
        self._waiting.append(op)
        if not len(op.regions):
            self.settle()

    def settle(self) -> None:
        """Execute the ops that were made.

        Raises:
            KernelError: for what cannot be executed, and for what must not be done.
        """
        while self._waiting:
            op = self._waiting.pop(0)
            if self._held > self._most:
                self._forget(op)
            self._execute(op)

    def read(self, tile: Tile) -> Array:
        """What a tile holds, or a scalar: of numpy's types."""
        self.settle()
        held = np.asarray(self._known(tile.value))
        return _as_numpy(held, tile)

    def _known(self, value: Any) -> Any:
        at = self._reader.number(value)
        if at >= len(self.cta.values) or self.cta.values[at] is None:
            # An extent of an array, which is read where the array is known, not where it is asked;
            # or what was given up, which is computed again: never an update of memory.
            self._execute(value.owner)
        return self.cta.values[at]

    def _put(self, at: int, value: Any) -> None:
        values = self.cta.values
        values.extend([None] * (at + 1 - len(values)))
        values[at] = value

    def _execute(self, op: Any) -> None:
        for operand in op.operands:
            self._known(operand)
        changed = list(writes(op, Resource.GLOBAL))
        self._check_protected(changed)
        node = self._reader.node(op.opview)
        values = self.cta.values
        values.extend([None] * (self._reader.size - len(values)))
        before = len(self.cta.findings)
        try:
            for _ in execute(self.cta, Body((), (node,), ()), self._active):
                raise KernelError(place(), f"'{node.name}' waits forever")
        except (NoMeaning, Undefined) as error:
            raise KernelError(
                place(), f"{error}, so the kernel cannot be stepped through"
            ) from None
        for finding in self.cta.findings[before:]:
            if finding.kind in _FATAL:
                raise KernelError(place(), finding.message)
        self._held += sum(getattr(values[at], "nbytes", 0) for at in node.outputs)
        if not node.outputs:
            return
        if changed:
            self._poll(node)
        if changed or any(True for _ in writes(op, Resource.SHARED)):
            self._old.update(node.outputs)

    def _check_protected(self, changed: Sequence[Any]) -> None:
        for memref in changed:
            name = self._protected.get(root_memory(memref)) if memref is not None else None
            if name is not None:
                raise KernelError(
                    place(), f"argument '{name}' is read-only, and the kernel changes it"
                )

    def _poll(self, node: Node) -> None:
        """Note an atomic operation, by which a CTA may wait for another: it finds the same again.

        Raises:
            KernelError: if it has done so too often.
        """
        at = place()
        values = [self.cta.values[n] for n in (*node.inputs, *node.outputs)]
        found = [np.asarray(one).tobytes() for one in values if not isinstance(one, View)]
        last = self._polls.get(at)
        times = last.times + 1 if last is not None and last.found == found else 1
        self._polls[at] = _Poll(found, times)
        if times > _POLLS:
            raise KernelError(
                at,
                f"reads the same value {_POLLS} times: CTAs are executed one after another, so "
                "none can wait for a later one",
            )

    def _forget(self, op: Any) -> None:
        """Give up the values of tiles that nobody refers to, nor an op that is to be executed."""
        used = {self._reader.number(one.value) for one in gc.get_objects() if type(one) is Tile}
        used |= {self._reader.number(operand) for one in _within(op) for operand in one.operands}
        used |= self._old
        values = self.cta.values
        for at, value in enumerate(values):
            if isinstance(value, np.ndarray) and value.ndim and at not in used:
                values[at] = None
        self._held = sum(getattr(value, "nbytes", 0) for value in values)
        self._most = max(_HELD, 2 * self._held)


class _Poll(NamedTuple):
    """What an atomic operation was given and gave last, and how often in succession."""

    found: list[bytes]
    times: int


def _within(op: Any) -> Iterator[Any]:
    """An op and those in its regions."""
    yield op
    for region in op.regions:
        for block in region.blocks:
            for inner in block.operations:
                yield from _within(inner)


def _as_numpy(held: Array, tile: Tile) -> Array:
    """Values of the interpreter's, which has integers in int64, in the type of a tile."""
    dtype = tile.dtype
    if dtype.kind == "uint":
        return unsigned(held, dtype.bits).astype(f"u{max(dtype.bits, 8) // 8}")
    if dtype.kind == "int":
        return held.astype(f"i{max(dtype.bits, 8) // 8}")
    found = held.view()
    found.flags.writeable = False  # the tile does not change
    return found


_stepper: ContextVar[Stepper | None] = ContextVar("stepper", default=None)


def stepper() -> Stepper | None:
    """The CTA that is stepped through."""
    return _stepper.get()


@contextmanager
def stepping(cta: Cta, block: Any) -> Iterator[Stepper]:
    """Execute ops that are made at the end of a block as they are made."""
    found = Stepper(cta, block)
    token = _stepper.set(found)
    hooks = emit.MADE.set(found.made), reading.set(found.read)
    try:
        with mlir.ir.InsertionPoint(block):
            yield found
    finally:
        emit.MADE.reset(hooks[0])
        reading.reset(hooks[1])
        _stepper.reset(token)


def stepped(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function with the builtins that kernels have, such as a `range` that counts scalars.

    It is the same code, so that a debugger shows its lines and stops at its breakpoints.
    """
    assert isinstance(function, FunctionType)
    names = {**BUILTINS, **function.__globals__}
    made = FunctionType(
        function.__code__, names, function.__name__, function.__defaults__, function.__closure__
    )
    made.__kwdefaults__ = function.__kwdefaults__
    return made

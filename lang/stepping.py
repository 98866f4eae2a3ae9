"""Kernels that run as Python does, statement by statement, with numpy for the tiles.

The kernel's own function is called, so that a debugger steps through it. Every operation of the
language makes the ops that it makes in a compilation, and the interpreter of tile programs executes
them at once: there is one definition of what an operation is, and one of what an op computes.
Python's own loops and conditions do the rest, since every value is known.
"""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import FunctionType
from typing import Any

import numpy as np
from tilec.dialects.semantics import Resource, writes
from tilec.interpret.cta import Cta
from tilec.interpret.execution import execute
from tilec.interpret.findings import NoMeaning, Undefined
from tilec.interpret.numbers import Array, unsigned
from tilec.interpret.program import Body, Node, Program
from tilec.ir import mlir
from tilec.report.diagnostics import Place

from . import emit
from .conditions import BUILTINS
from .emit import place
from .errors import KernelError
from .tile import Tile, reading

_FATAL = frozenset({"bounds", "divergent"})
"""Findings of the interpreter that end a kernel."""
_POLLS = 5_000
_HELD = 1 << 29
"""Bytes of tiles beyond which those that nobody refers to are given up."""


class Growing(Program):
    """A program whose ops are read as they are made."""

    def __init__(self) -> None:
        self._numbers = {}
        self.ops, self.buffers = set(), []

    def read(self, op: Any) -> Node:
        """An op that was made."""
        return self._node(op.opview)

    def number(self, value: Any) -> int:
        """The number of a value."""
        return self._number(value)


class Stepper:
    """A CTA that executes ops as they are made.

    Attributes:
        cta: its state.
        block: where ops are made; those in regions of one are executed with it.
    """

    def __init__(self, cta: Cta, block: Any) -> None:
        self.cta = cta
        self.block = block
        self._program = Growing()
        self._active = np.ones(cta.threads, bool)
        self._waiting: list[Any] = []
        self._held = 0
        self._asked: Counter[Place] = Counter()

    def give(self, value: Any, known: Any) -> None:
        """Say what a value is."""
        self._put(self._program.number(value), known)

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
            self._execute(self._waiting.pop(0))

    def read(self, tile: Tile) -> Array:
        """What a tile holds, or a scalar: of numpy's types."""
        self.settle()
        held = np.asarray(self._known(tile.value))
        return _as_numpy(held, tile)

    def _known(self, value: Any) -> Any:
        at = self._program.number(value)
        if at >= len(self.cta.values) or self.cta.values[at] is None:
            # An extent of an array, which is read where the array is known, not where it is asked.
            self._execute(value.owner)
        return self.cta.values[at]

    def _put(self, at: int, value: Any) -> None:
        values = self.cta.values
        values.extend([None] * (at + 1 - len(values)))
        values[at] = value

    def _execute(self, op: Any) -> None:
        for operand in op.operands:
            self._known(operand)
        if len(op.results) and any(True for _ in writes(op, Resource.GLOBAL)):
            self._poll()
        node = self._program.read(op)
        values = self.cta.values
        size = len(self._program._numbers)
        values.extend([None] * (size - len(values)))
        before = len(self.cta.findings)
        try:
            for _ in execute(self.cta, Body((), (node,), ()), self._active):
                raise KernelError(place(), f"'{node.name}' waits for what never comes")
        except (NoMeaning, Undefined) as error:
            raise KernelError(
                place(), f"{error}, so the kernel cannot be stepped through"
            ) from None
        for finding in self.cta.findings[before:]:
            if finding.kind in _FATAL:
                raise KernelError(place(), finding.message)
        self._held += sum(getattr(values[at], "nbytes", 0) for at in node.outputs)
        if self._held > _HELD:
            self._forget()

    def _poll(self) -> None:
        """Note an atomic operation, by which a CTA may wait for another."""
        at = place()
        self._asked[at] += 1
        if self._asked[at] > _POLLS:
            raise KernelError(
                at,
                f"executed {_POLLS} times: CTAs are stepped through one after the other, so none "
                "can wait for a later one",
            )

    def _forget(self) -> None:
        """Give up the values of tiles that nobody refers to."""
        tiles = [one for one in gc.get_objects() if type(one) is Tile]
        used = {self._program.number(tile.value) for tile in tiles}
        values = self.cta.values
        for at, value in enumerate(values):
            if isinstance(value, np.ndarray) and value.ndim and at not in used:
                values[at] = None
        self._held = sum(getattr(value, "nbytes", 0) for value in values)


def _as_numpy(held: Array, tile: Tile) -> Array:
    """Values of the interpreter's, which has integers in int64, in the type of a tile."""
    dtype = tile.dtype
    if dtype.kind == "uint":
        return unsigned(held, dtype.bits).astype(f"u{max(dtype.bits, 8) // 8}")
    if dtype.kind == "int":
        return held.astype(f"i{max(dtype.bits, 8) // 8}")
    return held


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

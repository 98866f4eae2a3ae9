"""Which CTA this is, and the arithmetic of grids."""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar, cast

from tilec.ir import ops
from tilec.isa import TilecError

from .dtypes import intp
from .emit import constant, emit
from .tile import Tile, reading

if TYPE_CHECKING:
    from tilec.ir.ops.gpu import Dimension

_AXES = "xyz"
N = TypeVar("N", int, Tile)


def program_id(axis: int) -> int:
    """The CTA's place in the grid along axis 0, 1 or 2; known when the kernel runs."""
    return _grid(ops.gpu.block_id, axis)


def num_programs(axis: int) -> int:
    """CTAs of the grid along axis 0, 1 or 2; known when the kernel runs."""
    return _grid(ops.gpu.grid_dim, axis)


def _grid(of: Callable[[Dimension], Any], axis: int) -> int:
    if axis not in (0, 1, 2):
        raise TilecError(f"a grid has the axes 0, 1 and 2, not {axis!r}")
    dimension = ops.gpu.Dimension(_AXES[axis])
    # To a type checker what is known only at run time is an int, as an array's extents are.
    return cast("int", Tile(emit(of, dimension), intp, natural=True))


def cdiv(numerator: N, denominator: int) -> N:
    """How many times `denominator` goes into `numerator`, rounded up; on the host, too."""
    return (numerator + (denominator - 1)) // denominator


@dataclass(frozen=True)
class Range:
    """What a loop of the kernel counts through, and how it is to be compiled.

    Attributes:
        start: first value.
        stop: the value that ends it.
        step: from one value to the next, positive.
        stages: buffers of the software pipeline; None lets tilec choose.
        unroll: turns of the loop made one; None lets tilec choose.
        overlap: whether a product and one of the turn before are computed beside each other.
        defer_wait: whether products are in flight when the next turn begins.
    """

    start: Any
    stop: Any
    step: Any = 1
    stages: int | None = None
    unroll: int | None = None
    overlap: bool | None = None
    defer_wait: bool | None = None

    def __iter__(self) -> Iterator[int]:
        """Count at compile time, as comprehensions do."""
        bounds = (self.start, self.stop, self.step)
        known = all(isinstance(bound, int) for bound in bounds)
        if reading.get() is not None and not (known and self.step <= 0):
            return self._scalars(*map(operator.index, bounds))
        if known:
            return iter(builtins.range(*bounds))
        raise TilecError(
            "a loop of the kernel is written as a statement, 'for i in range(…):', in a function "
            "marked @tilec.kernel or @tilec.function"
        )

    def _scalars(self, start: int, stop: int, step: int) -> Iterator[Any]:
        """Scalars of the kernel, as its loops have them, which count up."""
        if step <= 0:
            raise TilecError(f"a loop of the kernel counts up: its step is positive, not {step}")
        for number in builtins.range(start, stop, step):
            yield Tile(constant(number, intp), intp, natural=start >= 0)


def range(  # noqa: A001 (Python's name)
    start: int,
    stop: int | None = None,
    step: int = 1,
    *,
    stages: int | None = None,
    unroll: int | None = None,
    overlap: bool | None = None,
    defer_wait: bool | None = None,
) -> Iterator[int]:
    """Python's `range` as a loop of the kernel, with pins for its compilation.

    Args:
        start: first value, or the end if `stop` is None.
        stop: the value that ends it.
        step: positive.
        stages: buffers of the software pipeline; by default tilec chooses.
        unroll: turns of the loop made one; by default tilec chooses.
        overlap: whether, on sm_90a, the first of two products of a turn is computed beside the
            second of the turn before, as in attention; by default tilec chooses.
        defer_wait: whether, on sm_90a, a turn's products are in flight until the next one has begun
            its own; by default tilec chooses.
    """
    first, last = (0, start) if stop is None else (start, stop)
    return cast("Iterator[int]", Range(first, last, step, stages, unroll, overlap, defer_wait))


def static_range(start: int, stop: int | None = None, step: int = 1) -> builtins.range:
    """Python's `range`, counted while the kernel is compiled: the loop's turns are written out."""
    return builtins.range(start, stop, step) if stop is not None else builtins.range(start)

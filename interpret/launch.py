"""A launch of a kernel: every CTA of the grid, one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from tilec.ir.aliases import Op
from tilec.ir.attributes import attribute
from tilec.ir.mlir import ir
from tilec.isa import LANES

from .arithmetic.base import Arithmetic
from .cta import STEPS, Cta
from .execution import execute
from .findings import Finding, NoMeaning, Undefined
from .memory import Buffer, View
from .numbers import Array
from .program import Program
from .registry import Value


@dataclass(frozen=True, eq=False, slots=True)
class Outcome:
    """What a launch has done.

    Attributes:
        memories: what each memref argument's memory holds, in the order of the arguments; of other
            arguments None.
        findings: what is wrong with the program, on these arguments.
    """

    memories: tuple[Array | None, ...]
    findings: tuple[Finding, ...]

    @property
    def kinds(self) -> frozenset[str]:
        """The kinds of findings."""
        return frozenset(one.kind for one in self.findings)


def interpret(
    function: Op | Program,
    arguments: Sequence[View | int | float | Array],
    arithmetic: Arithmetic,
    *,
    grid: tuple[int, int, int] = (1, 1, 1),
    target: str = "",
    limit: int = STEPS,
) -> Outcome:
    """Execute a `gpu.func` at level 1, 2 or 3.

    Args:
        function: the kernel; its `known_block_size` says how many threads a CTA has, a warp
            without. As a `Program` it is read once, for several launches.
        arguments: views of memory, whose buffers are copied first; numbers for scalars.
        arithmetic: of floats.
        grid: CTAs.
        target: whose tensor cores sum, where the arithmetic asks.
        limit: ops that a CTA executes at most.

    Returns:
        The memory afterwards, and what was found.

    Raises:
        NoMeaning: at an op that has no interpretation.
    """
    program = function if isinstance(function, Program) else Program(function)
    given, buffers = _copies(arguments)
    findings: list[Finding] = []
    block = _block(program.function)
    try:
        for z, y, x in product(*(range(n) for n in reversed(grid))):
            values: list[Value] = [None] * program.size
            cta = Cta(arithmetic, block, grid, (x, y, z), target, values, findings, limit=limit)
            _run(cta, program, given)
    except Undefined as error:
        findings.append(error.finding)
    return Outcome(tuple(None if b is None else b.data for b in buffers), tuple(findings))


def _run(cta: Cta, program: Program, arguments: Sequence[Value]) -> None:
    """Execute all threads to the end."""
    running = execute(cta, program.body, np.ones(cta.threads, bool), arguments)
    for _ in running:
        raise NoMeaning("gpu.func", ir.Location.unknown(), "all its threads wait")


def _block(function: Op) -> tuple[int, int, int]:
    if "known_block_size" not in function.attributes:
        return LANES, 1, 1
    x, y, z = attribute(function, "known_block_size", ir.DenseI32ArrayAttr)
    return x, y, z


def _copies(
    arguments: Sequence[View | int | float | Array],
) -> tuple[list[Value], list[Buffer | None]]:
    """The arguments with memory of their own, and that memory; what shares a buffer still does."""
    own: dict[int, Buffer] = {}
    given: list[Value] = []
    buffers: list[Buffer | None] = []
    for one in arguments:
        if not isinstance(one, View):
            given.append(np.asarray(one))
            buffers.append(None)
            continue
        old = one.buffer
        buffer = own.setdefault(id(old), Buffer(_some(old.data.copy()), old.number))
        given.append(View(buffer, one.offset, one.sizes, one.strides))
        buffers.append(buffer)
    return given, buffers


def _some(data: Array) -> Array:
    """Memory of one element where there is none, which nothing may touch."""
    return data if len(data) else np.zeros(1, data.dtype)

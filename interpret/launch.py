"""A launch of a kernel: every CTA of the grid, one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

import numpy as np
from tilec.dialects.tile.attributes import PRODUCER
from tilec.ir.aliases import Op
from tilec.ir.attributes import attribute, cluster_size
from tilec.ir.mlir import ir
from tilec.isa import LANES

from .arithmetic.base import Arithmetic
from .cta import STEPS, Cluster, Cta
from .execution import execute, together
from .findings import Finding, Undefined
from .memory import Buffer, View
from .numbers import Array
from .order import Order
from .program import Program
from .registry import Value
from .shared import room_for


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
    fatal: frozenset[str] = frozenset(),
) -> Outcome:
    """Execute a `gpu.func` at level 1, 2 or 3, or a `func.func` with ops of linalg's.

    Args:
        function: the kernel; its `known_block_size` says how many threads a CTA has, a warp
            without, beside those that load for others. As a `Program` it is read once, for several
            launches.
        arguments: views of memory, whose buffers are copied first; numbers for scalars.
        arithmetic: of floats.
        grid: CTAs, whole clusters of them.
        target: whose tensor cores sum, where the arithmetic asks.
        limit: ops that a CTA executes at most.
        fatal: kinds of findings that end everything.

    Returns:
        The memory afterwards, and what was found.

    Raises:
        NoMeaning: at an op that has no interpretation.
    """
    program = function if isinstance(function, Program) else Program(function)
    given, buffers = _copies(arguments)
    findings: list[Finding] = []
    extents = cluster_size(program.function) or (1, 1, 1)
    room = room_for(program.buffers)
    steps = [range(0, n, step) for n, step in zip(grid, extents, strict=True)]
    try:
        for z, y, x in product(*reversed(steps)):
            cluster = Cluster(extents, _order(program, extents), room, program.columns)
            for dz, dy, dx in product(*(range(n) for n in reversed(extents))):
                values: list[Value] = [None] * program.size
                at = x + dx, y + dy, z + dz
                cluster.ctas.append(
                    Cta(
                        arithmetic,
                        _block(program.function),
                        grid,
                        at,
                        target,
                        values,
                        findings,
                        cluster,
                        len(cluster.ctas),
                        limit=limit,
                        fatal=fatal,
                    )
                )
            _run(cluster, program, given)
    except Undefined as error:
        findings.append(error.finding)
    return Outcome(tuple(None if b is None else b.data for b in buffers), tuple(findings))


def _run(cluster: Cluster, program: Program, arguments: Sequence[Value]) -> None:
    """Execute all threads of a cluster to the end."""
    parts = program.meets
    running = [
        execute(cta, program.body, cta.present, arguments, parts=parts) for cta in cluster.ctas
    ]
    together(cluster.ctas, running)
    for cta in cluster.ctas:
        if any(boxes.all() for boxes in cta.boxes.values()):
            message = "ends while copies of boxes still read its shared memory"
            cta.findings.append(Finding("in flight", message, program.function.location))
        if any(pipe.is_open for pipe in cta.pipes.values()):
            message = "ends while products in tensor memory are not committed to an mbarrier"
            cta.findings.append(Finding("in flight", message, program.function.location))
        if cta.owes_columns:
            message = "ends with columns of tensor memory that are not deallocated"
            cta.findings.append(Finding("columns", message, program.function.location))


def _order(program: Program, extents: tuple[int, int, int]) -> Order | None:
    """What follows who knows of whom, if not all warps of a cluster meet at every barrier."""
    if not program.meets and prod(extents) == 1:
        return None
    return Order(prod(extents) * -(-prod(_block(program.function)) // LANES))


def _block(function: Op) -> tuple[int, int, int]:
    """Threads of a CTA along x, y and z, those included that load for others."""
    for op in function.regions[0].blocks[0].operations:
        if PRODUCER in op.attributes:
            return ir.DenseI64ArrayAttr(op.attributes[PRODUCER])[0], 1, 1
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

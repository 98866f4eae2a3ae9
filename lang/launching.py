"""Launches of compiled kernels: what is passed, and what must hold of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import gt
from typing import TYPE_CHECKING, Any

import numpy as np
from tilec.isa import LaunchError
from tilec.launch.abi import MemRef

from .array import Assumption, Facts
from .array_arguments import array_argument, broken_fact
from .scalar_arguments import scalar_argument
from .settings import Settings
from .specialization import ArrayType, ConstantValue, ScalarType, Specialization
from .streams import queue_of

if TYPE_CHECKING:
    from tilec.compiled import Compiled
    from tilec.runtime.cuda.bound import Launch
    from tilec.sim import Report

Assumptions = Callable[[], Sequence[Assumption]]
"""Gives what a kernel assumes of its arrays, where there is an error to explain."""


def launch(
    compiled: Compiled,
    specialization: Specialization,
    values: Mapping[str, Any],
    grid: int | Sequence[int],
    *,
    settings: Settings,
    written: Sequence[str],
    assumptions: Assumptions,
) -> Report | Launch | None:
    """Run a kernel.

    Args:
        compiled: the kernel.
        specialization: what it is compiled for.
        values: the arguments by name.
        grid: CTAs along x, y and z.
        settings: where it runs.
        written: the arrays that the kernel changes.
        assumptions: gives what it assumes.

    Returns:
        What the simulator counted, if it ran there; a launch on a GPU that can be made again
        as it is; None for one that copies arrays.

    Raises:
        LaunchError: for what does not fit.
    """
    from tilec.runtime.cuda.views import is_shared  # noqa: PLC0415 (for launches only)

    _check_writable(values, written)
    _check_assumed(compiled, specialization, values, assumptions)
    passed = list(passed_values(specialization, values))
    where = settings.device or ("cuda" if any(map(is_shared, passed)) else "sim")
    if where == "sim":
        return compiled.launch(*passed, grid=grid, device=where)
    queue = queue_of(settings.stream, settings.wait, passed)
    if any(isinstance(value, np.ndarray) and value.ndim for value in passed):
        return compiled.launch(*passed, grid=grid, device=where, stream=queue.stream)
    bound = compiled.bind(*passed, grid=grid, stream=queue.stream)
    bound()
    if queue.waits:
        bound.wait()
    return bound


def passed_values(specialization: Specialization, values: Mapping[str, Any]) -> Iterator[Any]:
    """Arrays, and scalars of the parameters' types."""
    for name, known in specialization.arguments:
        if isinstance(known, ScalarType):
            yield scalar_argument(name, values[name], known.dtype, natural=known.natural)
        elif isinstance(known, ArrayType):
            yield values[name]


def _check_writable(values: Mapping[str, Any], written: Sequence[str]) -> None:
    for name in written:
        value = values[name]
        if isinstance(value, np.ndarray) and not value.flags.writeable:
            raise LaunchError(f"argument '{name}' is read-only, and the kernel changes it")


def _check_assumed(
    compiled: Compiled,
    specialization: Specialization,
    values: Mapping[str, Any],
    assumptions: Assumptions,
) -> None:
    """Check what the kernel says by `assume`; what else the code relies on, it was compiled for."""
    (kernel,) = compiled.kernels
    known = (one for one in specialization.arguments if not isinstance(one[1], ConstantValue))
    for argument, (name, type_) in zip(kernel.given, known, strict=True):
        if not isinstance(argument, MemRef) or not isinstance(type_, ArrayType):
            continue
        promised = argument.promised
        facts = Facts(promised.aligned, promised.sizes, promised.strides)
        if not _is_more(facts, type_.facts):
            continue
        array = array_argument(name, values[name], repr(type_.dtype))
        broken = broken_fact(array, facts, "the kernel relies on")
        if broken is not None:
            said = (
                broken_fact(array, one.facts, f"tl.assume guarantees at {one.place}")
                for one in assumptions()
                if one.name == name
            )
            raise LaunchError(f"argument '{name}' {next(filter(None, said), broken)}")


def _is_more(facts: Facts, known: Facts) -> bool:
    """Whether facts say more than what is known."""
    return (
        facts.aligned > known.aligned
        or any(map(gt, facts.sizes, known.sizes))
        or any(map(gt, facts.strides, known.strides))
    )

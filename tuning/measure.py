"""Times of the best candidates on a GPU, where there is one: in turns, with clocks and spread."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from tilec.isa import target as find_target
from tilec.runtime import cuda

from .assess import Task
from .errors import TuningError
from .same_bits import data
from .store import Outcome

if TYPE_CHECKING:
    from tilec.runtime.cuda.timing import Timing


def device_of(target: str) -> str:
    """The name of the GPU that runs code for a target.

    Raises:
        TuningError: if there is none, saying so.
    """
    if not cuda.available(find_target(target)):
        raise TuningError(f"nothing is measured: no GPU of this machine runs {target}")
    return cuda.gpu().name


def measure(task: Task, outcomes: Sequence[Outcome], rounds: int = 25) -> list[Outcome]:
    """Candidates with their times on the GPU, the fastest first.

    Args:
        task: what they were assessed for.
        outcomes: ranked candidates.
        rounds: how often each is timed, in turns with the others.

    Raises:
        TuningError: if there is no GPU for the target.
        CudaError: for what goes wrong on it.
    """
    device_of(task.target)
    from tilec.runtime.cuda.timing import compare  # noqa: PLC0415 (only with a GPU)

    works = [_bound(task, one.candidate) for one in outcomes]
    return timed(outcomes, compare(works, rounds=rounds))


def _bound(task: Task, candidate: Mapping[str, int]) -> Any:
    """A launch of a candidate on arrays of the GPU, to be made again and again."""
    tunable = task.tunable
    args = tunable.values(candidate, task.problem)
    compiled = tunable.compile(candidate, args, task.target)
    given = [
        cuda.Array.of(data(one.shape, one.dtype, number).astype(one.dtype))
        if isinstance(one, np.ndarray)
        else one
        for number, one in enumerate(args)
    ]
    grid = tunable.ctas(candidate, task.problem)
    if grid is None:
        raise TuningError(
            f"kernel '{tunable.name}' is measured on a grid; the declaration has none"
        )
    return compiled.bind(*given, grid=grid)


def timed(outcomes: Sequence[Outcome], times: Sequence[Timing]) -> list[Outcome]:
    """Outcomes with what was measured of them, in seconds and MHz, the fastest first."""
    found = [
        replace(
            outcome,
            measured={
                "median": time.median / 1e3, "least": time.least / 1e3, "most": time.most / 1e3,
                "rounds": time.rounds, "clock_before": time.clocks[0],
                "clock_after": time.clocks[1],
            },
        )
        for outcome, time in zip(outcomes, times, strict=True)
    ]  # fmt: skip
    return sorted(found, key=lambda one: one.measured["median"] if one.measured else 0.0)

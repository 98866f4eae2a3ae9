"""Runs of kernels and mutants on the simulator."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

from tilec.isa import TilecError
from tilec.isa.launch import extents
from tilec.launch.simulated import for_simulator
from tilec.sim import launch
from tilec.sim.ptx.parser import read
from tilec.sim.run import Run
from tilec.tools.run_program import LoadedProgram, load

from .kernels import EXAMPLES, Arrays, Kernel, Launch, agrees

ORDER_LIMIT = 50_000
"""Steps of orders explored for a mutant."""
STEPS = 60_000
"""A mutant that takes more is an endless loop; none of the kernels takes a third."""


@dataclass(frozen=True)
class Outcome:
    """What came of a run.

    Attributes:
        kind: of the first finding; the verdict if that is not `passed`; or empty.
        advice: of the first advice; or empty.
        right: whether the result is numpy's.
    """

    kind: str
    advice: str
    right: bool


@cache
def program(kernel: Kernel) -> LoadedProgram:
    """A kernel, compiled."""
    return load(str(EXAMPLES / kernel.path), arch=kernel.target, level=3)


def _arguments(kernel: Kernel, of: Launch, values: Arrays) -> tuple[Any, Any, Any]:
    """Grid, block and arguments."""
    grid, loaded = extents(of.grid, "grid"), program(kernel)
    passed = for_simulator(loaded.passed(kernel.name, [*values, *of.scalars], grid))
    return (
        loaded.launched(kernel.name, grid, of.sms, None),
        loaded.block(kernel.name) or 128,
        passed,
    )


@cache
def _expected(kernel: Kernel, of: Launch) -> Any:
    return kernel.expected(of.values())


def run(kernel: Kernel, ptx: str, of: Launch, order: int | None = None) -> Outcome:
    """Run a text as a kernel; with every order of warps, or the one of a seed."""
    values, loaded = of.values(), program(kernel)
    try:
        report = launch(
            ptx, kernel.name, *_arguments(kernel, of, values), arch=kernel.target,
            dynamic_smem=loaded.dynamic_shared(kernel.name), cluster=loaded.cluster(kernel.name),
            max_steps=STEPS, order=order, every_order=order is None, order_limit=ORDER_LIMIT,
        )  # fmt: skip
    except TilecError as error:
        return Outcome(f"error: {error}", "", right=False)
    kinds = [finding.kind for finding in report.findings]
    kind = "" if report.verdict == "passed" else report.verdict
    right = agrees(values[-1], _expected(kernel, of))
    advice = report.advice[0].kind if report.advice else ""
    return Outcome(kinds[0] if kinds else kind, advice, right)


def recorded(kernel: Kernel, ptx: str, of: Launch) -> Run:
    """Run a kernel, and record what its warps do that others may come before or after."""
    loaded = program(kernel)
    made = Run(
        read(ptx), kernel.name, *_arguments(kernel, of, of.values()), arch=kernel.target,
        dynamic_smem=loaded.dynamic_shared(kernel.name), cluster=loaded.cluster(kernel.name),
        every_order=True,
    )  # fmt: skip
    made.simulate(None, None)
    return made

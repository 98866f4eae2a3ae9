"""What kernels must give: simulated here, beside numpy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace

from device_run.simulate import Simulator
from device_run.trial import Run, Trial
from tilec.dialects.tile.form_program import FormKernel
from tilec.isa import TilecError
from tilec.isa import target as find_target
from tilec.sim import read

from .forms import Group, Module, compiled
from .reference import disagreements


def finished(group: Group, target: str, elements: int) -> Module:
    """The kernels of a group, compiled, with digests of their results.

    Raises:
        TilecError: if the simulator disagrees with numpy.
    """
    module, kernels = compiled(group, find_target(target), elements)
    simulator = Simulator(read(module.ptx), target)
    pairs = zip(module.trials, kernels, strict=True)
    trials = tuple(_expected(trial, kernel, simulator) for trial, kernel in pairs)
    return replace(module, trials=trials)


def _expected(trial: Trial, kernel: FormKernel, simulator: Simulator) -> Trial:
    return replace(trial, runs=tuple(_run(trial, run, kernel, simulator) for run in trial.runs))


def _run(trial: Trial, run: Run, kernel: FormKernel, simulator: Simulator) -> Run:
    memory, result = simulator.part(trial, run, 0, run.ctas)
    if kernel.product and (run.kind == "normal" or not kernel.product.operand("a").type.is_float):
        wrong = disagreements(kernel, memory, result)
        if wrong:
            raise TilecError(f"{trial.name}: {wrong} elements are not numpy's product")
    return replace(run, digests=trial.digests(result))


def all_finished(
    groups: Sequence[Group], target: str, elements: int, jobs: int
) -> Iterator[Module]:
    """`finished` of every group, `jobs` at a time, in order."""
    if jobs == 1:
        yield from (finished(group, target, elements) for group in groups)
        return
    with ProcessPoolExecutor(jobs) as pool:
        count = len(groups)
        yield from pool.map(finished, groups, [target] * count, [elements] * count)

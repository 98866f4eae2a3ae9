"""What becomes of a candidate without a GPU: compiled, checked, counted and given a cost."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from tilec.backend.cubin import Resources, assemble, find_ptxas
from tilec.compiled import Compiled
from tilec.isa import Target, TilecError
from tilec.isa import target as find_target
from tilec.isa.gpus import gpu_of
from tilec.isa.wording import counted
from tilec.launch.abi import KernelEntry
from tilec.launch.occupancy import Occupancy, occupancy
from tilec.sim.ptx import Module, read
from tilec.sim.ptx.module import Function

from .bound import shared_bytes
from .counting import Counts, count, plain_launch
from .counting.launches import PlainLaunch
from .declared import Tunable
from .errors import TuningError
from .model import estimate, shared_passes
from .problems import Problem
from .registers import estimate_registers, most_registers
from .same_bits import has_bits_of_default
from .store import Outcome, State

CONFLICTS = 0.5
"""The share of conflicts in passes over shared memory from which a candidate is refused."""
_SPILLING = 1.2
"""Estimated registers over those that there are from which it is refused: estimates are that far
from what ptxas takes."""


class RefusedError(Exception):
    """A candidate that is not wanted.

    Attributes:
        reason: why, a kind that many share.
        detail: what is particular to this one.
    """

    def __init__(self, reason: str, detail: str = "") -> None:
        self.reason, self.detail = reason, detail
        super().__init__(reason)


@dataclass(frozen=True)
class Task:
    """What candidates are assessed for.

    Attributes:
        tunable: the kernel.
        problem: its sizes.
        target: what it is compiled for.
        assembled: whether ptxas says how many registers it takes, and what it spills.
        same_bits: a small problem whose results must be bit for bit the default's.
    """

    tunable: Tunable
    problem: Problem
    target: str
    assembled: bool
    same_bits: Problem | None = None


def assembler_of(target: str) -> str:
    """The version of the `ptxas` that says what candidates take.

    Raises:
        TilecError: if there is none.
    """
    return find_ptxas(find_target(target))[1]


def assess(task: Task, candidate: Mapping[str, int]) -> Outcome:
    """What becomes of a candidate; its errors are reasons.

    Args:
        task: what it is assessed for.
        candidate: the value of each parameter.
    """
    began = time.perf_counter()
    counts: dict[str, Any] = {}
    cost, reason, detail = None, "", ""
    try:
        cost = _assessed(task, candidate, counts)
    except RefusedError as error:
        reason, detail = error.reason, error.detail
    except (
        Exception
    ) as error:  # of a pass, or a plugin: the other candidates are tried all the same
        reason, detail = "internal error of tilec", _in_a_line(error)
    state = State.RANKED if cost is not None else State.REFUSED
    seconds = time.perf_counter() - began
    return Outcome(dict(candidate), state, reason, detail, counts, cost, None, seconds)


def _assessed(task: Task, candidate: Mapping[str, int], counts: dict[str, Any]) -> float:
    """The cost of a candidate, in seconds; what was counted of it is noted."""
    target = find_target(task.target)
    try:
        args = task.tunable.values(candidate, task.problem)
        compiled = task.tunable.compile(candidate, args, task.target)
        kernel = _kernel(compiled, task.tunable.name)
        module = read(compiled.ptx)
        grid = task.tunable.ctas(candidate, task.problem)
        launch = plain_launch(kernel, module.functions[kernel.name], args, grid, gpu_of(target).sms)
    except TilecError as error:
        raise RefusedError("it does not compile", _first_line(error)) from None
    if task.assembled:
        registers = _registers(compiled, kernel, target, counts)
    else:
        registers = _estimated(module.functions[kernel.name], launch.threads, target, counts)
    held = _held(module, kernel, launch, registers, target, counts)
    try:
        found = count(module, kernel.name, launch, held.ctas * gpu_of(target).sms)
    except TuningError as error:
        raise RefusedError("it cannot be counted", str(error)) from None
    counts |= found.json()
    _check_conflicts(found)
    if task.same_bits is not None:
        _check_bits(task, candidate, task.same_bits)
    footprint = sum(one.nbytes for one in args if isinstance(one, np.ndarray))
    made = estimate(found, target, held, launch.ctas, launch.threads, footprint)
    counts["estimate"] = made.json()
    return made.seconds


def _kernel(compiled: Compiled, name: str) -> KernelEntry:
    for one in compiled.kernels:
        if one.name == name:
            return one
    raise TuningError(f"the compiled program has no kernel '{name}'")


def _registers(
    compiled: Compiled, kernel: KernelEntry, target: Target, counts: dict[str, Any]
) -> int:
    """Registers of a thread, none of which may be spilled."""
    try:
        used = _resources(compiled.ptx, target)[kernel.name]
    except TilecError as error:
        raise RefusedError("ptxas refuses it", _first_line(error)) from None
    spilled = used.spill_stores + used.spill_loads
    counts |= {"registers": used.registers, "registers_by": "ptxas", "spilled": spilled}
    if spilled:
        raise RefusedError("it spills", f"{counted(spilled, 'byte')}")
    return used.registers


@lru_cache(maxsize=256)
def _resources(ptx: str, target: Target) -> Mapping[str, Resources]:
    """What kernels take, by name; a candidate is the same for many problems."""
    return assemble(ptx, target).resources


def _estimated(function: Function, threads: int, target: Target, counts: dict[str, Any]) -> int:
    """Registers of a thread as PTX lets expect, no more than a CTA of so many threads has."""
    found = estimate_registers(function, threads, target)
    most = most_registers(threads, target)
    counts |= {"registers": min(found, most), "registers_by": "estimate"}
    if found > _SPILLING * most:
        raise RefusedError("it spills, by an estimate", f"{found} registers of {most}")
    return min(found, most)


def _held(
    module: Module,
    kernel: KernelEntry,
    launch: PlainLaunch,
    registers: int,
    target: Target,
    counts: dict[str, Any],
) -> Occupancy:
    """What an SM holds of the kernel: one CTA at least."""
    function = module.functions[kernel.name]
    shared = shared_bytes(module, function, kernel.dynamic_shared)
    held = occupancy(launch.threads, registers, shared, target)
    counts |= {"shared_bytes": shared, "threads": launch.threads, "ctas": launch.ctas}
    counts["resident"] = held.ctas
    if held.ctas < 1:
        limits = ", ".join(one.value for one in held.limits)
        raise RefusedError(
            f"it does not fit: {limits}",
            f"{counted(shared, 'byte')} of shared memory, {counted(registers, 'register')}",
        )
    return held


def _check_conflicts(found: Counts) -> None:
    """See that not half of all passes over shared memory are conflicts, copies' and products' too.

    Sums that leave through shared memory once for a whole loop of products may meet in its banks.
    """
    passes = shared_passes(found)
    if found.conflicts > CONFLICTS * max(passes, 1):
        share = found.conflicts / passes
        raise RefusedError("bank conflicts", f"{share:.0%} of its passes over shared memory")


def _check_bits(task: Task, candidate: Mapping[str, int], problem: Problem) -> None:
    try:
        same = has_bits_of_default(task.tunable, candidate, problem, task.target)
    except TilecError as error:
        raise RefusedError("it cannot be simulated", _first_line(error)) from None
    if not same:
        raise RefusedError("its results differ from the default's", f"for {problem}")


def _in_a_line(error: Exception) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())[:200]


def _first_line(error: TilecError) -> str:
    return str(error).splitlines()[0]

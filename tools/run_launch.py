"""A launch of `tile-run`: what it is of flags, and what becomes of its arguments."""

from __future__ import annotations

import argparse
import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from tilec import sim
from tilec.isa import TilecError
from tilec.isa.launch import extents
from tilec.launch.simulated import SMS, for_simulator
from tilec.sim.report import TENSOR_FENCE

from .run_arguments import Array, Value, argument
from .run_program import LoadedProgram
from .run_reference import Expected, Outcome, compare, expected


@dataclass(frozen=True, slots=True)
class Placed:
    """A kernel, grid, threads of a CTA, CTAs of a cluster, arguments, dynamic shared memory."""

    name: str
    grid: tuple[int, ...]
    block: tuple[int, ...]
    cluster: tuple[int, ...] | None
    passed: list[Value]
    shared: int


@dataclass(frozen=True)
class LaunchArguments:
    """A launch with its arguments.

    Attributes:
        program: what is run.
        flags: how, as the command line or a line of `--problems` has it.
        values: the arguments, which the run changes in place.
        wanted: what arrays should hold afterwards, by number of the argument.
    """

    program: LoadedProgram
    flags: argparse.Namespace
    values: list[Value]
    wanted: dict[int, Expected]

    def placed(self, sms: int = SMS) -> Placed:
        """What is launched on a GPU of so many SMs.

        Raises:
            TilecError: for what does not fit the kernel.
        """
        program, flags = self.program, self.flags
        name = program.kernel(flags.kernel)
        grid = extents(flags.grid or program.grid(name, self.values), "grid")
        passed = program.passed(name, self.values, grid)
        block = flags.block or program.block(name)
        if block is None:
            raise TilecError(f"kernel '{name}' does not fix its threads; --block X,Y,Z gives them")
        shared = flags.dynamic_smem
        if shared is None:
            shared = program.dynamic_shared(name)
        cluster = flags.cluster or program.cluster(name)
        ctas = program.launched(name, grid, sms, flags.sms)
        return Placed(name, ctas, block, cluster, passed, shared)

    def simulated(self, to: Placed) -> tuple[list[Any], dict[str, Any]]:
        """The arguments and the settings of a simulated launch.

        Raises:
            TilecError: for a `--symbol` that is none.
        """
        settings: dict[str, Any] = {
            "arch": self.program.arch,
            "dynamic_smem": to.shared,
            "cluster": to.cluster,
            "numerics": self.flags.numerics,
            "checks": self.flags.checks,
            "max_steps": self.flags.max_steps,
            "symbols": _symbols(self.flags),
        }
        return for_simulator(to.passed), settings

    def outcomes(self, report: sim.Report | None) -> list[Outcome]:
        """How arrays compare with what they should hold, of a run without findings.

        A tile program may not rely on what hardware does without a fence.
        """
        if report is not None and self.program.compiled is not None:
            report.demand(TENSOR_FENCE)
        if report is not None and not report.ok:
            return []
        return [
            compare(number, value, one)
            for number, one in self.wanted.items()
            if isinstance(value := self.values[number], np.ndarray)
        ]

    def wrong(self, report: sim.Report | None, outcomes: Sequence[Outcome]) -> str:
        """Why a run is a failure; empty if it is none."""
        if report is not None and not report.ok:
            many = len(report.findings)
            found = f"{many} finding{'' if many == 1 else 's'}" if many else report.verdict
            return f"kernel '{report.kernel}': {found}"
        if any(outcome.wrong for outcome in outcomes):
            return f"--check {self.flags.check}: the result is wrong"
        return ""

    def files(self) -> dict[str, bytes]:
        """What `--out` writes, by path.

        Raises:
            TilecError: for an argument that is not an array.
        """
        return {path: _npy(array) for path, array in self.outputs().items()}

    def outputs(self) -> dict[str, Array]:
        """The arrays of `--out`, by path.

        Raises:
            TilecError: for an argument that is not an array.
        """
        found = {}
        for number, path in self.flags.out:
            value = self.values[number] if number < len(self.values) else None
            if not isinstance(value, np.ndarray):
                raise TilecError(f"--out {number}={path}: argument {number} is not an array")
            found[path] = value
        return found


def launch_arguments(program: LoadedProgram, flags: argparse.Namespace) -> LaunchArguments:
    """Make or load the arguments of a launch, and what its results should be.

    Raises:
        TilecError: for arguments that are none, and a check that does not apply.
        OSError: if a file cannot be read.
    """
    values = [argument(spec, i, flags.seed) for i, spec in enumerate(flags.arg)]
    made = LaunchArguments(program, flags, values, {})
    made.outputs()
    if flags.check:
        before = [np.copy(v) if isinstance(v, np.ndarray) else v for v in values]
        made.wanted.update(expected(flags.check, before))
    return made


def _symbols(flags: argparse.Namespace) -> dict[str, Array]:
    """The arrays that variables are set to."""
    found: dict[str, Array] = {}
    for number, (name, spec) in enumerate(flags.symbol, len(flags.arg)):
        value = argument(spec, number, flags.seed)
        if not isinstance(value, np.ndarray | np.generic):
            raise TilecError(f"--symbol {name}={spec}: neither an array nor a number with a type")
        found[name] = np.asarray(value)
    return found


def _npy(array: Array) -> bytes:
    written = io.BytesIO()
    np.save(written, array)
    return written.getvalue()

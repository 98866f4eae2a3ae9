"""What bounds a launch: its counts, those of a run among them, against what the target can do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from tilec.isa import Target
from tilec.isa.gpus import Gpu, gpu_of
from tilec.isa.launch import Extents
from tilec.isa.wording import counted
from tilec.launch.occupancy import Occupancy, occupancy
from tilec.sim.ptx import Module
from tilec.sim.ptx.module import Function
from tilec.sim.report import Report

from .counting import Counts, count
from .counting.launches import PlainLaunch, plain
from .counting.tally import unit_of
from .counting.touches import SECTOR
from .errors import TuningError
from .model import DRAM, Estimate, estimate, of_busiest
from .registers import estimate_registers, most_registers


@dataclass(frozen=True)
class Bound:
    """A first-order estimate of a launch, and what bounds it.

    Attributes:
        gpu: where it would run, and how fast that is.
        estimate: what it takes there.
        ctas: of the launch.
        busiest: of them, those that an SM computes at most.
        registers: of a thread, estimated from the PTX.
    """

    gpu: Gpu
    estimate: Estimate
    ctas: int
    busiest: int
    registers: int

    @property
    def shares(self) -> dict[str, float]:
        """The share of the time that each part of the busiest SM is busy, and DRAM, longest first.

        Cycles of the estimate are means over all SMs, of which the last wave may leave some idle.
        """
        cycles = self.estimate.seconds * self.gpu.hertz
        stretched = self.busiest * self.gpu.sms / self.ctas
        shares = {
            name: (one if name == DRAM else one * stretched) / cycles
            for name, one in self.estimate.cycles.items()
        }
        return dict(sorted(shares.items(), key=lambda item: -item[1]))

    def to_text(self) -> str:
        """Two lines, the first of which says that it is an estimate."""
        one = self.estimate
        busy = ", ".join(f"{_TITLES[name]} {share:.0%}" for name, share in self.shares.items())
        return (
            f"estimate for one {self.gpu.name} (first order, not measured): "
            f"{one.seconds * 1e6:,.1f} us, bound by {_TITLES[one.limit]}\n"
            f"  {busy}; {counted(one.waves, 'wave')} of {counted(self.ctas, 'CTA')}, "
            f"{one.resident} on an SM at once"
        )

    def json(self) -> dict[str, Any]:
        """The same as JSON has it, labelled as an estimate."""
        known = {"gpu": self.gpu.name, "ctas": self.ctas, "registers": self.registers}
        return {"kind": "estimate", **known, "shares": self.shares, **self.estimate.json()}


_TITLES = {
    "tensor": "tensor cores",
    "shared": "shared memory",
    "l2": "L2",
    "issue": "issue slots",
    "special": "special functions",
    DRAM: "DRAM",
}
"""What the model's parts are called."""


def bound(
    module: Module,
    name: str,
    target: Target,
    grid: Extents,
    block: Extents,
    parameters: Sequence[Any],
    cluster: Extents = (1, 1, 1),
    dynamic_shared: int = 0,
    report: Report | None = None,
) -> Bound:
    """What bounds a launch of any PTX.

    Args:
        module: the PTX.
        name: of the kernel.
        target: whose rates and whose GPU are taken.
        grid: CTAs along x, y and z.
        block: threads of a CTA.
        parameters: a value for each parameter, as `tilec.sim.launch` takes them.
        cluster: CTAs of a cluster.
        dynamic_shared: bytes.
        report: of a run of the same launch, with checks, which count accesses. Its counts are taken
            where those that are read off the PTX depend on data, or the kernel calls functions.

    Raises:
        TuningError: for a kernel that does not fit an SM, and one that cannot be counted where
            there is no report.
    """
    function = module.functions[name]
    gpu = gpu_of(target)
    launch = plain(function, parameters, grid, block, cluster, dynamic_shared)
    most = most_registers(launch.threads, target)
    registers = min(estimate_registers(function, launch.threads, target), most)
    shared = shared_bytes(module, function, dynamic_shared)
    held = occupancy(launch.threads, registers, shared, target)
    if held.ctas < 1:
        limits = ", ".join(one.value for one in held.limits)
        raise TuningError(f"kernel '{name}' does not fit an SM of {target}: {limits}")
    counts = _counts(module, function, launch, held, gpu, report)
    arrays = {id(one): one for one in map(_array, parameters) if one is not None}
    footprint = sum(one.nbytes for one in arrays.values())
    made = estimate(counts, target, held, launch.ctas, launch.threads, footprint, gpu)
    busiest = of_busiest(launch.ctas, held.ctas, gpu.sms)
    return Bound(gpu, made, launch.ctas, busiest, registers)


def shared_bytes(module: Module, function: Function, dynamic: int) -> int:
    """Bytes of shared memory that a CTA takes: of the module's variables, its own, and dynamic."""
    scopes = {id(one.scope): one.scope for one in function.body or ()}
    inside = [v for scope in scopes.values() for v in scope.variables.values()]
    variables = (*module.variables.values(), *inside)
    return dynamic + sum(v.size for v in variables if v.space == "shared")


def _array(parameter: Any) -> np.ndarray[Any, Any] | None:
    """The array that a parameter points to, itself or by a tensor map."""
    one = getattr(parameter, "array", parameter)
    return one if isinstance(one, np.ndarray) and one.ndim else None


def _counts(
    module: Module,
    function: Function,
    launch: PlainLaunch,
    held: Occupancy,
    gpu: Gpu,
    report: Report | None,
) -> Counts:
    """Those read off the PTX; where they depend on data, or cannot be read, those of the run."""
    try:
        found = count(module, function.name, launch, held.ctas * gpu.sms)
    except TuningError:
        if report is None:
            raise
        return _of_run(Counts(), module, function, report)
    depends = found.unknown > 0 and report is not None
    return _of_run(found, module, function, report) if depends and report else found


def _of_run(found: Counts, module: Module, function: Function, report: Report) -> Counts:
    """Counts of which a run tells all that it counts itself; questions in vain do not count."""
    units = Counter[str]()
    executed = {one.line: one.warps for one in report.lines}
    for one in function.body or ():
        units[unit_of(one)] += executed.get(module.line(one), 0)
    instructions = Counter(report.instructions)
    for line in report.lines:
        instructions[line.instruction.partition(".")[0]] -= line.waits_in_vain
    sectors = float(report.sectors)
    return replace(
        found,
        instructions=instructions,
        units=dict(units),
        matrix={one.form: one.warps for one in report.matrix},
        flops=report.flops,
        requests=report.requests,
        sectors=sectors,
        wavefronts=report.wavefronts,
        conflicts=report.conflicts,
        copied=report.copied,
        asked=found.asked or report.copied,
        distinct=found.distinct or sectors * SECTOR + report.copied,
        operand_bytes=report.operand_bytes,
    )

"""Launches: a kernel of a PTX text on arrays."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
from tilec.isa import DEFAULT_TARGET, TARGETS, nearest, target
from tilec.isa.launch import GRID_LIMIT, Extents, check_cluster, extents
from tilec.isa.limits import CLUSTERS_SINCE
from tilec.isa.wording import counted

from .alu import Array
from .arguments import pack
from .counting import report as report_of
from .errors import LaunchError
from .findings import Findings, StoppedError, stopped
from .frames import Frame
from .heap import Heap
from .machine import Machine
from .memory import Memory
from .observer import Observer
from .order import Together, WarpByWarp
from .orders.recorder import OrderRecorder
from .orders.verdict import ORDER_LIMIT, verdict
from .placement import Placement
from .program import Program
from .ptx import Module, read
from .ptx.module import Function
from .register_pool import at_entry
from .report import Finding, Report, SimulationError
from .residency import resident_ctas
from .scheduler import Scheduler
from .special import WORKSPACE
from .stepping.debugger import Debugger
from .symbols import Symbols
from .taint.unwritten import Unwritten
from .taint.watcher import Watcher
from .tensor.product import NUMERICS
from .timeline.recorder import Recorder
from .translator import Translator
from .wave import Geometry

DEFAULT_STEPS = 5_000_000
"""Step limit where none is given; a step is an instruction for all threads that are together."""


def kernel_of(module: Module, name: str) -> Function:
    """The kernel of a name.

    Raises:
        LaunchError: if there is none, naming the nearest.
    """
    function = module.functions.get(name)
    if function is not None and function.entry and function.body is not None:
        return function
    kernels = [f.name for f in module.functions.values() if f.entry]
    hint = f"; it has {', '.join(nearest(name, kernels))}" if kernels else ""
    raise LaunchError(f"{module.source.name} has no kernel '{name}'{hint}")


def architecture(module: Module) -> str:
    """The architecture to simulate for a text: its `.target`, or `DEFAULT_TARGET` if unknown."""
    return module.target if module.target in TARGETS else DEFAULT_TARGET


def launch(
    ptx: str | Path | Module,
    kernel: str,
    grid: int | Sequence[int],
    block: int | Sequence[int],
    args: Sequence[object],
    *,
    arch: str | None = None,
    dynamic_smem: int = 0,
    numerics: str = "exact",
    checks: bool = True,
    max_steps: int | None = None,
    order: int | None = None,
    cluster: int | Sequence[int] | None = None,
    symbols: Mapping[str, Array] | None = None,
    progress: Callable[[int, int], None] | None = None,
    timeline: Sequence[int] | None = None,
    debugger: Debugger | None = None,
    every_order: bool = False,
    order_limit: int | None = None,
) -> Report:
    """Run a kernel.

    Args:
        ptx: PTX text, or a path to it, or a module already read.
        kernel: name of the `.entry`.
        grid: CTAs along x, y and z.
        block: threads of a CTA along x, y and z.
        args: one for each parameter: numpy arrays (passed as pointers to their first element,
            changed in place), numpy or Python scalars (taken to the parameter's type), None for
            a null pointer; for structures passed by value bytes, a numpy structure, or a tuple
            of arrays, None and numpy scalars.
        arch: architecture whose arithmetic matrix instructions follow, as `sm_90`, and whose
            limits hold; by default that of the text (`architecture`).
        dynamic_smem: dynamic shared memory in bytes.
        numerics: `exact` for the hardware's bits, `fast` for float accuracy; `algebraic` takes
            floats for integers modulo 2^w, w their width, whose sums and products are exact in
            any order (`tilec.isa.algebra`): arrays and scalars are read and left as bits of these.
        checks: look for errors, and count memory traffic, at every access. Without, an access
            outside all memory ends the run, and other errors go unseen.
        max_steps: limit on the steps of each wave of CTAs; by default `DEFAULT_STEPS`, for every
            warp of a CTA where `order` is given.
        order: a seed. Without, the warps of a CTA run together, instruction by instruction, as far
            as they can; with it, one of them as far as it can go, then another, in an order that
            the seed decides. What a kernel without races gives does not depend on it, unless
            it asks in which order atomics came or what a clock shows.
        cluster: CTAs of a cluster along x, y and z; by default what the kernel requires, else 1.
        symbols: numpy arrays for variables of the module, by name, set before the launch; those of
            `.global` variables are changed in place as arguments are.
        progress: told, after every wave, how many CTAs have ended and how many there are.
        timeline: the place in the grid of a CTA, as (0, 0, 0), whose `Report.timeline` is made.
        debugger: stops the launch at breakpoints and steps, and is shown its threads there.
        every_order: after a run without a finding, explore every order in which the warps of each
            CTA, or cluster, could have executed what they did; what is wrong in one of them has a
            kind that begins with `order-`. Where that is not possible, the report is `incomplete`.
        order_limit: limit on the events that are recorded for it, and on the steps of the orders
            explored; by default `ORDER_LIMIT`.

    Returns:
        What was found and counted.

    Raises:
        PtxError: for a text that cannot be read, or an unsupported instruction that is reached.
        LaunchError: if kernel, extents or arguments do not fit.
        SimulationError: without checks, if the run cannot go on.
        QuitDebugging: if `debugger` ends it.
    """
    module = ptx if isinstance(ptx, Module) else read(ptx)
    arch = architecture(module) if arch is None else arch
    function = kernel_of(module, kernel)
    geometry = Geometry(
        extents(grid, "grid"), extents(block, "block"), *_cluster(function, cluster)
    )
    _check_extents(function, geometry, arch)
    _check_cluster(geometry, arch)
    if numerics not in NUMERICS:
        raise LaunchError(f"numerics is '{numerics}'; legal: {', '.join(NUMERICS)}")
    memory = Memory()
    machine = Machine(geometry, memory, arch=arch, numerics=numerics, dynamic_shared=dynamic_smem)
    placement = Placement(module, function, memory, dynamic_smem)
    check_shared(placement, dynamic_smem, arch)
    buffers = pack(placement, memory, args)
    variables = Symbols(placement, memory, symbols)
    if placement.named("malloc", "free"):
        machine.heap = Heap(memory)
    resident = resident_ctas(placement, geometry)
    if placement.named(*WORKSPACE):
        _check_cooperative(function, geometry, resident)
        memory.workspace = memory.allocate("the workspace of the grid's barrier", 64)
    memory.build(placement.shared_bytes, resident, geometry.warps, geometry.cluster_ctas)
    machine.pool.entry = at_entry(function, arch)
    program = Program(placement, machine)
    translator = Translator(program)
    findings: list[Finding] = []
    advice: list[Finding] = []
    if checks:
        machine.observer = Observer(
            machine,
            Findings(module, machine, findings, advice),
            machine.phases,
            machine.clusters,
            asynchronous=placement.asynchronous,
        )
    recorder = None
    if every_order:
        if machine.observer is None:
            raise LaunchError("every_order=True needs checks=True")
        order_limit = ORDER_LIMIT if order_limit is None else order_limit
        recorder = OrderRecorder(machine, module, order_limit)
        machine.observer.record(recorder)
    if timeline is not None:
        number = geometry.number(_within(timeline, geometry))
        machine.record(Recorder(machine, module, kernel, number))
    if debugger is not None:
        debugger.begin(program, findings)
        translator.whole = True
    entry = Frame(program, function)
    if machine.observer is not None:
        watcher = Watcher(machine, machine.observer.taint)
        translator.translated = watcher.translated
        translator.unwritten = Unwritten(machine.observer.taint, watcher.step)
    turns = Together() if order is None else WarpByWarp(order)
    if order is not None:
        machine.transfers.early = random.Random(order)
    limit = DEFAULT_STEPS * (1 if order is None else geometry.warps)
    limit = limit if max_steps is None else max_steps
    completed = True
    for first in range(0, geometry.ctas, resident):
        machine.begin(first, min(resident, geometry.ctas - first))
        try:
            Scheduler(machine, translator, entry, limit, turns, debugger).run()
        except StoppedError as error:
            completed = False
            if debugger is not None:
                debugger.failed(error)
            if machine.observer is not None:
                machine.observer.end()
            findings.append(stopped(module, error))
            break
        machine.transfers.end(machine.observer)
        if machine.observer is not None and machine.observer.tensor is not None:
            machine.observer.tensor.end(machine.tensor.left())
        if machine.observer is not None:
            machine.observer.end()
        if recorder is not None:
            recorder.end()
        if progress is not None:
            progress(min(first + resident, geometry.ctas), geometry.ctas)
    buffers.copy_back()
    variables.copy_back()
    report = report_of(program, entry, findings, completed=completed)
    report.advice = advice
    if machine.observer is not None:
        report.unchecked = machine.observer.global_.unchecked
        report.race_bytes = machine.observer.global_.grid.bytes
    if recorder is not None and order_limit is not None and not findings and completed:
        found = verdict(recorder, function, geometry, order_limit)
        findings += found.findings
        report.unchecked = [*report.unchecked, *found.unchecked]
        report.orders = found.summary
    report.timeline = None if machine.recorder is None else machine.recorder.end()
    if not checks and not completed:
        raise SimulationError(findings[-1].message, report)
    return report


def _cluster(function: Function, given: int | Sequence[int] | None) -> tuple[Extents, bool]:
    """CTAs of a cluster, and whether anybody says how many."""
    required = function.directives.get("reqnctapercluster", ())
    wanted = extents((*required, 1, 1, 1)[:3], "cluster")
    if given is None:
        return wanted, bool(required) or "explicitcluster" in function.directives
    found = extents(given, "cluster")
    if required and found != wanted:
        raise LaunchError(f"kernel '{function.name}' requires clusters of {wanted}")
    return found, True


def _within(cta: Sequence[int], geometry: Geometry) -> Extents:
    """The place of a CTA in the grid, x first."""
    x, y, z = (*cta, 0, 0, 0)[:3] if len(cta) <= 3 else (-1, -1, -1)
    if not all(0 <= at < of for at, of in zip((x, y, z), geometry.grid, strict=True)):
        raise LaunchError(f"the timeline of CTA {tuple(cta)}; the grid has {geometry.grid}")
    return x, y, z


def _check_cluster(geometry: Geometry, arch: str) -> None:
    if not geometry.explicit:
        return
    if geometry.cluster_ctas > 1 and target(arch).number < CLUSTERS_SINCE:
        raise LaunchError(
            f"a cluster of {geometry.cluster}; {arch} has no clusters; sm_90 and later have them"
        )
    check_cluster(geometry.grid, geometry.cluster)


def _check_cooperative(function: Function, geometry: Geometry, resident: int) -> None:
    """Refuse a grid whose barrier not all CTAs can come to, as the driver does."""
    if resident < geometry.ctas:
        raise LaunchError(
            f"kernel '{function.name}' has a barrier of the whole grid, "
            f"{counted(geometry.ctas, 'CTA')}, of which at most {resident} are resident at once"
        )


def check_kernel(function: Function, arch: str) -> None:
    """Refuse a kernel that an architecture has no launch for.

    Raises:
        LaunchError: saying what it requires, and what there is.
    """
    cluster, explicit = _cluster(function, None)
    _check_cluster(Geometry(cluster, (1, 1, 1), cluster, explicit), arch)
    required = (*function.directives.get("reqntid", ()), 1, 1, 1)[:3]
    _check_threads(int(np.prod(required)), arch)


def check_shared(placement: Placement, dynamic: int, arch: str) -> None:
    """Refuse a kernel whose CTA has more shared memory than an architecture.

    Raises:
        LaunchError: saying how much it has, and how much there is.
    """
    most = target(arch).shared_per_cta
    if dynamic >= 0 and placement.shared_bytes <= most:
        return
    alone = placement.shared_bytes - dynamic
    bytes_, of_them = placement.shared_bytes, f", {dynamic} of them dynamic"
    if alone > most:
        bytes_, of_them = alone, ""
    raise LaunchError(
        f"kernel '{placement.kernel.name}' uses {counted(bytes_, 'byte')} of shared "
        f"memory{of_them}; {arch} has {most} per CTA"
    )


def _check_threads(threads: int, arch: str) -> None:
    limit = target(arch).threads_per_cta
    if threads > limit:
        raise LaunchError(f"a CTA of {counted(threads, 'thread')}; at most {limit} are legal")


def _check_extents(function: Function, geometry: Geometry, arch: str) -> None:
    if any(given > most for given, most in zip(geometry.grid, GRID_LIMIT, strict=True)):
        raise LaunchError(f"a grid of {geometry.grid}; at most {GRID_LIMIT} is legal")
    _check_threads(geometry.threads, arch)
    required = function.directives.get("reqntid", ())
    wanted = (*required, 1, 1, 1)[:3]
    if required and wanted != geometry.block:
        raise LaunchError(f"kernel '{function.name}' requires blocks of {wanted}")
    most = function.directives.get("maxntid", ())
    if most and geometry.threads > int(np.prod(most)):
        raise LaunchError(
            f"kernel '{function.name}' takes at most {counted(int(np.prod(most)), 'thread')} per "
            f"CTA"
        )

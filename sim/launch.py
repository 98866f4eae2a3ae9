"""Launches: a kernel of a PTX text on arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .alu import Array
from .processes.choice import processes
from .ptx import Module, read
from .report import Report, SimulationError
from .run import DEFAULT_STEPS, Run

if TYPE_CHECKING:
    from pathlib import Path

    from .stepping.debugger import Debugger

__all__ = ["DEFAULT_STEPS", "launch"]


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
    recording: Sequence[int] | None = None,
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
        recording: the place in the grid of a CTA, of which, and of its cluster, `Report.recording`
            is made, which a timing model replays; with `checks`, and without `every_order`.
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
    count = processes()
    run = Run(
        ptx if isinstance(ptx, Module) else read(ptx, anew=False),
        kernel,
        grid,
        block,
        args,
        arch=arch,
        dynamic_smem=dynamic_smem,
        numerics=numerics,
        checks=checks,
        max_steps=max_steps,
        order=order,
        cluster=cluster,
        symbols=symbols,
        timeline=timeline,
        recording=recording,
        debugger=debugger,
        every_order=every_order,
        order_limit=order_limit,
    )
    told = timeline is not None or recording is not None or debugger is not None or every_order
    if count > 1 and run.waves > 1 and checks and order is None and not told:
        settings = {
            "arch": arch, "dynamic_smem": dynamic_smem, "numerics": numerics,
            "max_steps": max_steps, "cluster": cluster,
        }  # fmt: skip
        return _by_several(run, settings, count, progress)
    run.simulate(None, progress)
    run.copy_back()
    report = run.report()
    run.release()
    if not checks and not report.completed:
        raise SimulationError(report.findings[-1].message, report)
    return report


def _by_several(
    run: Run,
    settings: Mapping[str, Any],
    count: int,
    progress: Callable[[int, int], None] | None,
) -> Report:
    """Run a launch in this process, and in others where that takes long."""
    from .processes.beside import Beside  # noqa: PLC0415 (few launches have several waves)

    beside = Beside(run, settings, count, progress)
    try:
        run.simulate(None, beside.progress, beside.met)
    finally:
        beside.end()
    report = beside.report()
    if report is None:
        run.copy_back()
        report = run.report()
    run.release()
    return report

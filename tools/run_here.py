"""Where `tile-run` runs a launch: the GPU, this process, or the workers of a cluster."""

from __future__ import annotations

import argparse
from contextlib import ExitStack
from typing import TYPE_CHECKING

from tilec import sim
from tilec.isa import target
from tilec.isa.errors import TilecError
from tilec.isa.launch import extents
from tilec.launch.simulated import for_simulator
from tilec.runtime import cuda

from .cluster_flags import tls_of
from .colours import say
from .run_launch import LaunchArguments
from .run_progress import ProgressBar

if TYPE_CHECKING:
    from tilec.tuning.bound import Bound

    from .debug_session import DebugSession


def is_for_gpu(arch: str, flags: argparse.Namespace) -> bool:
    """Whether a launch is for the GPU.

    Args:
        arch: what it is compiled for.
        flags: the command's.

    Raises:
        TilecError: if it is, and asks for what only the simulator has.
    """
    simulated = [
        flag
        for flag, given in (
            (f"--numerics {flags.numerics}", flags.numerics != "exact"),
            ("--no-checks", not flags.checks),
            ("--max-steps", flags.max_steps is not None),
            ("--lines", flags.lines),
            ("--estimate", flags.estimate),
            ("--symbol", flags.symbol),
            ("--timeline", flags.timeline),
            ("--trace", flags.trace),
            ("--explore", flags.explore),
            ("--every-order", flags.every_order),
            ("--debug", flags.debug),
            ("--scheduler", flags.scheduler),
            ("--report html", flags.report == "html"),
        )
        if given
    ]
    if flags.device == "auto":
        return not simulated and cuda.available(target(arch))
    wanted: bool = flags.device == "cuda"
    if wanted and simulated:
        raise TilecError(f"--device cuda: {', '.join(simulated)} is only for the simulator")
    return wanted


def run_on_gpu(launch: LaunchArguments) -> None:
    """Run a launch on the GPU."""
    to = launch.placed(cuda.gpu().multiprocessors)
    ptx = launch.program.ptx.source.original
    cuda.launch(
        ptx, to.name, to.grid, to.block, to.passed, dynamic_smem=to.shared, cluster=to.cluster
    )


def simulated(launch: LaunchArguments, session: DebugSession | None = None) -> sim.Report:
    """Run a launch on the simulator of this process.

    Args:
        launch: what is run.
        session: who reads the commands of `--debug`.
    """
    to, flags = launch.placed(), launch.flags
    given, settings = launch.simulated(to)
    with ExitStack() as stack:
        bar = None if session is not None else stack.enter_context(ProgressBar())
        return sim.launch(
            launch.program.ptx,
            to.name,
            to.grid,
            to.block,
            given,
            **settings,
            progress=None if bar is None else bar.update,
            timeline=flags.cta if flags.timeline or flags.explore else None,
            recording=flags.cta if flags.trace else None,
            debugger=None if session is None else session.debugger,
            every_order=flags.every_order,
            order_limit=flags.order_limit,
        )


def on_cluster(launch: LaunchArguments) -> sim.Report:
    """Run the CTAs of a launch on the workers of `--scheduler`."""
    from tilec.sim.run import Run  # noqa: PLC0415 (only there)

    from .run_on_cluster import Cluster, Launch, simulate  # noqa: PLC0415 (needs Dask)

    to, flags = launch.placed(), launch.flags
    given, settings = launch.simulated(to)
    with ProgressBar() as bar:
        run = Run(launch.program.ptx, to.name, to.grid, to.block, given, **settings)
        source = launch.program.ptx.source
        sent = Launch(source.original, source.name, to.name, to.grid, to.block, run.image, settings)
        report = simulate(run, Cluster.named(flags.scheduler, tls_of(flags)), sent, bar.update)
    if not flags.checks and not report.completed:
        raise sim.SimulationError(report.findings[-1].message, report)
    return report


def estimated(
    launch: LaunchArguments, report: sim.Report | None
) -> tuple[Bound | None, sim.Schedule | None]:
    """The estimate of a run that completed, and what a timing model says, where asked for."""
    flags = launch.flags
    if report is not None and flags.trace and not report.completed:
        say("warning: --trace: the launch did not come to its end; there is no timeline of it\n")
    if report is None or not report.completed or not (flags.estimate or report.recording):
        return None, None
    bound = _bound(launch, report)
    if report.recording is None:
        return bound, None
    schedule = report.recording.replay(
        resident=None if bound is None else bound.estimate.resident,
        target=target(launch.program.arch),
    )
    return bound if flags.estimate else None, schedule


def _bound(launch: LaunchArguments, report: sim.Report) -> Bound | None:
    """What the model says of a launch; a warning where it cannot say anything."""
    from tilec.tuning.bound import bound  # noqa: PLC0415 (only there)
    from tilec.tuning.errors import TuningError  # noqa: PLC0415

    program, to = launch.program, launch.placed()
    cluster = extents(to.cluster or (1, 1, 1), "cluster")
    grid, block = extents(to.grid, "grid"), extents(to.block, "block")
    known, passed = target(program.arch), for_simulator(to.passed)
    try:
        return bound(program.ptx, to.name, known, grid, block, passed, cluster, to.shared, report)
    except TuningError as error:  # the run is told of in any case
        if launch.flags.estimate:
            say(f"warning: --estimate: {error}\n")
        return None

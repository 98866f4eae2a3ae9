"""`tile-run --problems`: launches of a file, one after the other or on the workers of a cluster."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import dataclass, field

from tilec import sim
from tilec.isa import TilecError

from .cluster_flags import tls_of
from .colours import say
from .files import check_outputs, write_outputs
from .launch_flags import read_problems
from .run_arguments import file_of
from .run_here import estimated, is_for_gpu, run_on_gpu, simulated
from .run_launch import LaunchArguments, launch_arguments
from .run_program import LoadedProgram
from .run_report import as_data, as_text


@dataclass
class _Problems:
    """What becomes of problems, which is told in their order.

    Attributes:
        flags: of each.
        failed: how many were failures.
        documents: what JSON has of them.
    """

    flags: Sequence[argparse.Namespace]
    failed: int = 0
    documents: dict[int, dict[str, object]] = field(default_factory=dict)
    _said: dict[int, tuple[str, str]] = field(default_factory=dict)
    _next: int = 0

    def ended(self, number: int, launch: LaunchArguments, report: sim.Report | None) -> None:
        """Take a problem that was run; without a report on the GPU."""
        outcomes = launch.outcomes(report)
        wrong = launch.wrong(report, outcomes)
        estimate, flags = estimated(launch, report)[0], launch.flags
        if not wrong:
            write_outputs(launch.files())
        text = as_text(report, estimate, outcomes, flags.check, lines=flags.lines)
        self._take(number, text, as_data(report, estimate, outcomes), wrong)

    def failure(self, number: int, why: BaseException | str) -> None:
        """Take a problem that could not be run."""
        if isinstance(why, OSError):
            why = f"{why.filename}: {why.strerror}"
        self._take(number, "", {}, str(why))

    def _take(self, number: int, text: str, data: dict[str, object], wrong: str) -> None:
        self.failed += bool(wrong)
        place = str(self.flags[number].place)
        self.documents[number] = {"place": place, **data, "error": wrong or None}
        self._said[number] = f"{place}:\n{text}" if text else "", wrong
        while self._next in self._said:
            said, error = self._said.pop(self._next)
            if said and self.flags[self._next].report == "text":
                print(said, flush=True)
            if error:
                say(f"{self.flags[self._next].place}: error: {error}\n")
            self._next += 1


def run_problems(program: LoadedProgram, flags: argparse.Namespace) -> int:
    """Run the launches that the lines of a file are; returns the exit code.

    Raises:
        ProblemError: at a line that is no launch, before anything is run.
        TilecError: if one has findings or is wrong, after all have been run.
    """
    for flag, given in (
        ("--timeline", flags.timeline),
        ("--trace", flags.trace),
        ("--explore", flags.explore),
        ("--debug", flags.debug),
        ("--report html", flags.report == "html"),
    ):
        if given:
            raise TilecError(f"{flag} shows one launch: without --problems")
    found = read_problems(flags.problems, flags)
    read = [flags.input, flags.problems]
    read += [name for one in found for name in (one.check, *map(file_of, one.arg))]
    check_outputs([path for one in found for _, path in one.out], read)
    problems = _Problems(found)
    if flags.scheduler is not None:
        is_for_gpu(program.arch, flags)
        _on_cluster(program, problems, flags)
    else:
        for number, one in enumerate(found):
            try:
                launch = launch_arguments(program, one)
                run = run_on_gpu if is_for_gpu(program.arch, one) else simulated
                report = run(launch)
            except (TilecError, OSError) as error:
                problems.failure(number, error)
                continue
            problems.ended(number, launch, report)
    if flags.report == "json":
        print(json.dumps([one for _, one in sorted(problems.documents.items())], indent=2))
    if problems.failed:
        raise TilecError(f"{problems.failed} of {len(found)} problems failed")
    return 0


def _on_cluster(program: LoadedProgram, problems: _Problems, flags: argparse.Namespace) -> None:
    from tilec.sim.run import Run  # noqa: PLC0415 (only there)

    from .problems_on_cluster import Problem, Solved, solve_all  # noqa: PLC0415 (needs Dask)
    from .run_on_cluster import Cluster, Launch  # noqa: PLC0415

    source, launches = program.ptx.source, dict[int, LaunchArguments]()

    def begin(number: int) -> Problem | None:
        try:
            launch = launches[number] = launch_arguments(program, problems.flags[number])
            to = launch.placed()
            given, settings = launch.simulated(to)
            settings |= {"every_order": flags.every_order, "order_limit": flags.order_limit}
            run = Run(program.ptx, to.name, to.grid, to.block, given, **settings)
        except (TilecError, OSError) as error:
            problems.failure(number, error)
            return None
        whole = source.original, source.name, to.name, to.grid, to.block, run.image, settings
        return Problem(run, Launch(*whole))

    def end(number: int, problem: Problem, answer: Solved | str) -> None:
        launch = launches.pop(number)
        if isinstance(answer, str):
            problems.failure(number, answer)
            return
        report = problem.take(answer)
        if not flags.checks and not report.completed:
            problems.failure(number, report.findings[-1].message)
            return
        problems.ended(number, launch, report)

    cluster = Cluster.named(flags.scheduler, tls_of(flags))
    solve_all(range(len(problems.flags)), begin, end, cluster)

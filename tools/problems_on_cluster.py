"""Launches that do not depend on each other on the workers of a Dask cluster, each whole on one."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from tilec.isa import TilecError
from tilec.sim.alu import Array
from tilec.sim.ptx import Module, read_text
from tilec.sim.report import Report
from tilec.sim.run import Run
from tilec.sim.touched import spans
from tilec.tuning.connection import Connection
from tilec.tuning.cores import cores
from tilec.tuning.elsewhere import compare_versions
from tilec.tuning.jobs import SILENCE, Done, Jobs, LostError

from .colours import say
from .run_on_cluster import Cluster, Failed, Launch, simulator_versions

_PER_THREAD = 2
"""Problems that are sent for each thread of the workers, so that none waits for the client."""


@dataclass(frozen=True)
class Solved:
    """A worker's answer.

    Attributes:
        report: of the run.
        spans: bytes of global memory that it changed, from and to, (n, 2).
        data: what these hold in the end, one after the other.
    """

    report: Report
    spans: Array
    data: Array


@lru_cache(maxsize=16)
def _module(text: str, name: str) -> Module:
    return read_text(text, name)


def solve(sent: bytes, wanted: Mapping[str, str]) -> Solved | Failed:
    """Run a launch: what a worker does.

    Args:
        sent: the `Launch`, pickled.
        wanted: versions that the client has.

    Raises:
        TuningError: for other versions.
    """
    compare_versions(simulator_versions(), wanted)
    launch: Launch = pickle.loads(sent)
    try:
        module = _module(launch.ptx, launch.name)
        run = Run(module, launch.kernel, launch.grid, launch.block, launch.image, **launch.settings)
        memory = run.machine.memory
        after = memory.data[: memory.shared_base]
        before = after.copy()
        run.simulate(None)
        report = run.report()
    except TilecError as error:
        return Failed(str(error))
    changed = after != before
    run.release()
    return Solved(report, spans(changed.view(np.uint8)), after[changed])


@dataclass(frozen=True)
class Problem:
    """A launch here, of which nothing has been run.

    Attributes:
        run: of this process, whose arrays are changed as the worker's were.
        launch: the same for workers.
    """

    run: Run
    launch: Launch

    def take(self, solved: Solved) -> Report:
        """What a worker gave, whose changes are made to the arrays here."""
        data, size = self.run.machine.memory.data, np.diff(solved.spans).ravel()
        ends = np.cumsum(size)
        for (first, last), end, number in zip(solved.spans, ends, size, strict=True):
            data[first:last] = solved.data[end - number : end]
        self.run.copy_back()
        return solved.report


def solve_all(
    numbers: range,
    begin: Callable[[int], Problem | None],
    end: Callable[[int, Problem, Solved | str], None],
    cluster: Cluster,
) -> None:
    """Run launches on the workers of a cluster, a few for each of them at a time.

    Args:
        numbers: what they are called.
        begin: makes one; None if there is nothing to run.
        end: told what became of one, or why nothing did.
        cluster: who simulates.

    Raises:
        TuningError: for a cluster that cannot be reached.
        TilecError: for workers with other versions.
    """
    connection = Connection(cluster.address, min(cores(), len(numbers)), cluster.tls, SILENCE)
    try:
        say(f"dashboard: {connection.dashboard}\n")
        jobs = Jobs(connection)
        jobs.wait_for_workers()
        _solve_all(iter(numbers), begin, end, jobs)
        for how, count in jobs.lost.items():
            say(f"remark: {count} of the workers {how}; what they were at ran elsewhere\n")
    finally:
        connection.close()


def _solve_all(
    left: Iterator[int],
    begin: Callable[[int], Problem | None],
    end: Callable[[int, Problem, Solved | str], None],
    jobs: Jobs,
) -> None:
    versions, sent = simulator_versions(), dict[str, Problem]()
    number: int | None = next(left, None)
    while number is not None or sent:
        while number is not None and len(sent) < max(jobs.threads, 1) * _PER_THREAD:
            problem = begin(number)
            if problem is not None:
                launch = pickle.dumps(problem.launch, pickle.HIGHEST_PROTOCOL)
                sent[str(number)] = problem
                jobs.submit(str(number), solve, launch, versions)
            number = next(left, None)
        for done in jobs.wait():
            end(int(done.name), sent.pop(done.name), _answer(done))


def _answer(done: Done) -> Solved | str:
    """What a worker answers, or why a problem has no answer."""
    if isinstance(done.error, LostError):
        return f"its workers are lost with it, {done.error}"
    if isinstance(done.error, ImportError):
        raise TilecError(f"a worker has no tilec: {done.error}")
    if done.error is not None:
        raise TilecError(f"a worker: {done.error}")
    found: Solved | Failed = done.value
    return found.why if isinstance(found, Failed) else found

"""`tune`: assess all candidates of a kernel, remember what was found, and rank them."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tilec.isa import target as find_target

from .assess import Task
from .declared import Tunable
from .measure import device_of, measure
from .pool import Pool
from .problems import Problem
from .store import Outcome, State, Store, StudyKey
from .store.keys import versions

if TYPE_CHECKING:
    from .cluster import Cluster

_PAUSE = 0.2
"""Seconds between looks at what other processes work on."""


@dataclass(frozen=True)
class Progress:
    """How far a study is.

    Attributes:
        key: of the study.
        done: candidates whose outcome is known.
        total: all of them.
        rate: of this process, in candidates a second.
        best: the one that costs least so far; None before the first.
    """

    key: StudyKey
    done: int
    total: int
    rate: float
    best: Outcome | None


@dataclass(frozen=True)
class Study:
    """What became of the candidates of one problem on one target.

    Attributes:
        key: what they are of.
        outcomes: the best first, then those that were refused.
    """

    key: StudyKey
    outcomes: Sequence[Outcome]

    @property
    def ranked(self) -> list[Outcome]:
        """Those that can be launched, the best first."""
        return [one for one in self.outcomes if one.state is State.RANKED]

    @property
    def refused(self) -> Counter[str]:
        """How many were refused for each reason."""
        return Counter(one.reason for one in self.outcomes if one.state is State.REFUSED)

    @property
    def best(self) -> Outcome | None:
        """The one that costs least; None if all were refused."""
        return next(iter(self.ranked), None)


def study_key(task: Task, device: str = "model") -> StudyKey:
    """What the outcomes of a task are remembered by."""
    tunable = task.tunable
    return StudyKey(
        tunable.name,
        tunable.digest,
        dict(task.problem.sizes),
        {one.name: one.type for one in tunable.arguments},
        task.target,
        device,
        {**versions(), "ptxas": _assembler(task), "same bits": str(task.same_bits or "any")},
    )


def _assembler(task: Task) -> str:
    if not task.assembled:
        return "none"
    from tilec.backend.cubin import find_ptxas  # noqa: PLC0415 (imports LLVM)

    return find_ptxas(find_target(task.target))[1]


def tune(
    tunable: Tunable,
    *,
    targets: Sequence[str],
    problems: Sequence[Problem] = (),
    store: str | Path | Store = ":memory:",
    workers: int = 0,
    scheduler: str | None = None,
    assembled: bool = False,
    same_bits: Problem | None = None,
    measured: int = 0,
    progress: Callable[[Progress], None] | None = None,
) -> list[Study]:
    """Compile, count and rank all candidates, for each target and problem.

    What the store knows is not tried again. Several processes may work on the same store.

    Args:
        tunable: the kernel, declared by `@tilec.tunable` or read by `load`.
        targets: such as `sm_90a`.
        problems: sizes; by default those of the declaration.
        store: a file, or a store; without, nothing is remembered.
        workers: processes that compile; 0 to compile in this one.
        scheduler: the address of a Dask scheduler whose workers compile instead, such as
            `tcp://127.0.0.1:8786`; empty for a cluster of this machine's own with so many workers.
        assembled: whether `ptxas` says what each candidate takes and spills.
        same_bits: a small problem for which results must be bit for bit the default's, as the exact
            simulator finds; None to take any.
        measured: how many of the best are timed on the GPU, which is then what they are known for.
        progress: told after every outcome how far it is.

    Raises:
        TuningError: for a space that no candidate fulfils, and a store that cannot be used.
        TilecError: for an unknown target, and a `ptxas` or a GPU that is wanted and missing.
    """
    chosen = problems or [tunable.default_problem]
    known = [find_target(name).name for name in targets]
    tasks = [Task(tunable, one, name, assembled, same_bits) for name in known for one in chosen]
    spaces = [tunable.candidates(task.problem) for task in tasks]
    opened = store if isinstance(store, Store) else Store(store)
    try:
        for name in known if measured else ():
            device_of(name)
        with _pool(tunable, workers, scheduler) as pool:
            found = [
                _study(opened, pool, task, space, progress or (lambda _: None))
                for task, space in zip(tasks, spaces, strict=True)
            ]
        if not measured:
            return found
        pairs = zip(tasks, found, strict=True)
        return [_measured(opened, task, study, measured) for task, study in pairs]
    finally:
        if opened is not store:
            opened.close()


def _pool(tunable: Tunable, workers: int, scheduler: str | None) -> Pool | Cluster:
    if scheduler is None:
        return Pool(tunable.file, tunable.name, workers)
    from .cluster import Cluster  # noqa: PLC0415 (imports Dask)

    return Cluster(tunable.file, tunable.name, scheduler, max(workers, 1))


def _measured(store: Store, task: Task, study: Study, most: int) -> Study:
    """The best of a study with their times, which a study of the device remembers."""
    key = study_key(task, device_of(task.target))
    id_ = store.study(key)
    wanted = study.ranked[:most]
    known = {one.name for one in store.outcomes(id_)}
    if not known.issuperset(one.name for one in wanted):
        # All of them once more: times are compared with those of the same turns alone.
        for outcome in measure(task, wanted):
            store.put(id_, outcome)
    names = {one.name for one in wanted}
    found = [one for one in store.outcomes(id_) if one.name in names]
    return Study(key, sorted(found, key=lambda one: (one.measured or {}).get("median", 0.0)))


def _study(
    store: Store,
    pool: Pool | Cluster,
    task: Task,
    candidates: Sequence[dict[str, int]],
    progress: Callable[[Progress], None],
) -> Study:
    key = study_key(task)
    study = store.study(key)
    names = {Outcome(one, State.REFUSED).name for one in candidates}
    began, found = time.monotonic(), 0
    known = [one for one in store.outcomes(study) if one.name in names]
    best = known[0] if known and known[0].cost is not None else None
    done = len(known)
    progress(Progress(key, done, len(candidates), 0.0, best))
    while True:
        taken = store.claim(study, candidates, pool.room) if pool.room else []
        for candidate in taken:
            pool.begin(task, candidate)
        if not pool.busy:
            if not store.claimed(study):
                break
            time.sleep(_PAUSE)  # another process has the rest
            continue
        for outcome in pool.wait():
            store.put(study, outcome)
            found += 1
            if outcome.cost is not None and (best is None or outcome.cost < (best.cost or 0)):
                best = outcome
            rate = found / (time.monotonic() - began)
            progress(Progress(key, done + found, len(candidates), rate, best))
    return Study(key, [one for one in store.outcomes(study) if one.name in names])

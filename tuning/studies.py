"""`tune`: assess all candidates of a kernel, remember what was found, and rank them."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from tilec.isa import target as find_target

from .assess import Task, assembler_of
from .cores import cores, many_cores
from .declared import Tunable
from .errors import TuningError
from .measure import device_of, measure
from .pool import PATIENCE, Pool
from .problems import Problem
from .space import Candidate
from .store import Outcome, State, Store, StudyKey
from .store.keys import versions
from .strategies import TRIALS, Begin, Strategy
from .strategies import strategy as begin_of

if TYPE_CHECKING:
    from .cluster import Cluster
    from .connection import Tls

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
        dashboard: a link to what the cluster does; empty without one.
        lost: workers of a cluster that went so far, by how.
    """

    key: StudyKey
    done: int
    total: int
    rate: float
    best: Outcome | None
    dashboard: str = ""
    lost: Mapping[str, int] = field(default_factory=dict)


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
    assembler = assembler_of(task.target) if task.assembled else "none"
    return StudyKey(
        tunable.name,
        tunable.digest,
        dict(task.problem.sizes),
        {one.name: one.type for one in tunable.arguments},
        task.target,
        device,
        {**versions(), "ptxas": assembler, "same bits": str(task.same_bits or "any")},
    )


def tune(
    tunable: Tunable,
    *,
    targets: Sequence[str],
    problems: Sequence[Problem] = (),
    store: str | Path | Store = ":memory:",
    strategy: str = Strategy.MODEL_FIRST,
    trials: int | None = None,
    workers: int | None = 0,
    scheduler: str | None = None,
    tls: Tls | None = None,
    patience: float = PATIENCE,
    assembled: bool = False,
    same_bits: Problem | None = None,
    measured: int = 0,
    progress: Callable[[Progress], None] | None = None,
) -> list[Study]:
    """Compile, count and rank candidates, for each target and problem.

    What the store knows is not tried again. Several processes may work on the same store.

    Args:
        tunable: the kernel, declared by `@tilec.tunable` or read by `load`.
        targets: such as `sm_90a`.
        problems: sizes; by default those of the declaration.
        store: a file, or a store; without, nothing is remembered.
        strategy: `exhaustive`, `model-first` or `optuna`, as `strategies.Strategy` has it.
        trials: candidates that `optuna` tries, those that the store knows included; 100 by default.
        workers: processes that compile; 0 to compile in this one; None for this one, or on many
            cores a cluster of this machine's own with one for each (`cores.many_cores`), which
            processes that import the calling script anew must be able to do.
        scheduler: the address of a Dask scheduler whose workers compile instead, such as
            `tcp://127.0.0.1:8786`; empty for a cluster of this machine's own with so many workers,
            of one for each core if `workers` is None.
        tls: certificates for the scheduler, which `tls://` addresses need; None for those of Dask's
            configuration.
        patience: seconds that a candidate may take in another process.
        assembled: whether `ptxas` says what each candidate takes and spills.
        same_bits: a small problem for which results must be bit for bit the default's, as the exact
            simulator finds; None to take any.
        measured: how many of the best are timed on the GPU, which is then what they are known for;
            with `exhaustive` all are, so many at a time. With a scheduler, workers with Dask's
            resource `GPU` time them.
        progress: told after every outcome how far it is.

    Raises:
        TuningError: for a space that no candidate fulfils, a store that cannot be used, an unknown
            strategy, and a scheduler that does not answer or is not to be spoken to.
        TilecError: for an unknown target, and a `ptxas` or a GPU that is wanted and missing.
    """
    chosen = problems or [tunable.default_problem]
    known = [find_target(name).name for name in targets]
    tasks = [Task(tunable, one, name, assembled, same_bits) for name in known for one in chosen]
    spaces = [tunable.candidates(task.problem) for task in tasks]
    search = begin_of(strategy, trials)
    opened = store if isinstance(store, Store) else Store(store)
    try:
        for name in known if measured and scheduler is None else ():
            device_of(name)
        left = _left(opened, tasks, spaces, strategy, trials)
        with _places(tunable, workers, scheduler, tls, patience, left) as (pool, timing):
            for name in known if measured else ():
                _device(timing, name)
            found = []
            for task, space in zip(tasks, spaces, strict=True):
                try:
                    found.append(_study(opened, pool, task, space, search, progress or _silent))
                except BaseException:
                    opened.release(study_key(task).id)  # for whoever goes on, this process too
                    raise
            if not measured:
                return found
            all_ = strategy == Strategy.EXHAUSTIVE
            pairs = zip(tasks, found, strict=True)
            return [_measured(opened, timing, task, study, measured, all_) for task, study in pairs]
    finally:
        if opened is not store:
            opened.close()


def _left(
    store: Store,
    tasks: Sequence[Task],
    spaces: Sequence[Sequence[Candidate]],
    strategy: str,
    trials: int | None,
) -> int:
    """Candidates that are to be tried."""
    count = 0
    for task, space in zip(tasks, spaces, strict=True):
        tried = len(store.tried(study_key(task).id))
        wanted = len(space)
        if strategy == Strategy.OPTUNA:
            wanted = min(wanted, TRIALS if trials is None else trials)
        count += max(wanted - tried, 0)
    return count


def _silent(_: Progress) -> None:
    """Tell nobody how far it is."""


@contextmanager
def _places(
    tunable: Tunable,
    workers: int | None,
    scheduler: str | None,
    tls: Tls | None,
    patience: float,
    left: int,
) -> Iterator[tuple[Pool | Cluster, Pool | Cluster]]:
    """Who compiles, and who times: of a cluster that nobody asked for, this process."""
    unasked = many_cores(left) if workers is None and scheduler is None and tls is None else 0
    if unasked:
        timing = Pool(tunable.file, tunable.name, 0)
        with timing, _pool(tunable, unasked, "", None, patience) as pool:
            yield pool, timing
        return
    if workers is None:
        workers = 0 if scheduler is None else cores()
    with _pool(tunable, workers, scheduler, tls, patience) as pool:
        yield pool, pool


def _pool(
    tunable: Tunable, workers: int, scheduler: str | None, tls: Tls | None, patience: float
) -> Pool | Cluster:
    if scheduler is None:
        if tls is not None:
            raise TuningError("certificates are for a scheduler, and there is none")
        return Pool(tunable.file, tunable.name, workers, patience)
    from .cluster import Cluster  # noqa: PLC0415 (of the extra `dask`)

    return Cluster(
        tunable.file, tunable.name, scheduler, max(workers, 1), tls=tls, patience=patience
    )


def _device(pool: Pool | Cluster, target: str) -> str:
    """The GPU that measures."""
    return device_of(target) if isinstance(pool, Pool) else pool.device(target)


def _measured(
    store: Store, pool: Pool | Cluster, task: Task, study: Study, most: int, all_: bool
) -> Study:
    """Candidates of a study with their times, which a study of the device remembers.

    Times are compared with those of the same turns alone. Where all candidates are timed, so many
    at a time, the fastest so far takes part in all turns.
    """
    key = study_key(task, _device(pool, task.target))
    id_ = store.study(key)
    wanted = study.ranked if all_ else study.ranked[:most]
    names = {one.name for one in wanted}
    known = {one.name: one for one in store.outcomes(id_) if one.name in names}
    if not all_ and len(known) < len(names):
        known = {}
    left = [one for one in wanted if one.name not in known]
    while left:
        turn, left = left[:most], left[most:]
        turn += sorted(known.values(), key=_time)[:1]
        for outcome in measure(task, turn) if isinstance(pool, Pool) else pool.measure(task, turn):
            store.put(id_, outcome)
            known[outcome.name] = outcome
    return Study(key, sorted(known.values(), key=_time))


def _time(outcome: Outcome) -> float:
    return (outcome.measured or {}).get("median", 0.0)


def _study(
    store: Store,
    pool: Pool | Cluster,
    task: Task,
    candidates: Sequence[Candidate],
    begin: Begin,
    progress: Callable[[Progress], None],
) -> Study:
    key = study_key(task)
    study = store.study(key)
    search = begin(store, study, task.tunable.space, candidates)
    names = {Outcome(one, State.REFUSED).name for one in candidates}
    link = "" if isinstance(pool, Pool) else pool.dashboard
    began, found = time.monotonic(), 0
    known = [one for one in store.outcomes(study) if one.name in names]
    best = known[0] if known and known[0].cost is not None else None
    done, total = len(known), max(search.total, len(known))
    progress(Progress(key, done, total, 0.0, best, link))
    while True:
        for candidate in search.take(room) if (room := pool.room) else ():
            pool.begin(task, candidate)
        if not pool.busy:
            if not store.claimed(study):
                break
            time.sleep(_PAUSE)  # another process has the rest
            continue
        for outcome in pool.wait():
            store.put(study, outcome)
            search.told(outcome)
            found += 1
            if outcome.cost is not None and (best is None or outcome.rank < best.rank):
                best = outcome
            rate = found / (time.monotonic() - began)
            lost = {} if isinstance(pool, Pool) else dict(pool.lost)
            progress(Progress(key, done + found, total, rate, best, link, lost))
    return Study(key, [one for one in store.outcomes(study) if one.name in names])

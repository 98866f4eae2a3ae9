"""Candidates on a Dask cluster: as `pool.Pool`, but workers are processes anywhere.

The client alone writes the store. A task whose worker dies is tried elsewhere by Dask's scheduler;
one that ends several workers is refused alone. Tasks carry the texts of the kernel's file, so that
workers need no file system in common, and the client checks that all have its version of tilec.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from .assess import Task, assess
from .declared import Tunable
from .errors import TuningError
from .problems import Problem
from .programs import load
from .store import Outcome, State
from .store.keys import versions
from .worker import asked

_PER_WORKER = 2
"""Candidates that are sent for each thread of a worker, so that none waits for the client."""
_CONNECT = "10s"


class Cluster:
    """Workers of a Dask scheduler.

    Args:
        file: where the kernel is declared.
        name: of the kernel.
        address: of the scheduler, such as `tcp://127.0.0.1:8786` or `tls://…`; empty for a cluster
            of this machine's own, of `size` processes.
        size: processes of a cluster of this machine.
        tls: of `distributed.Security.temporary` or with certificates; None without.

    Raises:
        TuningError: if Dask is not there, or no scheduler answers, or workers have another tilec.
    """

    def __init__(self, file: str, name: str, address: str, size: int = 1, tls: Any = None) -> None:
        try:
            import distributed  # noqa: PLC0415 (of the extra `dask`)
        except ImportError:
            raise TuningError(
                "--scheduler needs Dask, which is not installed: pip install 'tilec[dask]'"
            ) from None
        self._path = Path(file)
        self._texts = _texts(self._path)
        self._name = name
        self._local: Any = None
        if not address:
            self._local = distributed.LocalCluster(
                n_workers=size, threads_per_worker=1, dashboard_address="127.0.0.1:0", security=tls
            )
        try:
            self._client = distributed.Client(
                self._local or address, timeout=_CONNECT, security=tls, set_as_default=False
            )
        except (OSError, TimeoutError, ValueError) as error:
            raise TuningError(f"scheduler {address}: {error}") from None
        self._check_versions(address)
        self._results = distributed.as_completed(
            loop=self._client.loop, with_results=True, raise_errors=False
        )
        self._sent: dict[Any, Mapping[str, int]] = {}

    def _check_versions(self, address: str) -> None:
        """See that workers have the code that this process has, which outcomes are known by."""
        self._client.wait_for_workers(1, timeout=30)
        mine = dict(versions())
        for worker, its in self._client.run(_versions).items():
            if its != mine:
                other = ", ".join(f"{k} {v}" for k, v in its.items() if mine.get(k) != v)
                self._client.close()
                raise TuningError(f"scheduler {address}: worker {worker} has {other}, not the same")

    @property
    def dashboard(self) -> str:
        """A link to what the cluster does."""
        return str(self._client.dashboard_link)

    def __enter__(self) -> Cluster:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.cancel(list(self._sent))
        self._client.close()
        if self._local is not None:
            self._local.close()

    @property
    def room(self) -> int:
        """Candidates that can be sent."""
        threads: int = sum(self._client.nthreads().values())
        return max(threads * _PER_WORKER - len(self._sent), 0)

    @property
    def busy(self) -> bool:
        """Whether something is being worked on."""
        return bool(self._sent)

    def begin(self, task: Task, candidate: Mapping[str, int]) -> None:
        """Send a candidate."""
        future = self._client.submit(
            assess_elsewhere, self._texts, str(self._path), self._name,
            asked(task, dict(candidate)), pure=False, retries=0,
        )  # fmt: skip
        self._sent[future] = candidate
        self._results.add(future)

    def wait(self) -> list[Outcome]:
        """What became of a candidate, of those that were sent."""
        future, result = next(self._results)
        candidate = self._sent.pop(future)
        if future.status == "finished":
            return [result]
        _, error, _ = result
        why = type(error).__name__
        return [Outcome(dict(candidate), State.REFUSED, "it crashes the compiler", why)]


def _texts(path: Path) -> dict[str, str]:
    """The kernel's file, and the template beside a declaration in JSON."""
    files = [path]
    if path.suffix == ".json":
        files += [one for one in path.parent.iterdir() if one.name in path.read_text("utf-8")]
    return {one.name: one.read_text("utf-8") for one in files if one.is_file()}


def _versions() -> dict[str, str]:
    return dict(versions())


def assess_elsewhere(texts: Mapping[str, str], file: str, name: str, said: str) -> Outcome:
    """What a worker of a cluster does: what `worker` does of this machine.

    Args:
        texts: the files of the declaration, by name.
        file: the client's path of it, which messages name.
        name: of the kernel.
        said: what `worker.asked` gives.
    """
    tunable = _loaded(tuple(sorted(texts.items())), Path(file).name, name)
    given = json.loads(said)
    bits = None if given["same_bits"] is None else Problem(given["same_bits"])
    task = Task(tunable, Problem(given["sizes"]), given["target"], given["assembled"], bits)
    found = assess(task, given["candidate"])
    return replace(found, detail=found.detail.replace(tunable.file, file))


@lru_cache(maxsize=16)
def _loaded(texts: tuple[tuple[str, str], ...], file: str, name: str) -> Tunable:
    """The kernel of some files, written where this process may."""
    folder = Path(tempfile.mkdtemp(prefix="tilec-tune-"))
    for path, text in texts:
        (folder / path).write_text(text, "utf-8")
    return load(folder / file, name)

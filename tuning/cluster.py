"""Candidates on a Dask cluster: as `pool.Pool`, but workers are processes anywhere.

The client alone writes the store. A worker assesses in a process beside itself, so that what a
candidate does to it is what it would do here; whatever else happens to a worker, the candidate is
tried elsewhere. Tasks carry the texts of the kernel's file, so that workers need no file system in
common, and the versions that outcomes are known by, which a worker must have.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from . import elsewhere, jobs
from .assess import Task
from .connection import Connection, Tls
from .errors import TuningError
from .jobs import Done, Jobs, LostError
from .pool import PATIENCE
from .store import Outcome, State
from .store.keys import versions
from .store.outcomes import name_of
from .worker import asked

_PER_WORKER = 2
"""Candidates that are sent for each thread of a worker, so that none waits for the client."""
GPU = {"GPU": 1.0}
"""The resource of Dask that workers with a GPU have: `dask worker … --resources GPU=1`."""


class Cluster:
    """Workers of a Dask scheduler.

    Args:
        file: where the kernel is declared.
        name: of the kernel.
        address: of the scheduler, such as `tcp://127.0.0.1:8786` or `tls://…`; empty for a cluster
            of this machine's own, of `size` processes.
        size: processes of a cluster of this machine.
        tls: certificates; None without, or for those of Dask's configuration.
        patience: seconds that a candidate may take.
        silence: seconds without a word after which a worker is avoided; by default `jobs.SILENCE`.

    Raises:
        TuningError: if Dask is not there, or no scheduler answers, or workers have another tilec.
    """

    def __init__(
        self,
        file: str,
        name: str,
        address: str,
        size: int = 1,
        *,
        tls: Tls | None = None,
        patience: float = PATIENCE,
        silence: float | None = None,
    ) -> None:
        self._path, self._name, self._patience = Path(file), name, patience
        self._texts = _texts(self._path)
        silence = jobs.SILENCE if silence is None else silence
        self._connection = Connection(address, size, tls, silence)
        self._jobs = Jobs(self._connection, silence)
        self._sent: dict[str, Mapping[str, int]] = {}
        self._devices: dict[str, dict[str, str]] = {}
        try:
            self._jobs.wait_for_workers()
            self._check_versions()
        except BaseException:
            self.close()
            raise

    def _check_versions(self) -> None:
        """See that those workers that are there have the code that outcomes are known by."""
        for worker in self._jobs.workers:
            self._jobs.submit(worker, elsewhere.check_versions, dict(versions()), only=[worker])
        while len(self._jobs):
            for done in self._jobs.wait():
                if done.error is not None and not isinstance(done.error, LostError):
                    raise self._error(done.error, done.name)

    def _error(self, error: BaseException, worker: str = "") -> TuningError:
        """The one error that a worker's is for the user."""
        at = f"worker {worker}: " if worker else "a worker: "
        if isinstance(error, ImportError):
            return TuningError(f"scheduler {self._connection.name}: {at}it has no tilec ({error})")
        return TuningError(f"scheduler {self._connection.name}: {at}{error}")

    @property
    def dashboard(self) -> str:
        """A link to what the cluster does."""
        return self._connection.dashboard

    @property
    def lost(self) -> Mapping[str, int]:
        """Workers that went while there was work, by how."""
        return self._jobs.lost

    def __enter__(self) -> Cluster:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Give up what was sent, and end."""
        self._jobs.cancel()
        self._connection.close()

    @property
    def room(self) -> int:
        """Candidates that can be sent."""
        return max(self._jobs.threads * _PER_WORKER - len(self._sent), 0)

    @property
    def busy(self) -> bool:
        """Whether something is being worked on."""
        return bool(self._sent)

    def begin(self, task: Task, candidate: Mapping[str, int]) -> None:
        """Send a candidate."""
        name = name_of(candidate)
        self._sent[name] = candidate
        self._jobs.submit(
            name, elsewhere.assess_elsewhere, self._texts, str(self._path), self._name,
            asked(task, dict(candidate)),
            elsewhere.versions_for(task.target if task.assembled else ""), self._patience,
            limit=(_PER_WORKER + 1) * self._patience,
        )  # fmt: skip

    def wait(self) -> list[Outcome]:
        """What became of some candidates, of those that were sent.

        Raises:
            TuningError: for a scheduler that is lost, and workers that cannot begin.
        """
        return [self._outcome(one) for one in self._jobs.wait()]

    def _outcome(self, done: Done) -> Outcome:
        candidate = self._sent.pop(done.name)
        if isinstance(done.error, LostError):
            why = str(done.error)
            return Outcome(dict(candidate), State.REFUSED, "its workers are lost with it", why)
        if done.error is not None:
            raise self._error(done.error)
        found: Outcome = done.value
        return found

    def device(self, target: str) -> str:
        """The GPU that measures for a target: the first by name, of those that workers have.

        Raises:
            TuningError: if no worker has one.
        """
        found = self._gpus(target)
        if not found:
            raise TuningError(
                f"scheduler {self._connection.name}: nothing is measured: no worker with the "
                f"resource GPU has one that runs {target}"
            )
        return min(found.values())

    def _gpus(self, target: str) -> dict[str, str]:
        """The GPUs of the workers that have the resource and one for a target, by address."""
        known = self._devices.setdefault(target, {})
        for worker, one in self._jobs.workers.items():
            if one["resources"].get("GPU", 0) >= 1 and worker not in known:
                self._jobs.submit(f"{worker} device", elsewhere.gpu_of_worker, target,
                                  only=[worker], resources=GPU)  # fmt: skip
        while len(self._jobs):
            for done in self._jobs.wait():
                if done.error is None and done.value:
                    known[done.name.partition(" ")[0]] = done.value
        return known

    def measure(self, task: Task, outcomes: Sequence[Outcome]) -> list[Outcome]:
        """Candidates with their times on a GPU of a worker, all on the same one.

        A worker that loses its GPU, or dies, is left for another with such a GPU.

        Raises:
            TuningError: if there is none left, with what the last one said.
        """
        device, said = self.device(task.target), ""
        while True:
            having = [at for at, one in self._gpus(task.target).items() if one == device]
            among = [at for at in having if at in self._jobs.workers]
            if not among:
                raise TuningError(
                    f"scheduler {self._connection.name}: no worker measures on {device} any more"
                    f"{said and ': '}{said}"
                )
            answer = self._measured(task, outcomes, among[0])
            if not isinstance(answer, str):
                return answer
            said = answer
            self._devices[task.target][among[0]] = ""  # it has none that works

    def _measured(
        self, task: Task, outcomes: Sequence[Outcome], worker: str
    ) -> list[Outcome] | str:
        """Outcomes with times, or why a worker has none."""
        self._jobs.submit(
            "measure", elsewhere.measure_elsewhere, self._texts, str(self._path), self._name,
            [asked(task, dict(one.candidate)) for one in outcomes], list(outcomes),
            dict(versions()), only=[worker], resources=GPU, limit=self._patience * len(outcomes),
        )  # fmt: skip
        (done,) = self._jobs.wait()
        if done.error is not None:
            return f"{worker}: {done.error}"
        found: list[Outcome] = done.value
        return found


def _texts(path: Path) -> dict[str, str]:
    """The kernel's file, and the template beside a declaration in JSON."""
    files = [path]
    if path.suffix == ".json":
        files += [one for one in path.parent.iterdir() if one.name in path.read_text("utf-8")]
    return {one.name: one.read_text("utf-8") for one in files if one.is_file()}

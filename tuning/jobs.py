"""Calls on the workers of a Dask cluster that are made until somebody answers.

Dask makes the call of a worker that died elsewhere. A worker that only stops, whose connection
stays, it would wait for; here a worker that the scheduler has not heard for a while is avoided
until it is heard again, and its calls are made elsewhere.
"""

from __future__ import annotations

import queue
import time
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

from .connection import Connection
from .errors import TuningError

SILENCE = 30.0
"""Seconds without a word after which a worker is avoided; they send one every few seconds."""
ALONE = 120.0
"""Seconds to wait for a worker where there is none that is heard."""
_LOSSES = 3
"""Calls of one job that end their workers, after which it is given up."""
_PERIOD = 0.5
"""Seconds between looks at the workers."""


class LostError(Exception):
    """What becomes of a job whose workers are lost with it."""


@dataclass
class _Job:
    """A call, and where it was sent."""

    function: Callable[..., Any]
    args: tuple[Any, ...]
    limit: float
    resources: Mapping[str, float] | None
    only: Collection[str]
    future: Any = None
    sent: float = 0.0
    among: Collection[str] = ()
    losses: int = 0


@dataclass(frozen=True)
class Done:
    """What became of a job.

    Attributes:
        name: of the job.
        value: what the call gives.
        error: what it raised; `LostError` if its workers were lost with it.
    """

    name: str
    value: Any = None
    error: BaseException | None = None


class Jobs:
    """Calls that are under way.

    Args:
        connection: to the scheduler.
        silence: seconds without a word after which a worker is avoided.
        alone: seconds to wait for a worker where there is none.
    """

    def __init__(
        self, connection: Connection, silence: float = SILENCE, alone: float = ALONE
    ) -> None:
        self._connection, self._silence, self._alone = connection, silence, alone
        self._jobs: dict[str, _Job] = {}
        self._ended: queue.SimpleQueue[tuple[str, Any]] = queue.SimpleQueue()
        self._heard: dict[str, tuple[float, float]] = {}
        self._silent: set[str] = set()
        self._workers: dict[str, dict[str, Any]] = {}
        self._left: dict[str, float] = {}
        """When workers were last heard that have left, or others by then."""
        self._looked, self._last = 0.0, time.monotonic()
        self.lost: Counter[str] = Counter()
        """Workers that went, by how."""

    def __len__(self) -> int:
        return len(self._jobs)

    @property
    def workers(self) -> dict[str, dict[str, Any]]:
        """What is known of the workers that are heard, by address."""
        self._look()
        return {name: one for name, one in self._workers.items() if name not in self._silent}

    @property
    def threads(self) -> int:
        """Calls that can be made at once."""
        return sum(one["nthreads"] for one in self.workers.values())

    def wait_for_workers(self) -> None:
        """Wait for the first worker.

        Raises:
            TuningError: if none comes.
        """
        self._last = time.monotonic()
        while not self.workers:
            time.sleep(_PERIOD / 2)

    def submit(
        self,
        name: str,
        function: Callable[..., Any],
        *args: Any,
        limit: float = float("inf"),
        resources: Mapping[str, float] | None = None,
        only: Collection[str] = (),
    ) -> None:
        """Make a call on some worker.

        Args:
            name: of the job, which no other under way has.
            function: what is called.
            args: its arguments.
            limit: seconds after which the call is made elsewhere.
            resources: what a worker must have for it, such as `{"GPU": 1}`.
            only: addresses of the workers to choose from; empty for all.
        """
        job = _Job(function, args, limit, resources, only)
        self._jobs[name] = job
        self._send(name, job)

    def wait(self) -> list[Done]:
        """What became of some jobs, of those under way.

        Raises:
            TuningError: if the scheduler is gone, or all workers for long.
        """
        done: list[Done] = []
        while not done and self._jobs:
            try:
                ended = [self._ended.get(timeout=_PERIOD)]
            except queue.Empty:
                ended = []
            while not self._ended.empty():
                ended.append(self._ended.get())
            for name, future in ended:
                if name in self._jobs and self._jobs[name].future is future:
                    done += self._result(name, future)
            self._look()
            done += self._moved()
        return done

    def cancel(self) -> None:
        """Give up what is under way."""
        futures = [job.future for job in self._jobs.values()]
        self._jobs.clear()
        if not self._connection.is_lost:
            self._connection.client.cancel(futures, force=True)

    def _send(self, name: str, job: _Job) -> None:
        among: Collection[str] = job.only
        if job.losses or self._silent:
            among = [one for one in (job.only or self._workers) if one not in self._silent]
        job.among, job.sent = among, time.monotonic()
        job.future = self._connection.client.submit(
            job.function, *job.args, pure=False, resources=job.resources,
            workers=list(among) or None,
        )  # fmt: skip
        future = job.future
        future.add_done_callback(lambda _: self._ended.put((name, future)))

    def _result(self, name: str, future: Any) -> list[Done]:
        """What a call gave; nothing if it is made again."""
        from distributed.client import FutureCancelledError  # noqa: PLC0415 (of the extra `dask`)
        from distributed.scheduler import KilledWorker  # noqa: PLC0415

        try:
            value = future.result(timeout=self._silence)
        except KilledWorker:
            return self._again(name, "died with a candidate several times")
        except (FutureCancelledError, TimeoutError) as error:
            if self._connection.is_lost:
                raise self._connection.lost() from None
            if isinstance(error, TimeoutError) and future.status == "error":
                return self._ended_with(name, error)
            return self._again(name, "kept a result")
        except Exception as error:
            return self._ended_with(name, error)
        del self._jobs[name]
        return [Done(name, value)]

    def _ended_with(self, name: str, error: BaseException) -> list[Done]:
        del self._jobs[name]
        return [Done(name, error=error)]

    def _again(self, name: str, why: str) -> list[Done]:
        """Make a call elsewhere, unless it has ended too many workers."""
        job = self._jobs[name]
        job.losses += 1
        self._connection.client.cancel([job.future], force=True)
        if job.losses >= _LOSSES:
            return self._ended_with(name, LostError(f"{job.losses} times, the last {why}"))
        self._send(name, job)
        return []

    def _look(self) -> None:
        """See which workers there are, and which of them are not heard."""
        now = time.monotonic()
        if now - self._looked < _PERIOD:
            return
        if self._connection.is_lost:
            raise self._connection.lost()
        found = self._current(self._connection.workers())
        # Of the time that this process itself was held up, nothing is known.
        if self._looked and now - self._looked > self._silence / 2:
            self._heard = {name: (seen, now) for name, (seen, _) in self._heard.items()}
        for address in self._workers.keys() - found.keys():
            self.lost["died" if address not in self._silent else "was given up"] += 1
            self._heard.pop(address, None)
            self._silent.discard(address)
            its = self._workers[address]["last_seen"]
            self._left[address] = max([its, *(one["last_seen"] for one in found.values())])
        for address, one in found.items():
            if self._heard.get(address, (None, 0.0))[0] != one["last_seen"]:
                self._heard[address] = one["last_seen"], now
                self._silent.discard(address)
            elif now - self._heard[address][1] > self._silence and address not in self._silent:
                self._silent.add(address)
                self.lost["stopped answering"] += 1
        self._workers, self._looked = found, now
        if found.keys() - self._silent:
            self._last = now
        elif now - self._last > self._alone:
            raise TuningError(
                f"scheduler {self._connection.name}: no worker was heard for {self._alone:g} s"
            )

    def _current(self, found: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
        """Workers without those that have left: what the scheduler says may be out of date."""
        return {
            address: one
            for address, one in found.items()
            if one["last_seen"] > self._left.get(address, -1.0)
        }

    def _moved(self) -> list[Done]:
        """Make calls elsewhere whose worker is not heard, or that take too long."""
        now, heard = time.monotonic(), self._workers.keys() - self._silent
        late = {name for name, job in self._jobs.items() if now - job.sent > job.limit}
        stuck = {
            name
            for name, job in self._jobs.items()
            if job.among and not heard.intersection(job.among)
        }
        if self._silent and heard:
            at = self._connection.client.processing(workers=list(self._silent))
            keys = {str(key) for its in at.values() for key in its}
            stuck |= {name for name, job in self._jobs.items() if str(job.future.key) in keys}
        done: list[Done] = []
        for name in sorted(late | stuck):
            job = self._jobs[name]
            if job.only and not heard.intersection(job.only):
                done += self._ended_with(name, LostError("its worker does not answer"))
            elif name in late:
                done += self._again(name, f"for more than {job.limit:g} s")
            elif heard:
                self._connection.client.cancel([job.future], force=True)
                self._send(name, job)
        return done

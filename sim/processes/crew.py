"""Workers at the waves of one launch: they take them from the last on, this process from the first.

Whatever goes wrong with them, this process runs all waves itself, as if there were none.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from ..parts import Assembly, Part, part_so_far
from ..run import Run
from .messages import READY, Failed, Launch
from .pool import Pool, Worker

_TIMES, _GRACE = 4.0, 1.0
"""How much longer than this process a worker may take for a part, and the seconds besides."""
_SHARES = 2
"""Of what is left a process takes one of so many shares at once, times the number of processes."""
_LEAST = 0.1
"""Seconds that a part takes at least, if several waves do."""


@dataclass(frozen=True)
class _Given:
    """Waves that a worker is at.

    Attributes:
        waves: which.
        until: when they are late.
    """

    waves: range
    until: float


class Crew:
    """The workers of a launch.

    Args:
        pool: where they come from; this launch has it.
        launch: what they are told of the launch.
        run: the launch here.
        number: the wave that comes next, which is run here.
        count: workers.
        pace: seconds that a wave takes here.

    Attributes:
        why: why what they have done is of no use; empty while it is.
    """

    def __init__(
        self, pool: Pool, launch: Launch, run: Run, number: int, count: int, pace: float
    ) -> None:
        self._pool, self._launch, self._run = pool, launch, run
        self._count, self._pace = count, pace
        self._here, self._there = number + 1, run.waves
        self._changed = threading.Condition()
        self._given: dict[Worker, _Given] = {}
        self._assembly = Assembly(run)
        self._serving, self._lacking = count, ""
        self.why = ""
        for _ in range(count):
            threading.Thread(target=self._serve, name="tilec-waves", daemon=True).start()

    def _serve(self) -> None:
        """Have a worker run parts while there are any."""
        worker, lacking = None, ""
        try:
            if self.why:
                return
            worker = self._pool.take()
            ready = worker.ask(self._launch)
            if ready == READY:
                while (waves := self._next(worker)) is not None:
                    self._take(worker, worker.ask(waves))
            else:
                lacking = _why(ready)
            self._pool.give(worker)
        except Exception as error:  # whatever it is, the launch is right without it
            lacking = str(error)
            if worker is not None:
                self._pool.lose(worker)
                self._lost(worker, lacking)
        finally:
            with self._changed:
                self._serving -= 1
                self._lacking = lacking or self._lacking
                self._changed.notify_all()

    def _next(self, worker: Worker) -> range | None:
        """Waves for a worker; None if there are none."""
        with self._changed:
            left = self._there - self._here
            if self.why or left <= 0:
                return None
            most = left // (_SHARES * (self._count + 1))
            count = min(left, max(most, int(_LEAST / self._pace), 1))
            self._there -= count
            waves = range(self._there, self._there + count)
            until = time.perf_counter() + _GRACE + _TIMES * count * self._pace
            self._given[worker] = _Given(waves, until)
            return waves

    def _take(self, worker: Worker, answer: object) -> None:
        """What a worker has done."""
        with self._changed:
            self._given.pop(worker, None)
            if not isinstance(answer, Part):
                self._drop(_why(answer))
            elif not self.why:
                why = self._assembly.add(answer)
                if why:
                    self._drop(why)
            self._changed.notify_all()

    def _lost(self, worker: Worker, why: str) -> None:
        with self._changed:
            if self._given.pop(worker, None) is not None:
                self._drop(why)
            self._changed.notify_all()

    def _drop(self, why: str) -> None:
        """What workers do is of no use: end those who are at it. Called with the lock."""
        self.why = self.why or why
        for worker in self._given:
            self._pool.lose(worker)

    @property
    def ctas(self) -> int:
        """CTAs that have ended there."""
        with self._changed:
            return 0 if self.why else self._assembly.ctas

    def leaves(self, number: int) -> bool:
        """Whether a wave is to be run here."""
        with self._changed:
            if self.why:
                return True
            if number < self._there:
                self._here = number + 1
                return True
        return False

    def finish(self, number: int, told: Callable[[], None]) -> str:
        """Wait for the waves from one on.

        Args:
            number: the first that is not run here.
            told: called after every part.

        Returns:
            Why they are of no use; empty if all that has been run can be put together.
        """
        last = time.perf_counter() + _GRACE
        with self._changed:
            while not self.why and (self._given or number < self._there):
                if not self._serving:
                    self._drop(self._lacking or "no worker has come")
                    break
                until = min((one.until for one in self._given.values()), default=last)
                left = until - time.perf_counter()
                if left <= 0:
                    self._drop("workers are late")
                    break
                self._changed.wait(left)
                told()
            if not self.why:
                why = self._assembly.add(part_so_far(self._run, range(number)))
                self.why = why or self._assembly.why_not()
            return self.why

    def end(self) -> None:
        """The launch ends: whatever workers are at is of no use."""
        with self._changed:
            self._drop("the launch has ended")
        self._pool.release()

    @property
    def assembly(self) -> Assembly:
        """What has been run, here and there."""
        return self._assembly


def _why(answer: object) -> str:
    """Why a worker has not done what it was asked for."""
    return answer.why if isinstance(answer, Failed) else f"a worker answers {answer!r}"

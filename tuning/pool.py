"""Processes that assess candidates at the same time; one that dies takes one candidate with it."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass

from .assess import Task, assess
from .errors import TuningError
from .store import Outcome, State
from .worker import asked, outcome

PATIENCE = 300.0
"""Seconds that a candidate may take."""


@dataclass
class _Worker:
    """A process, and what it works on."""

    process: subprocess.Popen[bytes]
    candidate: Mapping[str, int] | None = None
    began: float = 0.0


class Pool:
    """Workers for the candidates of one file.

    Args:
        file: where the kernel is declared.
        name: of the kernel.
        size: how many; none for a pool that works in this process.
        patience: seconds that a candidate may take in another process.
    """

    def __init__(self, file: str, name: str, size: int, patience: float = PATIENCE) -> None:
        self._command = [sys.executable, "-m", "tilec.tuning.worker_process", file, name]
        self.size, self._patience = size, patience
        self._selector = selectors.DefaultSelector()
        self._workers = [self._begin() for _ in range(size)]
        self._waiting: list[tuple[Task, Mapping[str, int]]] = []

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the workers."""
        for worker in self._workers:
            self._end(worker)

    @property
    def room(self) -> int:
        """Candidates that can be begun at once."""
        if not self.size:
            return 1 - len(self._waiting)
        return sum(worker.candidate is None for worker in self._workers)

    @property
    def busy(self) -> bool:
        """Whether something is being worked on."""
        return bool(self._waiting) or any(one.candidate is not None for one in self._workers)

    def begin(self, task: Task, candidate: Mapping[str, int]) -> None:
        """Begin with a candidate, for which there is room."""
        if not self.size:
            self._waiting.append((task, candidate))
            return
        self.ask(asked(task, dict(candidate)), candidate)

    def ask(self, said: str, candidate: Mapping[str, int]) -> None:
        """Begin with a candidate in another process, from what `worker.asked` gives."""
        worker = next(one for one in self._workers if one.candidate is None)
        worker.candidate, worker.began = candidate, time.monotonic()
        assert worker.process.stdin is not None
        with suppress(BrokenPipeError):  # its end is seen when it is waited for
            worker.process.stdin.write(said.encode() + b"\n")
            worker.process.stdin.flush()

    def wait(self) -> list[Outcome]:
        """What became of some candidates, of those that were begun.

        Raises:
            TuningError: if a worker cannot begin.
        """
        if self._waiting:
            return [assess(*self._waiting.pop())]
        found: list[Outcome] = []
        while not found and self.busy:
            for key, _ in self._selector.select(timeout=1.0):
                found += self._read(key.data)
            now = time.monotonic()
            for worker in self._workers:
                if worker.candidate is not None and now - worker.began > self._patience:
                    found.append(self._lost(worker, f"more than {self._patience:g} s"))
        return found

    def _read(self, worker: _Worker) -> list[Outcome]:
        """What a worker says: a line, or nothing if it ended."""
        assert worker.process.stdout is not None
        line = worker.process.stdout.readline()
        if line.endswith(b"\n"):
            worker.candidate = None
            return [outcome(line)]
        code = worker.process.wait()
        if worker.candidate is None or code in (1, 2):
            raise TuningError(f"a worker of {self._command[-2]} ended with {code}")
        name = signal.Signals(-code).name if code < 0 else f"exit code {code}"
        return [self._lost(worker, name)]

    def _lost(self, worker: _Worker, why: str) -> Outcome:
        """What became of the candidate of a worker that died or hangs, for whom another comes."""
        assert worker.candidate is not None
        lost = Outcome(
            dict(worker.candidate), State.REFUSED, "it crashes the compiler", why,
            seconds=time.monotonic() - worker.began,
        )  # fmt: skip
        self._end(worker)
        self._workers[self._workers.index(worker)] = self._begin()
        return lost

    def _begin(self) -> _Worker:
        pipe = subprocess.PIPE
        alone = {**os.environ, "TILEC_SIM_PROCESSES": "1"}  # the others have the other cores
        worker = _Worker(subprocess.Popen(self._command, stdin=pipe, stdout=pipe, env=alone))
        assert worker.process.stdout is not None
        self._selector.register(worker.process.stdout, selectors.EVENT_READ, worker)
        return worker

    def _end(self, worker: _Worker) -> None:
        process = worker.process
        assert process.stdout is not None
        self._selector.unregister(process.stdout)
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                with suppress(BrokenPipeError):
                    stream.close()

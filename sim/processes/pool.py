"""The workers of this process: they are started when first needed, and end with it."""

from __future__ import annotations

import atexit
import os
import pickle
import subprocess
import sys
import tempfile
import threading
from functools import cache

from ..native.choice import THREADS
from .choice import PROCESSES
from .messages import READY, send

_BEGIN = (
    "import sys; sys.path[:] = sys.argv[2:]; from tilec.sim.processes.worker import main; "
    "main(int(sys.argv[1]))"
)
_VAIN = 3
"""Workers that do not start before none are tried any more."""


class LostError(Exception):
    """A worker has ended, or cannot be started."""


class Worker:
    """A process that runs waves.

    Args:
        snapshot: the file of snapshots.

    Raises:
        LostError: if it cannot be started.
    """

    def __init__(self, snapshot: int) -> None:
        # It finds modules where this process does, not in the folder that it happens to be in.
        command = [sys.executable, "-P", "-c", _BEGIN, str(snapshot), *map(str, sys.path)]
        try:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                pass_fds=(snapshot,),
                env={**os.environ, PROCESSES: "1", THREADS: "1"},
            )
        except OSError as error:
            raise LostError(str(error)) from error
        try:
            ready = self._receive() == READY
        except LostError:
            ready = False
        if not ready:
            self.kill()
            raise LostError("it is no worker")

    def ask(self, message: object) -> object:
        """What it answers to a message.

        Raises:
            LostError: if it has ended.
        """
        assert self._process.stdin is not None
        try:
            send(self._process.stdin, message)
        except (OSError, ValueError) as error:
            raise LostError(str(error)) from error
        return self._receive()

    def _receive(self) -> object:
        assert self._process.stdout is not None
        try:
            return pickle.load(self._process.stdout)
        except (EOFError, OSError, ValueError, pickle.UnpicklingError) as error:
            raise LostError(f"worker {self.pid}: {error}") from error

    @property
    def pid(self) -> int:
        """The process."""
        return self._process.pid

    @property
    def ended(self) -> bool:
        """Whether it has ended."""
        return self._process.poll() is not None

    def kill(self) -> None:
        """End it at once."""
        self._process.kill()
        self._process.wait()


class Pool:
    """All workers, those who have nothing to do and the others."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._idle: list[Worker] = []
        self._all: set[Worker] = set()
        self._vain = 0
        self._owner = threading.Lock()
        self._ended = False
        self.snapshot = _file()
        atexit.register(self.end)

    def acquire(self) -> bool:
        """Whether a launch may have workers: none of another thread has any."""
        return self._vain < _VAIN and self._owner.acquire(blocking=False)

    def release(self) -> None:
        """The launch needs no workers any more."""
        self._owner.release()

    @property
    def idle(self) -> int:
        """Workers that have been started, and have nothing to do."""
        return len(self._idle)

    @property
    def pids(self) -> list[int]:
        """The processes of all workers."""
        return [one.pid for one in self._all]

    def take(self) -> Worker:
        """A worker that has nothing to do.

        Raises:
            LostError: if there is none, and none can be started.
        """
        with self._lock:
            while self._idle:
                worker = self._idle.pop()
                if not worker.ended:
                    return worker
                self._all.discard(worker)
        try:
            worker = Worker(self.snapshot)
        except LostError:
            self._vain += 1
            raise
        with self._lock:
            self._all.add(worker)
            ended = self._ended
        if ended:
            self.lose(worker)
            raise LostError("this process ends")
        return worker

    def give(self, worker: Worker) -> None:
        """A worker has nothing to do any more; or it was ended when it had just done it."""
        if worker.ended:
            self.lose(worker)
            return
        with self._lock:
            self._idle.append(worker)

    def lose(self, worker: Worker) -> None:
        """End a worker."""
        with self._lock:
            self._all.discard(worker)
        worker.kill()

    def end(self) -> None:
        """End all workers."""
        with self._lock:
            self._ended = True
            workers, self._all, self._idle = self._all, set(), []
        for worker in workers:
            worker.kill()


def _file() -> int:
    """A file without a name, which ends with those who have it open; in memory if it can be."""
    if hasattr(os, "memfd_create"):
        return os.memfd_create("tilec")
    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())


@cache
def _pool(process: int) -> Pool:
    del process  # the child of a fork has no workers
    return Pool()


def pool() -> Pool:
    """The workers of this process."""
    return _pool(os.getpid())

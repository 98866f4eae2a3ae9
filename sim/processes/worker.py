"""What a worker does: it runs waves of launches until whoever started it has gone."""

from __future__ import annotations

import os
import pickle
import queue
import signal
import sys
import threading
from typing import IO, Any

from ..native.choice import THREADS, loads_at_once
from ..parts import Part, part_of
from ..ptx import read_text
from ..run import Run
from .choice import PROCESSES
from .messages import READY, Failed, Launch, adopt, read_into, send


class Served:
    """A launch that a worker runs parts of.

    Args:
        launch: which.
        snapshot: file of what global memory held when it was sent.
    """

    def __init__(self, launch: Launch, snapshot: int) -> None:
        self._launch = launch
        self._snapshot = snapshot
        self._module = read_text(launch.text, launch.name)
        self._run = self._begin()

    def _begin(self) -> Run:
        launch = self._launch
        run = Run(
            self._module, launch.kernel, launch.grid, launch.block, launch.image, **launch.settings
        )
        memory = run.machine.memory
        if memory.shared_base != launch.size:
            raise ValueError("its memory is laid out in another way")
        read_into(self._snapshot, memory.data[: launch.size])
        return run

    def part(self, waves: range) -> Part:
        """Run some waves, in memory as the launch's was, but for what parts before have written."""
        if not self._run.completed:
            self._run = self._begin()
        return part_of(self._run, waves, self._launch.granules)


def _answer(served: Served | None, message: object, snapshot: int) -> tuple[Served | None, object]:
    """What a worker does about a message, and says."""
    try:
        if isinstance(message, Launch):
            adopt(message.environment)
            return Served(message, snapshot), READY
        assert served is not None
        assert isinstance(message, range)
        return served, served.part(message)
    except Exception as error:  # whatever it is, the launch is right without it
        return None, Failed(f"{type(error).__name__}: {error}")


def _listen(source: IO[bytes], messages: queue.SimpleQueue[Any]) -> None:
    """Take messages, also while the worker computes, so that it ends with whoever sends them."""
    while True:
        try:
            messages.put(pickle.load(source))
        except (EOFError, OSError, pickle.UnpicklingError):
            os._exit(0)


def main(snapshot: int) -> None:
    """Answer messages of standard input on standard output; nothing else is printed.

    Args:
        snapshot: the file of snapshots, which is open.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever started it is told, too
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.environ[PROCESSES] = os.environ[THREADS] = "1"
    loads_at_once()
    messages: queue.SimpleQueue[Any] = queue.SimpleQueue()
    source = os.fdopen(os.dup(sys.stdin.fileno()), "rb")
    threading.Thread(target=_listen, args=(source, messages), daemon=True).start()
    send(answers, READY)
    served: Served | None = None
    while True:
        served, said = _answer(served, messages.get(), snapshot)
        send(answers, said)

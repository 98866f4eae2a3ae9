"""Running NVIDIA's tools: in a bounded time, on files that are gone however this process ends."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from tilec.ending import undone
from tilec.isa import TilecError

ANSWERS_WITHIN = 30.0
"""Seconds that a tool has to say what it is."""
PATIENCE = 600.0
"""Seconds that a tool has for a module."""


class AssemblerError(TilecError):
    """A tool of NVIDIA's is missing, refuses its input, or does not end."""


@dataclass(frozen=True, slots=True)
class Scratch:
    """A file for a tool.

    Attributes:
        path: its name, for the tool.
        handle: what the tool inherits; None if the name is enough.
    """

    path: str
    handle: int | None = None

    def read(self) -> bytes:
        """What is in it; nothing if the tool made none."""
        try:
            return Path(self.path).read_bytes()
        except FileNotFoundError:
            return b""


@contextmanager
def scratch(data: bytes = b"") -> Iterator[Scratch]:
    """A file that is in memory only where the system has such, else in a folder of its own."""
    if hasattr(os, "memfd_create"):
        handle = os.memfd_create("tilec", os.MFD_CLOEXEC)
        try:
            with os.fdopen(os.dup(handle), "wb") as file:
                file.write(data)
            yield Scratch(f"/proc/self/fd/{handle}", handle)
        finally:
            os.close(handle)
        return
    with tempfile.TemporaryDirectory(prefix="tilec-") as folder:
        path = Path(folder, "module")
        path.write_bytes(data)
        yield Scratch(str(path))


def run_tool(
    *command: str, files: Sequence[Scratch] = (), patience: float | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a tool, and end it and all that it started if it takes too long.

    Args:
        command: its path and arguments.
        files: those that the arguments name.
        patience: seconds that it has; `PATIENCE` if None.

    Raises:
        AssemblerError: if it cannot be started, or does not end in time.
    """
    limit = PATIENCE if patience is None else patience
    handles = [file.handle for file in files if file.handle is not None]
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            errors="replace",
            pass_fds=handles,
            start_new_session=True,  # so that its children can be ended with it
        )
    except OSError as error:
        raise AssemblerError(f"cannot run {command[0]}: {error.strerror}") from None
    try:
        with undone(lambda: _end(process)):
            out, errors = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        _end(process)
        raise AssemblerError(f"{command[0]} did not finish within {limit:g} s") from None
    except BaseException:
        _end(process)
        raise
    if process.returncode < 0:
        name = signal.Signals(-process.returncode).name
        raise AssemblerError(f"{command[0]} was ended by {name}")
    return subprocess.CompletedProcess(command, process.returncode, out, errors)


def _end(process: subprocess.Popen[str]) -> None:
    with suppress(OSError):
        os.killpg(process.pid, signal.SIGKILL)
    process.kill()
    for pipe in (process.stdout, process.stderr):
        if pipe:
            pipe.close()
    process.wait()

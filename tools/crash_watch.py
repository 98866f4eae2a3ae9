"""A process beside a tool's that speaks for it when MLIR ends it: `crash_report` says what.

A signal such as SIGSEGV leaves no Python to say anything. So a shell waits at the end of a pipe
that only Python's fault handler writes to, and starts the report if it does. What the report is
about, the pass that runs and how to repeat it, stands in a file that both have open: nobody is
woken for it.
"""

from __future__ import annotations

import faulthandler
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from tilec.unnamed import open_unnamed

from .streams import open_streams

_SHELL = "/bin/sh"
_WAIT = 'trap \'\' INT TERM HUP PIPE; read -r fault && exec "$0" "$@" "$fault"'
"""The end of the pipe, without a line, says that the tool has ended by itself."""
_REPORT = "tilec.tools.crash_report"


class _Watch:
    """What the tool tells.

    Attributes:
        file: number of the file that it is written to.
    """

    def __init__(self, file: int) -> None:
        self.file = file

    def tell(self, **facts: str) -> None:
        """Say what is so from now on."""
        lines = (f"{name}={value.encode().hex()}\n" for name, value in facts.items())
        with suppress(OSError):
            os.write(self.file, "".join(lines).encode())

    def enters(self, name: str, package: str) -> None:
        """Say which pass runs now."""
        self.tell(name=name, package=package)


_watches: list[_Watch] = []


def watch_for_crashes() -> None:
    """Have a process speak for this one if it crashes, where there are shells and room for it."""
    open_streams()  # else the pipe would be taken for one that is closed
    with suppress(OSError):
        _watches.append(_Watch(_started()))


def _started() -> int:
    """Start the process; the number of the file that it reads what is told from.

    Raises:
        OSError: if there is no shell, or no place for the file.
    """
    facts = open_unnamed()
    read, write = os.pipe()
    try:
        os.set_inheritable(facts, True)
        os.posix_spawn(
            _SHELL,
            [_SHELL, "-c", _WAIT, sys.executable, "-P", "-m", _REPORT, str(facts)],
            {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
            file_actions=[
                (os.POSIX_SPAWN_DUP2, read, 0),
                (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
            ],
        )
    except OSError:
        os.close(write)
        os.close(facts)
        raise
    finally:
        os.close(read)
    os.set_inheritable(facts, False)  # no other child has to do with it
    faulthandler.enable(write, all_threads=False)
    return facts


@contextmanager
def reported_crashes(reproducer: str, again: str, path: str = "") -> Iterator[None]:
    """If a pass that runs inside ends the process, say which, where, and how to run it again.

    Nothing happens unless `watch_for_crashes` was called.

    Args:
        reproducer: a file that repeats the run.
        again: the command that runs it, but for its name.
        path: where it is already; it is put into a temporary file if empty.
    """
    if not _watches:
        yield
        return
    from tilec.passes.base import when_running  # noqa: PLC0415

    (watch,) = _watches
    watch.tell(reproducer="" if path else reproducer, path=path, again=again)
    when_running.append(watch.enters)
    try:
        yield
    finally:
        when_running.remove(watch.enters)
        watch.tell(name="", package="")

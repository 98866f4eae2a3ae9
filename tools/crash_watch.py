"""What is said when MLIR ends the process: which pass ran, where it is written, how to repeat it.

A signal such as SIGSEGV leaves no Python to say anything. So a second process listens: it is told
each pass before it runs, and Python's fault handler gives it the Python that the crash came from.
It reads from a pipe until the tool ends, and speaks only if the tool crashed.
"""

from __future__ import annotations

import faulthandler
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import NamedTuple

from .streams import open_streams

_FATAL = "Fatal Python error: "
_TOLD = b"tilec:"
"""How a line of the tool begins, not of the fault handler."""
_RUNNERS = ("steps.py", "foreign.py", "pipeline.py")
"""The files of `tilec.passes` that call passes: what is outside them is not a pass's doing."""


class _Watch:
    """The tool's end of the pipe.

    Attributes:
        stream: of the pipe.
    """

    def __init__(self, stream: int) -> None:
        self.stream = stream

    def tell(self, **facts: str) -> None:
        """Say what is so from now on."""
        lines = (
            _TOLD + name.encode() + b"=" + value.encode().hex().encode() + b"\n"
            for name, value in facts.items()
        )
        data = b"".join(lines)
        with suppress(OSError):
            while data:
                data = data[os.write(self.stream, data) :]

    def enters(self, name: str, package: str) -> None:
        """Say which pass runs now."""
        self.tell(name=name, package=package)


_watches: list[_Watch] = []


def watch_for_crashes() -> None:
    """Have a process speak for this one if it crashes; to be called while there is one thread."""
    open_streams()  # else the pipe would be taken for one that is closed
    read, write = os.pipe()
    if os.fork() == 0:
        os.close(write)
        os.closerange(0, 2)
        _listen(read)
        os._exit(0)
    os.close(read)
    faulthandler.enable(write, all_threads=False)
    _watches.append(_Watch(write))


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


def _listen(stream: int) -> None:
    """Read until the tool has ended, and say what is to be said."""
    import signal  # noqa: PLC0415

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE):
        signal.signal(number, signal.SIG_IGN)  # the end of the pipe says when to go
    facts: dict[str, str] = {}
    trace: list[bytes] = []
    rest = b""
    while piece := os.read(stream, 1 << 16):
        *lines, rest = (rest + piece).split(b"\n")
        for line in lines:
            if line.startswith(_TOLD):
                name, _, value = line.removeprefix(_TOLD).partition(b"=")
                facts[name.decode()] = bytes.fromhex(value.decode()).decode()
            else:
                trace.append(line)
    text = b"\n".join([*trace, rest]).decode(errors="replace")
    if _FATAL in text:
        os.write(2, _message(facts, text).encode())


class _Frame(NamedTuple):
    """A line of Python that was running."""

    file: str
    line: int
    function: str


def _message(facts: dict[str, str], trace: str) -> str:
    """What a crash says.

    Args:
        facts: what the tool told.
        trace: what Python's fault handler wrote.
    """
    from tilec.report.diagnostics import Place, quoted  # noqa: PLC0415

    fault = trace.partition(_FATAL)[2].partition("\n")[0]
    name, package = facts.get("name"), facts.get("package")
    who = f"pass '{name}'{f' of {package}' if package else ''}" if name else "the tool"
    message = f"error: {who} crashed in MLIR: {fault}"
    lines: list[str] = []
    for number, frame in enumerate(_frames(trace)):
        at = Place(frame.file, frame.line, 1)
        said = f"note: called here, in {frame.function}" if number else message
        lines += [f"{at}: {said}", *quoted(at)]
    lines = lines or [message]
    path = facts.get("path") or _kept(facts.get("reproducer", ""))
    if path:
        again = facts.get("again", "")
        lines.append(f"note: reproducer generated at {path}; to run it again: {again} {path}")
    return "\n".join(lines) + "\n"


def _frames(trace: str) -> Iterator[_Frame]:
    """The lines of the pass that led to a crash, innermost first."""
    import re  # noqa: PLC0415

    from tilec.passes import base  # noqa: PLC0415

    passes = os.path.dirname(base.__file__)
    for match in re.finditer(r'^  File "(.+)", line (\d+) in (.+)$', trace, re.MULTILINE):
        file, line, function = match[1], int(match[2]), match[3]
        folder, name = os.path.split(file)
        if folder == passes and name in _RUNNERS:
            return
        if name != "erasure.py" and f"{os.sep}_mlir" not in file:
            yield _Frame(file, line, function)


def _kept(text: str) -> str:
    """The path of a new file with a reproducer; empty if there is none."""
    import tempfile  # noqa: PLC0415

    if not text:
        return ""
    try:
        handle, path = tempfile.mkstemp(prefix="tilec-crash-", suffix=".mlir")
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
    except OSError:
        return ""
    return path

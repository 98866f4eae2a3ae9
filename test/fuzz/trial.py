"""Trying cases in processes that may die of them, and judging what happens."""

from __future__ import annotations

import fcntl
import json
import os
import resource
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from case import Case, Reached
from judging import Outcome

_HERE = Path(__file__).parent
_MEMORY = 4 << 30
_BUSY = 10
"""Times its patience that a case has on a machine that is busy with others."""
_REACHED = ("", *map(str, Reached))


class UndrawnError(RuntimeError):
    """An entry that makes no case of a number: a fault of the house's own."""


class Tried(NamedTuple):
    """A batch of cases that were tried, or as many of it as were before its process ended.

    Attributes:
        reached: how far each came, in order; empty for one that went wrong.
        wrong: those that did, by number.
    """

    reached: list[str]
    wrong: dict[int, tuple[Case, Outcome]]


def _processor_time(process: int) -> float:
    """Seconds of the processor that a process and those that it started have had."""
    folder = Path(f"/proc/{process}")
    try:
        fields = (folder / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        children = (folder / f"task/{process}/children").read_text(encoding="utf-8").split()
    except OSError:
        return 0.0
    own = sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
    return own + sum(_processor_time(int(child)) for child in children)


class _Lines:
    """Lines of a pipe, for which one need not wait."""

    def __init__(self, pipe: int) -> None:
        self._pipe = pipe
        self._held = b""

    def read(self, seconds: float | None = None) -> bytes | None:
        """The next line; empty at the end; None if there is none within a time."""
        while b"\n" not in self._held:
            if not select.select([self._pipe], [], [], seconds)[0]:
                return None
            data = os.read(self._pipe, 1 << 16)
            if not data:
                return b""
            self._held += data
        line, _, self._held = self._held.partition(b"\n")
        return line + b"\n"


def _limit() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))


class Trial:
    """A server, which forks a process for each case or batch.

    Args:
        chosen: the entries from which cases are drawn.
        patience: seconds that a case has.
        plant: Python code that takes a mend out, for tests of the harness.

    Attributes:
        seconds: of the processor that cases have had.
    """

    def __init__(self, chosen: Sequence[str], patience: float = 60.0, plant: str = "") -> None:
        self.seconds = 0.0
        self._patience = patience
        self._marks = os.memfd_create("marks")
        self._words = os.memfd_create("words")
        fcntl.fcntl(self._words, fcntl.F_SETFL, os.O_APPEND)  # it is emptied while others write
        self._folder = tempfile.mkdtemp(prefix="tilec-fuzz-")
        self._server = subprocess.Popen(
            [sys.executable, str(_HERE / "server.py"), ",".join(chosen), str(self._marks)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._words,
            env={
                **os.environ,
                "TILEC_CACHE": "0",
                "TILEC_FUZZ_PLANT": plant,
                "TMPDIR": self._folder,
            },
            pass_fds=[self._marks],
            preexec_fn=_limit,  # noqa: PLW1509 (this process has no threads)
            start_new_session=True,  # Ctrl-C is for this process
        )
        assert self._server.stdout
        self._lines = _Lines(self._server.stdout.fileno())
        self._since = 0, 0.0, 0.0

    def run(self, case: Case) -> Outcome:
        """Try a case alone."""
        replies = list(self._replies({"case": case.plain()}))
        for reply in replies:
            if "reached" in reply:
                return Outcome(reply["reached"], reply["wrong"], reply["detail"])
        return self._ended(case, replies[-1])

    def drawn(self, number: int) -> Case:
        """The case of a number.

        Raises:
            UndrawnError: if its entry makes none.
        """
        for reply in list(self._replies({"draw": number})):
            if "case" in reply:
                return Case(**reply["case"])
        raise UndrawnError(f"case {number}: {self._last_words()}")

    def batch(self, first: int, last: int) -> Tried:
        """Try cases from number `first` up to `last`, which is excluded, one after the other.

        One of which the process dies ends the batch; it is tried again alone to see what happens.
        """
        os.ftruncate(self._marks, 0)
        wrong: dict[int, tuple[Case, Outcome]] = {}
        ended: dict[str, Any] = {}
        for reply in self._replies({"first": first, "last": last}):
            if "number" in reply:
                outcome = Outcome(reply["reached"], reply["wrong"], reply["detail"])
                wrong[reply["number"]] = Case(**reply["case"]), outcome
            elif "ended" in reply:
                ended = reply
        reached = [_REACHED[mark - 1] for mark in os.pread(self._marks, last - first, 0)]
        if first + len(reached) < last:
            number = first + len(reached)
            try:
                case = self.drawn(number)
                wrong[number] = case, self._again(case, ended, range(first, number))
            except UndrawnError as error:
                wrong[number] = Case("house", ""), Outcome("", "a case cannot be drawn", str(error))
            reached.append("")
        return Tried(reached, wrong)

    def _again(self, case: Case, ended: dict[str, Any], before: range) -> Outcome:
        """What a case does alone of which a batch ended."""
        first = self._ended(case, ended)
        alone = self.run(case)
        if alone.wrong:
            return alone
        return first._replace(wrong=f"{first.wrong}, after cases {before.start} to {before.stop}")

    def _replies(self, request: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """What the server and its child say, until the child has ended."""
        os.ftruncate(self._words, 0)
        assert self._server.stdin
        self._server.stdin.write(json.dumps(request).encode() + b"\n")
        self._server.stdin.flush()
        child, hangs = 0, False
        while True:
            line = self._lines.read(1.0) if child and not hangs else self._lines.read()
            if line is None:
                hangs = not self._goes_on(child)
                if hangs:
                    os.kill(child, signal.SIGKILL)
                continue
            if not line:
                raise RuntimeError(f"the server ended: {self._last_words()}")
            with suppress(json.JSONDecodeError):  # a child may die within a line, or between two
                reply: dict[str, Any] = json.loads(line)
                if "child" in reply:
                    child = reply["child"]
                    self._watch(child)
                yield {**reply, "hangs": hangs}
                if "ended" in reply:
                    self.seconds += reply["seconds"]
                    return

    def _watch(self, child: int) -> None:
        """Begin to count the time of the case that a child is at."""
        self._since = self._done(), _processor_time(child), time.monotonic()

    def _goes_on(self, child: int) -> bool:
        """Whether the case that a child is at has not taken too long.

        It is told in the processor's time, since the machine may be busy.
        """
        done, used, start = self._since
        if done != self._done():
            self._watch(child)
            return True
        if time.monotonic() - start > _BUSY * self._patience:
            return False
        return _processor_time(child) - used <= self._patience

    def _done(self) -> int:
        """How many cases of a batch are over."""
        return os.fstat(self._marks).st_size

    def _ended(self, case: Case, reply: dict[str, Any]) -> Outcome:
        if reply["hangs"]:
            return Outcome("", f"{case.entry}: no end within {self._patience:g} s")
        words = self._last_words()
        return Outcome("", f"{case.entry}: the process ended with {reply['ended']}", words)

    def _last_words(self) -> str:
        size = os.fstat(self._words).st_size
        return os.pread(self._words, 4000, max(0, size - 4000)).decode(errors="replace")

    def close(self) -> None:
        """End the server."""
        for pipe in (self._server.stdin, self._server.stdout):
            if pipe:
                with suppress(OSError):
                    pipe.close()
        try:
            self._server.wait(10)
        except subprocess.TimeoutExpired:
            os.killpg(self._server.pid, signal.SIGKILL)
            self._server.wait()
        os.close(self._marks)
        os.close(self._words)
        shutil.rmtree(self._folder, ignore_errors=True)

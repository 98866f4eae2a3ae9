"""Trying cases in a process that may die of them, and judging what happens."""

from __future__ import annotations

import json
import os
import resource
import select
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from case import Case

_HERE = Path(__file__).parent
_MEMORY = 8 << 30
_BUSY = 10
"""Times its patience that a case has on a machine that is busy with others."""


class Outcome(NamedTuple):
    """What a case came to.

    Attributes:
        reached: how far it came; empty if it went wrong.
        wrong: what went wrong, the same for the same fault; empty if nothing.
        detail: the traceback, or the last words of the process.
    """

    reached: str
    wrong: str = ""
    detail: str = ""


def _processor_time(process: int) -> float:
    """Seconds of the processor that a process has had."""
    try:
        text = Path(f"/proc/{process}/stat").read_text(encoding="utf-8")
    except OSError:
        return 0.0
    fields = text.rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _limit() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))


class Trial:
    """A worker process, replaced when it dies, hangs, or has served long.

    Args:
        patience: seconds that a case has.
        plant: Python code that takes a mend out, for tests of the harness.
    """

    def __init__(self, patience: float = 60.0, plant: str = "") -> None:
        self._patience = patience
        self._plant = plant
        self._served = 0
        self._process: subprocess.Popen[bytes] | None = None

    def _start(self) -> subprocess.Popen[bytes]:
        self._served = 0
        self._words = open(os.memfd_create("words"), "w+b")  # noqa: SIM115
        return subprocess.Popen(
            [sys.executable, str(_HERE / "worker.py")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._words,
            env={**os.environ, "TILEC_CACHE": "0", "TILEC_FUZZ_PLANT": self._plant},
            preexec_fn=_limit,  # noqa: PLW1509 (this process has no threads)
        )

    def run(self, case: Case) -> Outcome:
        """Try a case."""
        if self._process is None or self._served >= 500:
            self.close()
            self._process = self._start()
        self._served += 1
        process = self._process
        assert process.stdin
        assert process.stdout
        try:
            process.stdin.write(json.dumps(case.plain()).encode() + b"\n")
            process.stdin.flush()
        except OSError:
            return self._died(case)
        if not self._answers(process):
            process.kill()
            self.close()
            return Outcome("", f"{case.entry}: no end within {self._patience:g} s")
        line = process.stdout.readline()
        if not line:
            return self._died(case)
        said: dict[str, Any] = json.loads(line)
        return Outcome(said.get("reached", ""), said.get("wrong", ""), said.get("detail", ""))

    def _answers(self, process: subprocess.Popen[bytes]) -> bool:
        """Whether a case ends: in the processor's time, since the machine may be busy."""
        before = _processor_time(process.pid)
        end = time.monotonic() + _BUSY * self._patience
        while time.monotonic() < end:
            if select.select([process.stdout], [], [], 1.0)[0]:
                return True
            if _processor_time(process.pid) - before > self._patience:
                return False
        return False

    def _died(self, case: Case) -> Outcome:
        process = self._process
        assert process
        code = process.wait()
        self._words.seek(0)
        words = self._words.read().decode(errors="replace")[-4000:]
        self.close()
        return Outcome("", f"{case.entry}: the process ended with {code}", words)

    def close(self) -> None:
        """End the worker."""
        if self._process is None:
            return
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe:
                with suppress(OSError):
                    pipe.close()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._words.close()
        self._process = None

"""LLVM IR to PTX by llvmlite's LLVM, in a process that may die of it.

LLVM aborts where it cannot select an instruction. The worker that it would take down is started
ahead, while MLIR is still busy, and serves until this process ends or it dies.
"""

from __future__ import annotations

import atexit
import marshal
import os
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import IO

from tilec.isa import TilecError
from tilec.unnamed import open_unnamed

_RETIREMENT = 256
"""Modules after which a worker is replaced: llvmlite's optimiser leaks, 0.15 MB for a GEMM."""


_ATTEMPTS = 3
"""Workers that a module is given to, one after the other, while somebody kills them."""
_KILLED = (-signal.SIGKILL, -signal.SIGTERM, -signal.SIGINT, -signal.SIGHUP)
_DYING = 10.0
"""Seconds that a worker has to end when it has closed its pipes."""


class CodegenError(TilecError):
    """LLVM refuses a module, or dies of it."""


class _Worker:
    """The process and what it says on standard error."""

    def __init__(self) -> None:
        self.served = 0
        self.errors: IO[bytes] = os.fdopen(open_unnamed(), "r+b")
        try:
            self.process = subprocess.Popen(
                [sys.executable, str(Path(__file__).with_name("codegen_worker.py"))],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self.errors,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)},
                start_new_session=True,  # Ctrl-C is this process's to handle
            )
        except OSError as error:
            self.errors.close()
            raise CodegenError(f"cannot start a process for LLVM: {error.strerror}") from None

    def ask(self, request: tuple[str, str, str, int]) -> tuple[bool, str]:
        """The reply to a request.

        Raises:
            OSError, EOFError: if the process ends instead.
        """
        assert self.process.stdin
        assert self.process.stdout
        # Past the stream's buffer, which the child of a fork would flush as well.
        left = memoryview(marshal.dumps(request))
        while left:
            left = left[os.write(self.process.stdin.fileno(), left) :]
        reply: tuple[bool, str] = marshal.load(self.process.stdout)
        self.served += 1
        return reply

    def last_words(self) -> str:
        """What it printed before it died."""
        try:
            self.process.wait(_DYING)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.errors.seek(0)
        return self.errors.read().decode(errors="replace")

    @property
    def was_killed(self) -> bool:
        """Whether somebody ended it, rather than what it worked on."""
        return self.process.returncode in _KILLED

    def close(self) -> None:
        """Let it end."""
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe:
                with suppress(OSError):
                    pipe.close()
        self.process.wait()
        self.errors.close()


_worker: list[_Worker] = []
_inherited: list[_Worker] = []
"""The parent's, in the child of a fork; `Popen` would complain of one that goes while it runs."""
_turn = threading.RLock()


def start() -> None:
    """Start the worker if none is running, without waiting for it."""
    with _turn:
        if _worker and _worker[0].process.poll() is not None:
            _worker.pop().close()  # somebody ended it while it had nothing to do
        if not _worker:
            _worker.append(_Worker())


@atexit.register
def _stop() -> None:
    if _worker:
        _worker.pop().close()


def _forget() -> None:
    """In the child of a fork: the worker is the parent's, and so is whoever holds the lock."""
    global _turn  # noqa: PLW0603
    _turn = threading.RLock()
    while _worker:
        # It ends when nobody can write to it.
        for pipe in (_worker[0].process.stdin, _worker[0].process.stdout):
            if pipe:
                pipe.detach().close()  # type: ignore[attr-defined]
        _inherited.append(_worker.pop())


os.register_at_fork(after_in_child=_forget)


def generate(ir: str, *, cpu: str, features: str, level: int) -> str:
    """PTX of a module of LLVM IR, as LLVM prints it.

    Args:
        ir: the module.
        cpu: an NVPTX processor such as `sm_80`.
        features: subtarget features such as `+ptx70`.
        level: optimisation level, 0 to 3.

    Raises:
        CodegenError: if LLVM refuses the module.
    """
    with _turn:
        succeeded, text = _ask((ir, cpu, features, level))
        if _worker[0].served == _RETIREMENT:
            _worker.pop().close()
    if not succeeded:
        raise CodegenError(f"LLVM rejects the module: {text.strip()}")
    return text


def _ask(request: tuple[str, str, str, int]) -> tuple[bool, str]:
    """The reply of a worker; of another if the first is killed, which may happen at any time."""
    for _ in range(_ATTEMPTS):
        start()
        worker = _worker[0]
        try:
            return worker.ask(request)
        except (OSError, EOFError, ValueError, TypeError):  # the last two of half a reply
            _worker.clear()
            words = worker.last_words()
            killed = worker.was_killed
            worker.close()
            if not killed:
                raise CodegenError(f"LLVM cannot generate code: {_reason(words)}") from None
        except BaseException:  # Ctrl-C: a reply may be under way, and nobody would read it
            _worker.clear()
            worker.process.kill()
            worker.close()
            raise
    raise CodegenError(
        f"LLVM cannot generate code: its process was killed {_ATTEMPTS} times, as the system "
        "does when memory is short"
    )


def _reason(words: str) -> str:
    """What LLVM's last words say is wrong."""
    lines = [line.strip() for line in words.splitlines() if line.strip()]
    for line in lines:
        if line.startswith("LLVM ERROR:"):
            return line.removeprefix("LLVM ERROR:").strip()
        if "Assertion `" in line:
            return line[line.index("Assertion `") :]
    return lines[-1] if lines else "its process ended without a message"

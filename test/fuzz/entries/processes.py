"""Compilations in a process that forks, is interrupted, and whose workers are killed."""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from collections.abc import Callable

import seeds
from case import Case, Reached, WrongError
from contexts import compiled_once

_EXAMPLES = ("mma.mlir", "gemm.mlir", "kernels/softmax.mlir")
_PATIENCE = 20
"""Seconds that a forked process has for what takes a tenth of one."""


def prepare() -> None:
    """Import what a compilation needs."""
    compiled_once()


def make(rng: random.Random) -> Case:
    """What befalls a compilation, and when."""
    options = {
        "event": rng.choice(list(_EVENTS)),
        "example": rng.choice(_EXAMPLES),
        "after": round(rng.uniform(0.0, 0.4), 4),
        "times": rng.randrange(1, 4),
    }
    return Case("processes", "", options)


def run(case: Case) -> Reached:
    """See that compilations go on as if nothing had happened."""
    text = (seeds.ROOT / "examples" / case.options["example"]).read_text(encoding="utf-8")
    expected = _ptx(text)
    options = case.options
    _EVENTS[options["event"]](text, expected, options["after"], options["times"])
    if _ptx(text) != expected:
        raise WrongError(f"after {options['event']} there is other PTX")
    return Reached.PTX


def _ptx(text: str) -> str:
    import tilec

    return tilec.compile(text).ptx


def _fork(text: str, expected: str, after: float, times: int) -> None:
    """Children that compile, forked while another thread does."""
    failed: list[BaseException] = []

    def compile_often() -> None:
        try:
            for _ in range(2 * times):
                _ptx(text)
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=compile_often)
    thread.start()
    children = []
    for _ in range(times):
        time.sleep(after / times)
        child = os.fork()
        if child == 0:
            _compile_and_end(text, expected)
        children.append(child)
    codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    thread.join()
    if failed:
        raise failed[0]
    if any(codes):
        raise WrongError("a process forked while a thread compiles does not end well")


def _compile_and_end(text: str, expected: str) -> None:
    signal.alarm(_PATIENCE)
    try:
        os._exit(0 if _ptx(text) == expected else 3)
    except BaseException:
        os._exit(4)


def _kill_idle(text: str, expected: str, after: float, times: int) -> None:
    """Workers killed that have nothing to do."""
    for _ in range(times):
        _kill_workers()
        time.sleep(after / 10)
        if _ptx(text) != expected:
            raise WrongError("after a worker was killed there is other PTX")


def _kill_busy(text: str, expected: str, after: float, times: int) -> None:
    """Workers killed at any time, as often as they may be while one compilation goes on."""
    killer = threading.Timer(after, _kill_workers)
    killer.start()
    try:
        for _ in range(times):
            if _ptx(text) != expected:
                raise WrongError("after a worker was killed there is other PTX")
    finally:
        killer.join()


def _kill_workers() -> None:
    """Kill the processes that this one has started."""
    with open(f"/proc/{os.getpid()}/task/{os.getpid()}/children", encoding="utf-8") as file:
        children = [int(child) for child in file.read().split()]
    for child in children:
        try:
            os.kill(child, signal.SIGKILL)
        except ProcessLookupError:
            continue


def _interrupt(text: str, expected: str, after: float, times: int) -> None:
    """Ctrl-C, which ends a compilation and no later one."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(after, lambda: os.kill(os.getpid(), signal.SIGINT))
    try:
        timer.start()
        for _ in range(20 * times):
            _ptx(text)
            if not timer.is_alive():
                break
    except KeyboardInterrupt:
        pass
    finally:
        _wait(timer)
        signal.signal(signal.SIGINT, before)


def _wait(timer: threading.Timer) -> None:
    try:
        timer.join()
        time.sleep(0.01)
    except KeyboardInterrupt:
        return


_EVENTS: dict[str, Callable[[str, str, float, int], None]] = {
    "fork": _fork, "kill idle": _kill_idle, "kill busy": _kill_busy, "interrupt": _interrupt,
}  # fmt: skip

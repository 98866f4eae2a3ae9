"""The process that imports tilec once and forks: each child tries one case, or a batch of them.

Requests and replies are lines of JSON. A child writes one line for each case that goes wrong, and
in the file that it shares with whoever asks one byte for each case when it is over: the first
that is zero is the case of which it died. The server adds how the child ended.
"""

from __future__ import annotations

import faulthandler
import gc
import json
import os
import signal
import sys
import tempfile
from typing import Any

from case import Case, Reached
from drawing import drawn, entry
from judging import judged

MARKS = {"": 1, **{str(reached): at for at, reached in enumerate(Reached, 2)}}
"""The byte of each outcome."""


def main() -> None:
    """Serve requests until there are no more; arguments: the entries, the file that is shared."""
    faulthandler.enable()
    replies = os.dup(1)
    os.dup2(2, 1)
    if plant := os.environ.get("TILEC_FUZZ_PLANT"):
        exec(plant, {})  # takes a mend out, for the test of the harness
    chosen, marks = sys.argv[1].split(","), int(sys.argv[2])
    for name in chosen:
        entry(name).prepare()
    gc.collect()
    gc.freeze()
    for line in sys.stdin:
        _serve(json.loads(line), chosen, replies, marks)


def _serve(request: dict[str, Any], chosen: list[str], replies: int, marks: int) -> None:
    """Fork a child for a request, and say how it ended."""
    with tempfile.TemporaryDirectory(prefix="tilec-fuzz-") as folder:
        child = os.fork()
        if child == 0:
            _child(request, chosen, folder, replies, marks)
        _say(replies, {"child": child})
        _, status, used = os.wait4(child, 0)
    code = os.waitstatus_to_exitcode(status)
    _say(replies, {"ended": code, "seconds": used.ru_utime + used.ru_stime})


def _child(
    request: dict[str, Any], chosen: list[str], folder: str, replies: int, marks: int
) -> None:
    """Try what is asked for, and end."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # is for who asks
    for name in ("tmp", "work"):
        os.mkdir(f"{folder}/{name}")
    os.environ["TMPDIR"] = tempfile.tempdir = f"{folder}/tmp"
    os.chdir(f"{folder}/work")
    try:
        if "case" in request:
            _one(Case(**request["case"]), replies)
        elif "draw" in request:
            _say(replies, {"case": drawn(request["draw"], chosen).plain()})
        else:
            _batch(request, chosen, replies, marks)
    except BaseException:
        sys.excepthook(*sys.exc_info())
        os._exit(99)
    finally:
        _end_workers()
    os._exit(0)


def _one(case: Case, replies: int) -> None:
    outcome = judged(case, entry(case.entry).run)
    _say(replies, outcome._asdict())


def _batch(request: dict[str, Any], chosen: list[str], replies: int, marks: int) -> None:
    for at, number in enumerate(range(request["first"], request["last"])):
        case = drawn(number, chosen)
        outcome = judged(case, entry(case.entry).run)
        if outcome.wrong:
            _say(replies, {"number": number, "case": case.plain(), **outcome._asdict()})
        os.pwrite(marks, bytes([MARKS[outcome.reached]]), at)


def _end_workers() -> None:
    """Let the process of LLVM end, so that its time counts."""
    if codegen := sys.modules.get("tilec.backend.codegen"):
        codegen._stop()


def _say(replies: int, reply: dict[str, Any]) -> None:
    data = b"\n" + json.dumps(reply).encode() + b"\n"
    while data:
        data = data[os.write(replies, data) :]


if __name__ == "__main__":
    main()

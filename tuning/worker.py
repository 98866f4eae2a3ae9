"""A process that assesses candidates: `python -m tilec.tuning.worker FILE KERNEL`.

A line of JSON in for each candidate, a line of JSON out with what became of it. It ends with its
standard input, so that it does not outlive who started it.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

from .assess import Task, assess
from .declared import Tunable
from .problems import Problem
from .programs import load
from .store import Outcome, State


def asked(task: Task, candidate: dict[str, int]) -> str:
    """What a worker is told."""
    sizes = dict(task.problem.sizes)
    bits = None if task.same_bits is None else dict(task.same_bits.sizes)
    how = {"target": task.target, "assembled": task.assembled, "same_bits": bits}
    return json.dumps({"candidate": candidate, "sizes": sizes, **how})


def answer(outcome: Outcome) -> str:
    """What it says."""
    return json.dumps({**outcome.result(), "seconds": outcome.seconds})


def outcome(text: bytes | str) -> Outcome:
    """What became of a candidate, from what a worker says."""
    said: dict[str, Any] = json.loads(text)
    return Outcome(**{**said, "state": State(said["state"])})


def task_of(said: dict[str, Any], tunable: Tunable) -> Task:
    """What a candidate is assessed for, from what `asked` says."""
    bits = None if said["same_bits"] is None else Problem(said["same_bits"])
    return Task(tunable, Problem(said["sizes"]), said["target"], said["assembled"], bits)


def main() -> None:
    """Assess until there is nothing more to read."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what compilers print is not an answer
    file, name = sys.argv[1:]
    tunable = load(file, name)
    for line in sys.stdin:
        said = json.loads(line)
        try:
            task = task_of(said, tunable)
            answers.write(answer(assess(task, said["candidate"])) + "\n")
            answers.flush()
        except BrokenPipeError:  # whoever asked was killed
            os._exit(0)


if __name__ == "__main__":
    main()

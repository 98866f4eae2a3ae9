"""What a process that assesses candidates is told, and what it says: JSON, a line for each."""

from __future__ import annotations

import json
from typing import Any

from .assess import Task
from .declared import Tunable
from .problems import Problem
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

"""A process that assesses candidates: `python -m tilec.tuning.worker_process FILE KERNEL`.

A line of JSON in for each candidate, a line of JSON out with what became of it. It ends with its
standard input, so that it does not outlive who started it.
"""

from __future__ import annotations

import json
import os
import sys

from .assess import assess
from .programs import load
from .worker import answer, task_of


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

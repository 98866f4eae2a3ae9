"""What was tried, over all runs: kept in a file, to which every run adds."""

from __future__ import annotations

import fcntl
import json
from collections import Counter
from pathlib import Path

from case import Reached


class Counts:
    """Cases by entry and how far they came, and the time that they took.

    Args:
        path: the file; None to keep nothing.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self.cases: Counter[str] = Counter()
        self.seconds = 0.0

    def add(self, entry: str, reached: str, seconds: float) -> None:
        """Count a case."""
        self.cases[f"{entry} {reached or 'wrong'}"] += 1
        self.seconds += seconds

    def save(self) -> None:
        """Add what was counted since the last time to the file."""
        if self._path is None:
            return
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("a+", encoding="utf-8") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            file.seek(0)
            text = file.read()
            before = json.loads(text) if text else {"cases": {}, "core_seconds": 0.0}
            total = Counter(before["cases"]) + self.cases
            seconds = before["core_seconds"] + self.seconds
            file.seek(0)
            file.truncate()
            json.dump(
                {"cases": dict(sorted(total.items())), "core_seconds": seconds}, file, indent=1
            )
        self.cases.clear()
        self.seconds = 0.0

    def __str__(self) -> str:
        return summary(self.cases, self.seconds)


def summary(cases: Counter[str], seconds: float) -> str:
    """The counts in a few lines."""
    stages = [*map(str, Reached), "wrong"]
    entries = sorted({name.partition(" ")[0] for name in cases})
    width = max(map(len, (*entries, "all")), default=3)
    lines = ["  ".join(["".ljust(width), *(stage.rjust(9) for stage in (*stages, "all"))])]
    for entry in (*entries, "all"):
        row = [
            sum(n for name, n in cases.items() if name.endswith(f" {stage}")
                and entry in ("all", name.partition(" ")[0]))
            for stage in stages
        ]  # fmt: skip
        cells = (str(n).rjust(9) for n in (*row, sum(row)))
        lines.append("  ".join([entry.ljust(width), *cells]))
    return "\n".join([*lines, f"{seconds / 3600:.2f} core-hours"])

"""What was tried, over all runs: kept in a file, to which every run adds, and none repeats."""

from __future__ import annotations

import fcntl
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from case import Reached


class Counts:
    """Cases by entry and how far they came, the time that they took, and their numbers.

    Args:
        path: the file; None to keep nothing.
        revision: of the project, which with a case's number says what the case is.
    """

    def __init__(self, path: Path | None = None, revision: str = "") -> None:
        self._path = path
        self._revision = revision
        self._next = 0
        self.cases: Counter[str] = Counter()
        self.seconds = 0.0

    def reserve(self, many: int) -> int:
        """The first of `many` numbers that no run has tried, nor will try."""
        if self._path is None:
            self._next += many
            return self._next - many
        return self._changed(lambda held: _reserved(held, many))

    def add(self, entry: str, reached: str) -> None:
        """Count a case."""
        self.cases[f"{entry} {reached or 'wrong'}"] += 1

    def save(self, first: int = 0, last: int = 0) -> None:
        """Add what was counted since the last time to the file.

        Args:
            first: number of the first case.
            last: number after the last one; the same if none was drawn by its number.
        """
        if self._path is None:
            return
        self._changed(lambda held: self._added(held, first, last))
        self.cases.clear()
        self.seconds = 0.0

    def _added(self, held: dict[str, Any], first: int, last: int) -> int:
        held["cases"] = dict(sorted((Counter(held["cases"]) + self.cases).items()))
        held["core_seconds"] = round(held["core_seconds"] + self.seconds, 3)
        runs: list[dict[str, Any]] = held["runs"]
        follows = runs and (runs[-1]["last"], runs[-1]["revision"]) == (first, self._revision)
        if first < last and follows:
            runs[-1]["last"] = last
        elif first < last:
            runs.append({"revision": self._revision, "first": first, "last": last})
        return last

    def _changed(self, change: Callable[[dict[str, Any]], int]) -> int:
        """Change what the file holds, which no other run reads or writes meanwhile."""
        assert self._path
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("a+", encoding="utf-8") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            file.seek(0)
            text = file.read()
            held = {"next": 0, "cases": {}, "core_seconds": 0.0, "runs": []}
            held |= json.loads(text) if text else {}
            said = change(held)
            file.seek(0)
            file.truncate()
            file.write(json.dumps(held, indent=1) + "\n")
        return said

    def __str__(self) -> str:
        return summary(self.cases, self.seconds)


def _reserved(held: dict[str, Any], many: int) -> int:
    first: int = held["next"]
    held["next"] = first + many
    return first


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
    return "\n".join([*lines, f"{seconds / 3600:.3f} core-hours"])

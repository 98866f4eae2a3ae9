"""The fuzzing house: `python test/fuzz` tries inputs at every entry of tilec, for as long as told.

What goes wrong is reduced and written to a folder; the counts of all runs add up in a file.
`docs/fuzzing.md` says more.
"""

from __future__ import annotations

import argparse
import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from case import Case  # noqa: E402
from counts import Counts  # noqa: E402
from drawing import ENTRIES, entry_of  # noqa: E402
from judging import Outcome  # noqa: E402
from reduction import reduced  # noqa: E402
from trial import Trial  # noqa: E402

COUNTS = HERE / "counts.json"
_BATCH = 1000
_BATCH_UNTIL = 100
"""Cases of a batch where the first that goes wrong ends the run."""


def parser() -> argparse.ArgumentParser:
    """The arguments."""
    made = argparse.ArgumentParser("python test/fuzz", description=__doc__)
    add = made.add_argument
    add("--seconds", type=float, default=45.0, help="how long; default: 45")
    add("--cases", type=int, default=None, help="how many new ones, whatever their time")
    add("--first", type=int, default=None, help="the first's number; default: none tried before")
    add("--entries", default=",".join(ENTRIES), help="which, of " + ", ".join(ENTRIES))
    add("--out", type=Path, help="a folder for what goes wrong; default: none is written")
    add("--counts", type=Path, help=f"a file to which what was tried is added: {COUNTS.name}")
    add("--patience", type=float, default=60.0, help="seconds that a case has; default: 60")
    add("--plant", default="", help="Python that takes a mend out, to see that it is missed")
    add("--until-wrong", metavar="WHAT", help="end at the first that goes wrong so, in new cases")
    add("--replay", action="store_true", help="try the corpus only")
    add("files", nargs="*", type=Path, help="cases to try, instead of new ones")
    return made


def main() -> int:
    """Try cases; 1 if any went wrong."""
    arguments = parser().parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    run = Run(arguments)
    try:
        run.all()
    except KeyboardInterrupt:
        pass
    finally:
        run.trial.close()
    print(run.total)
    return 1 if run.found else 0


class Run:
    """What one call of the command tries.

    Attributes:
        trial: where it does.
        total: what was tried.
        found: what went wrong, each kind once.
    """

    def __init__(self, arguments: argparse.Namespace) -> None:
        self._arguments = arguments
        self._chosen: list[str] = arguments.entries.split(",")
        if arguments.files:
            self._chosen = sorted({case.entry for case in self._kept()})
        self._counts = Counts(arguments.counts, _revision() if arguments.counts else "")
        self.trial = Trial(self._chosen, arguments.patience, arguments.plant)
        self.total = Counts()
        self.found: set[str] = set()

    def all(self) -> None:
        """The corpus, then new ones until time or number is reached; or the files given."""
        until = self._arguments.until_wrong
        if until is None:
            for case in self._kept():
                outcome = self.trial.run(case)
                self._count(case.entry, outcome.reached)
                self._see(case, outcome)
            self._save()
        if self._arguments.files or self._arguments.replay:
            return
        for first, last in self._batches():
            self._batch(first, last)
            if until is not None and any(until in wrong for wrong in self.found):
                return

    def _kept(self) -> Iterator[Case]:
        """The corpus, or the files that are given."""
        given: list[Path] = self._arguments.files
        for path in given or sorted((HERE / "corpus").glob("*/*.json")):
            case = Case(**json.loads(path.read_text(encoding="utf-8")))
            if given or case.entry in self._chosen:
                yield case

    def _batches(self) -> Iterator[tuple[int, int]]:
        """First number and the one after the last of each batch of new cases."""
        end = time.monotonic() + self._arguments.seconds
        left, first = self._arguments.cases, self._arguments.first
        while time.monotonic() < end if left is None else left:
            most = _BATCH if self._arguments.until_wrong is None else _BATCH_UNTIL
            many = most if left is None else min(left, most)
            start = self._counts.reserve(many) if first is None else first
            yield start, start + many
            left = None if left is None else left - many
            first = None if first is None else first + many

    def _batch(self, first: int, last: int) -> None:
        """Try cases by number, in another process where the one before died."""
        at = first
        try:
            while at < last:
                tried = self.trial.batch(at, last)
                for number, reached in enumerate(tried.reached, at):
                    self._count(entry_of(number, self._chosen), reached)
                for number, (case, outcome) in sorted(tried.wrong.items()):
                    self._see(case, outcome, number)
                at += len(tried.reached)
        finally:
            self._save(first, at)

    def _count(self, entry: str, reached: str) -> None:
        for counts in (self._counts, self.total):
            counts.add(entry, reached)

    def _save(self, first: int = 0, last: int = 0) -> None:
        used = self.trial.seconds - self.total.seconds
        self.total.seconds += used
        self._counts.seconds += used
        self._counts.save(first, last)

    def _see(self, case: Case, outcome: Outcome, number: int | None = None) -> None:
        """Print what went wrong, and keep it, smaller if that can be; each kind once."""
        if not outcome.wrong or outcome.wrong in self.found:
            return
        self.found.add(outcome.wrong)
        print(f"WRONG {outcome.wrong}", "" if number is None else f"(case {number})")
        print(outcome.detail[-1500:], flush=True)
        folder: Path | None = self._arguments.out
        if folder is None:
            return
        if case.text and "no end" not in outcome.wrong:
            case = reduced(case, lambda one: self.trial.run(one).wrong == outcome.wrong)
        name = blake2b(outcome.wrong.encode(), digest_size=6).hexdigest()
        path = folder / case.entry / f"{name}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(case.plain(), indent=1) + "\n", encoding="utf-8")
        print(f"kept as {path}", flush=True)


def _revision() -> str:
    """The project's commit, with a plus if files differ from it."""
    said = subprocess.run(
        ["git", "describe", "--always", "--abbrev=12", "--dirty=+", "--exclude=*"],
        cwd=HERE,
        capture_output=True,
        text=True,
        check=False,
    )
    return said.stdout.strip() or "unknown"


if __name__ == "__main__":
    sys.exit(main())

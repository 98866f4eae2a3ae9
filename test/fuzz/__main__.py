"""The fuzzing house: `python test/fuzz` tries inputs at every entry of tilec, for as long as told.

What goes wrong is reduced and written to a folder; the counts of all runs add up in a file.
`docs/fuzzing.md` says more.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections.abc import Iterator
from hashlib import blake2b
from importlib import import_module
from itertools import count, takewhile
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from case import Case  # noqa: E402
from counts import Counts  # noqa: E402
from reduction import reduced  # noqa: E402
from trial import Outcome, Trial  # noqa: E402

ENTRIES = {
    "mlir": 40, "pipelines": 8, "ptx": 12, "sidecars": 10, "commands": 10, "kernels": 8, "tiles": 8,
    "faults": 1,
}  # fmt: skip
"""The entries, and how often each has its turn."""


def parser() -> argparse.ArgumentParser:
    """The arguments."""
    made = argparse.ArgumentParser("python test/fuzz", description=__doc__)
    add = made.add_argument
    add("--seconds", type=float, default=45.0, help="how long; default: 45")
    add("--cases", type=int, default=None, help="how many new ones, whatever their time")
    add("--seed", type=int, default=None, help="of the cases; default: the time")
    add("--entries", default=",".join(ENTRIES), help="which, of " + ", ".join(ENTRIES))
    add("--out", type=Path, help="a folder for what goes wrong; default: none is written")
    add("--counts", type=Path, help="a file to which what was tried is added")
    add("--patience", type=float, default=60.0, help="seconds that a case has; default: 60")
    add("--plant", default="", help="Python that takes a mend out, to see that it is missed")
    add("--replay", action="store_true", help="try the corpus only")
    add("files", nargs="*", type=Path, help="cases to try, instead of new ones")
    return made


def corpus() -> list[Path]:
    """What went wrong once, and does not any more."""
    return sorted((HERE / "corpus").glob("*/*.json"))


def cases(arguments: argparse.Namespace) -> Iterator[Case]:
    """The corpus, then new ones until time or number is reached; or the files that are given."""
    chosen = arguments.entries.split(",")
    for path in arguments.files or corpus():
        case = Case(**json.loads(path.read_text(encoding="utf-8")))
        if arguments.files or case.entry in chosen:
            yield case
    if arguments.files or arguments.replay:
        return
    seed = time.time_ns() if arguments.seed is None else arguments.seed
    rng = random.Random(seed)
    print(f"seed {seed}", flush=True)
    weights = [ENTRIES[name] for name in chosen]
    for _ in _turns(arguments):
        (name,) = rng.choices(chosen, weights)
        yield import_module(f"entries.{name}").make(rng)


def _turns(arguments: argparse.Namespace) -> Iterator[int]:
    """One for each new case."""
    if arguments.cases is not None:
        yield from range(arguments.cases)
        return
    end = time.monotonic() + arguments.seconds
    yield from takewhile(lambda _: time.monotonic() < end, count())


def main() -> int:
    """Try cases; 1 if any went wrong."""
    arguments = parser().parse_args()
    trial = Trial(arguments.patience, arguments.plant)
    counts, total, found = Counts(arguments.counts), Counts(), dict[str, Case]()
    saved = last = time.monotonic()
    try:
        for case in cases(arguments):
            outcome = trial.run(case)
            now = time.monotonic()
            for one in (counts, total):
                one.add(case.entry, outcome.reached, now - last)
            last = now
            if outcome.wrong and outcome.wrong not in found:
                found[outcome.wrong] = case
                _tell(case, outcome, trial, arguments)
            if time.monotonic() - saved > 30:
                counts.save()
                saved = time.monotonic()
    except KeyboardInterrupt:
        pass
    finally:
        counts.save()
        trial.close()
    print(total)
    return 1 if found else 0


def _tell(case: Case, outcome: Outcome, trial: Trial, arguments: argparse.Namespace) -> None:
    """Print what went wrong, and keep it, smaller if that can be."""
    print(f"WRONG {outcome.wrong}\n{outcome.detail[-1500:]}", flush=True)
    if arguments.out is None:
        return
    if case.text and "no end" not in outcome.wrong:
        case = reduced(case, lambda one: trial.run(one).wrong == outcome.wrong)
    text = json.dumps(case.plain(), indent=1)
    name = blake2b(outcome.wrong.encode(), digest_size=6).hexdigest()
    path = arguments.out / case.entry / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text + "\n", encoding="utf-8")
    print(f"kept as {path}", flush=True)


if __name__ == "__main__":
    sys.exit(main())

"""Write the table of defaults that tilec ships: the model's best for each kernel, size and target.

    python benchmarks/make_defaults.py [--store defaults.sqlite] [--jobs N] [--target sm_90a …]
        [--output passes/defaults/table.json]

Kernels and sizes are those of `default_kernels.py`. What the store knows is not tried again, so an
interrupted run goes on where it was; rows of targets that are not named stay. Registers are
ptxas's. Candidates whose SMs alone would take longer than the kernel's own are left out: DRAM,
which they may spare, is the model's least certain part. Of those that cost the same within 2 %,
what a kernel has by itself is kept, or the one taken whose units have least to do in all.
`check_defaults.py` compares the table with f35790c's defaults by the simulator's counts.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from default_kernels import PROBLEMS, TARGETS
from tilec.tuning import Tunable, load
from tilec.tuning.problems import Problem
from tilec.tuning.store import Outcome
from tilec.tuning.studies import Progress, Study, tune

HERE = Path(__file__).resolve().parent
KERNELS = HERE / "default_kernels.py"
TABLE = HERE.parent / "passes" / "defaults" / "table.json"
_GAIN = 0.02
"""Shares of a cost that count as none, as far as the model can tell."""


def choice(study: Study, tunable: Tunable) -> Outcome | None:
    """What a table says: the best, or what the kernel has by itself if that costs as much.

    None for a size so large that the kernel's own cannot be counted: it takes the nearest one's.
    """
    own = next(one for one in study.outcomes if one.candidate == tunable.space.default)
    if own.reason == "it cannot be counted":
        return None
    ranked = study.ranked
    if own in ranked:
        ranked = [one for one in ranked if _throughput(one) <= _throughput(own)]
    if not ranked or ranked[0].cost is None:
        return None
    near = [one for one in ranked if (one.cost or 0.0) * (1 - _GAIN) <= ranked[0].cost]
    return own if own in near else min(near, key=lambda one: one.work)


def _throughput(outcome: Outcome) -> float:
    """Seconds of the SMs, DRAM aside, to six digits."""
    return float(f"{outcome.counts['estimate']['throughput']:.6g}")


def rows(name: str, targets: list[str], store: Path, jobs: int) -> dict[str, list[dict[str, Any]]]:
    """The table of a kernel, by target."""
    tunable = load(KERNELS, name)
    found: dict[str, list[dict[str, Any]]] = {}
    for target in targets:
        problems = [Problem(one) for one in PROBLEMS[name]]
        studies = tune(
            tunable, targets=[target], problems=problems, store=store, workers=jobs,
            assembled=True, progress=told,
        )  # fmt: skip
        chosen = [(study, choice(study, tunable)) for study in studies]
        found[target] = [
            {"sizes": dict(study.key.sizes), "parameters": dict(one.candidate)}
            for study, one in chosen
            if one is not None
        ]
    return found


def told(progress: Progress) -> None:
    """Say which studies are finished."""
    if progress.done == progress.total:
        print(progress.key.kernel, progress.key.target, dict(progress.key.sizes), flush=True)


def main() -> None:
    """Tune, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--store", type=Path, default=Path("defaults.sqlite"))
    parser.add_argument("--jobs", type=int, default=0)
    parser.add_argument("--target", action="append", choices=TARGETS)
    parser.add_argument("--output", type=Path, default=TABLE)
    given = parser.parse_args()
    targets = given.target or list(TARGETS)
    known = json.loads(given.output.read_text())["kernels"] if given.output.exists() else {}
    for name in PROBLEMS:
        made = {**known.get(name, {}), **rows(name, targets, given.store, given.jobs)}
        known[name] = {target: made[target] for target in TARGETS if target in made}
    given.output.write_text(_text({"by": "model", "kernels": known}))


def _text(table: dict[str, Any]) -> str:
    """JSON with a line for each size."""
    rows: list[str] = []

    def mark(row: dict[str, Any]) -> str:
        rows.append(json.dumps(row))
        return f"row {len(rows) - 1}"

    kernels = {
        kernel: {target: list(map(mark, found)) for target, found in by_target.items()}
        for kernel, by_target in table["kernels"].items()
    }
    text = json.dumps({**table, "kernels": kernels}, indent=1)
    for number, row in enumerate(rows):
        text = text.replace(f'"row {number}"', row)
    return text + "\n"


if __name__ == "__main__":
    main()

"""Candidates a second of `tile-tune`, by 1 and 2 workers, and what is left of it when it is killed.

    python benchmarks/tune.py [--jobs 1 2] [--kills 10] [--pin BK=64 …] [--json]

The GEMM of `tuned_gemm.py` for sm_80, sm_90a and sm_100a: all candidates of its space. For each
number of workers a run from an empty store to the end; then a run that is killed with SIGKILL
many times, at random, and continued each time by the same command. What its store holds then is
compared with the undisturbed one's, times aside.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tilec.tuning import load
from tilec.tuning.store import Store

KERNEL = Path(__file__).with_name("tuned_gemm.py")
TARGETS = ("sm_80", "sm_90a", "sm_100a")
SEED = 20


def command(store: Path, jobs: int, pins: Sequence[str]) -> list[str]:
    """What tunes it."""
    targets = [word for name in TARGETS for word in ("--target", name)]
    pinned = [word for pin in pins for word in ("--pin", pin)]
    made = [sys.executable, "-m", "tilec.tools.tile_tune", "run", str(KERNEL), *targets, *pinned]
    return [*made, "--store", str(store), "--jobs", str(jobs), "--format", "json"]


def results(store: Path) -> dict[str, Any]:
    """What a store holds, times aside."""
    with Store(store) as opened:
        found = opened.export()
    for study in found["studies"]:
        del study["seconds"]
    return found


def trials(found: dict[str, Any]) -> int:
    """Candidates in all."""
    return sum(len(study["trials"]) for study in found["studies"])


def undisturbed(store: Path, jobs: int, pins: Sequence[str]) -> dict[str, Any]:
    """A run from an empty store to the end."""
    began = time.perf_counter()
    made = subprocess.run(command(store, jobs, pins), stdout=subprocess.PIPE, check=True)
    seconds = time.perf_counter() - began
    count = trials(results(store))
    refused = {one["target"]: one["refused"] for one in json.loads(made.stdout)}
    rate = count / seconds
    return {"jobs": jobs, "candidates": count, "seconds": seconds, "rate": rate, "refused": refused}


def killed(store: Path, jobs: int, pins: Sequence[str], kills: int, seconds: float) -> int:
    """A run that is killed again and again; how often it was before it ended by itself.

    Args:
        store: its file.
        jobs: workers.
        pins: single values of parameters.
        kills: how often it is killed.
        seconds: that an undisturbed run takes.
    """
    chance = random.Random(SEED)
    done = 0
    while done < kills:
        process = subprocess.Popen(command(store, jobs, pins), stdout=subprocess.DEVNULL)
        try:
            process.wait(chance.uniform(0.2, 2.0) * seconds / (kills + 1))
            break
        except subprocess.TimeoutExpired:
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
            done += 1
    subprocess.run(command(store, jobs, pins), stdout=subprocess.DEVNULL, check=True)
    return done


def main() -> None:
    """Tune, kill, compare."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--jobs", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--pin", action="append", default=[], metavar="NAME=NUMBER")
    parser.add_argument("--json", action="store_true", help="print one object")
    arguments = parser.parse_args()
    pins = dict(pin.split("=") for pin in arguments.pin)
    space = load(KERNEL).pinned({name: int(value) for name, value in pins.items()})
    count = len(space.candidates(space.default_problem))
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder, f"jobs{jobs}.sqlite") for jobs in arguments.jobs]
        runs = [
            undisturbed(file, jobs, arguments.pin)
            for file, jobs in zip(files, arguments.jobs, strict=True)
        ]
        assert all(run["candidates"] == count * len(TARGETS) for run in runs)
        disturbed = Path(folder, "killed.sqlite")
        jobs, seconds = runs[-1]["jobs"], runs[-1]["seconds"]
        kills = killed(disturbed, jobs, arguments.pin, arguments.kills, seconds)
        stores = [results(file) for file in (*files, disturbed)]
        same = all(one == stores[0] for one in stores)
    if arguments.json:
        print(json.dumps({"runs": runs, "kills": kills, "same": same}))
    else:
        for run in runs:
            print(
                f"{run['jobs']} workers: {run['candidates']} candidates in {run['seconds']:.1f} s, "
                f"{run['rate']:.2f} a second; refused: {run['refused']}"
            )
        print(f"killed {kills} times: the store {'equals' if same else 'DIFFERS FROM'} the others")
    sys.exit(not same)


if __name__ == "__main__":
    main()

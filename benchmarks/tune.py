"""Candidates a second of `tile-tune`, by 1 and 2 workers, and what is left of it when it is killed.

    python benchmarks/tune.py [--jobs 1 2] [--kills 10] [--pin BK=64 …] [--folder DIR] [--json]

The GEMM of `tuned_gemm.py` for sm_80, sm_90a and sm_100a: all candidates of its space, 2,322 in
all. For each number of workers a run from an empty store to the end; then a run that is killed with
SIGKILL many times, at random, and continued each time by the same command. What its store holds
then is compared with the undisturbed one's, times aside.

Rates are candidates a second of wall clock, and candidates a second of the CPU time of all
processes, which tells more on a machine that others use; the load averages beside them say whether
it was. With `--folder` the stores and what each run took are kept, and runs that are finished there
are not repeated; of the run that is killed the kills are kept.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import random
import resource
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
from tilec.tuning.store.keys import versions

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
    """A run from an empty store to the end; one that was finished before is not repeated."""
    known = store.with_suffix(".json")
    if known.exists():
        found: dict[str, Any] = json.loads(known.read_text())
        return found
    store.unlink(missing_ok=True)
    loads = [os.getloadavg()]
    began, before = time.perf_counter(), cpu_seconds()
    made = subprocess.run(command(store, jobs, pins), stdout=subprocess.PIPE, check=True)
    seconds, cpu = time.perf_counter() - began, cpu_seconds() - before
    loads.append(os.getloadavg())
    count = trials(results(store))
    found = {
        "jobs": jobs,
        "candidates": count,
        "seconds": seconds,
        "rate": count / seconds,
        "cpu_seconds": cpu,
        "rate_of_cpu": count / cpu,
        "loads": loads,
        "refused": {one["target"]: one["refused"] for one in json.loads(made.stdout)},
    }
    known.write_text(json.dumps(found))
    return found


def machine() -> dict[str, Any]:
    """Where and when it was measured."""
    return {
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "system": platform.platform(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "versions": dict(versions()),
    }


def cpu_seconds() -> float:
    """CPU time of all processes that this one has waited for, and theirs."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def killed(store: Path, jobs: int, pins: Sequence[str], kills: int, seconds: float) -> int:
    """A run that is killed again and again; how often it was before it ended by itself.

    Args:
        store: its file.
        jobs: workers.
        pins: single values of parameters.
        kills: how often it is killed.
        seconds: that an undisturbed run takes.
    """
    noted = store.with_suffix(".kills")
    if not noted.exists():
        store.unlink(missing_ok=True)
        noted.write_text("0")
    done = int(noted.read_text())
    chance = random.Random(SEED + done)
    while done < kills:
        process = subprocess.Popen(command(store, jobs, pins), stdout=subprocess.DEVNULL)
        try:
            process.wait(chance.uniform(0.1, 1.3) * seconds / (kills + 1))
            break
        except subprocess.TimeoutExpired:
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
            done += 1
            noted.write_text(str(done))
    subprocess.run(command(store, jobs, pins), stdout=subprocess.DEVNULL, check=True)
    return done


def main() -> None:
    """Tune, kill, compare."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--jobs", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--pin", action="append", default=[], metavar="NAME=NUMBER")
    parser.add_argument("--folder", type=Path, help="keep stores there, and continue from them")
    parser.add_argument("--json", action="store_true", help="print one object")
    arguments = parser.parse_args()
    pins = dict(pin.split("=") for pin in arguments.pin)
    space = load(KERNEL).pinned({name: int(value) for name, value in pins.items()})
    count = len(space.candidates(space.default_problem))
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
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
        print(json.dumps({**machine(), "runs": runs, "kills": kills, "same": same}, indent=1))
    else:
        for run in runs:
            print(
                f"{run['jobs']} workers: {run['candidates']} candidates in {run['seconds']:.1f} s, "
                f"{run['rate']:.2f} a second, {run['rate_of_cpu']:.2f} a second of CPU time; "
                f"refused: {run['refused']}"
            )
        print(f"killed {kills} times: the store {'equals' if same else 'DIFFERS FROM'} the others")
    sys.exit(not same or kills < arguments.kills)


if __name__ == "__main__":
    main()

"""The simulator beside that of another revision, in one run: `sim_speed.py --against REVISION`.

Both are laid out as a wheel would install them, in processes of their own that take turns, each
going first in turn; checks are on. Ratios are theirs to ours: more than 1 is faster than they are.
Of each there are two, of the medians of all rounds: by CPU time, which tells more on a machine that
others use, and by the clock. What both compute is compared bit for bit.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any, Protocol

from checkouts import ROOT, checkout_of, installed

HERE = Path(__file__).resolve().parent
LOOPS = {
    "arithmetic": (6000, 1000),
    "memory": (600, 160),
    "staged": (600, 160),
    "divergent": (600, 80),
    "mma": (400, 60),
}
"""Turns of each kernel's loop for 8 warps and for 512: about a second of f35790c."""
CTAS = (1, 64)
GEMMS = {128: 12, 512: 2}
"""Sizes, the first of one CTA, and launches that are not measured."""
IMPORT = "import tilec, tilec.sim"
FIRST = "import sim_kernels; from tilec.sim import launch; sim_kernels.run(launch, 'staged', 4, 1)"


def _used() -> float:
    """CPU seconds of children that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class Side:
    """A tilec, and a process of it that launches.

    Attributes:
        environment: that of its processes.
    """

    def __init__(self, site: Path, cache: Path) -> None:
        self.environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join((str(site), str(HERE))),
            "PYTHONDONTWRITEBYTECODE": "1",
            "TILEC_CACHE_DIR": str(cache),
        }
        self.cache = cache
        self._process = subprocess.Popen(
            [sys.executable, str(HERE / "sim_worker.py")],
            env=self.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def launch(self, wanted: Mapping[str, object]) -> dict[str, Any]:
        """What came of a launch."""
        assert self._process.stdin
        assert self._process.stdout
        print(json.dumps(wanted), file=self._process.stdin, flush=True)
        answer: dict[str, Any] = json.loads(self._process.stdout.readline())
        return answer

    def process(self, code: str) -> dict[str, Any]:
        """Times of a whole process."""
        before, start = _used(), perf_counter()
        subprocess.run([sys.executable, "-c", code], env=self.environment, check=True)
        clock = perf_counter() - start
        return {"cpu": _used() - before, "seconds": clock}

    def forget(self) -> None:
        """Empty the cache."""
        shutil.rmtree(self.cache, ignore_errors=True)
        self.cache.mkdir()

    def end(self) -> None:
        """End its process."""
        self._process.communicate()


def compare(
    name: str, sides: Sequence[Side], launch: Any, rounds: int, *, forget: bool = False
) -> dict[str, Any]:
    """Times of both sides in turns, ours first, and their ratios."""
    found: list[list[dict[str, Any]]] = [[], []]
    for number in range(rounds):
        for side in (0, 1) if number % 2 else (1, 0):
            if forget:
                sides[side].forget()
            found[side].append(launch(sides[side]))
    sums = {one.get("sum") for each in found for one in each}
    assert len(sums) == 1, "they compute different bits"
    row: dict[str, Any] = {}
    for what in ("cpu", "seconds"):
        ours, theirs = (median(one[what] for one in each) for each in found)
        row[what] = {"ours": ours, "theirs": theirs, "ratio": theirs / ours}
    instructions = found[0][0].get("instructions")
    if instructions:
        row["instructions"] = instructions
    print(f"{name}: {row}", file=sys.stderr, flush=True)
    return row


class Gemm(Protocol):
    """A compiled GEMM with tiles of 128x128."""

    ptx: str
    block: Sequence[int]
    shared: int


def measure(
    revision: str, gemm: Gemm, rounds: int, *, large: bool = False, only: str = ""
) -> dict[str, Any]:
    """All that is compared.

    Args:
        revision: the other tilec.
        gemm: a GEMM.
        rounds: how often each takes its turn.
        large: whether 4096x4096x4096 is computed too, by ours alone.
        only: a part of the names of what is measured.
    """
    rows: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        other = checkout_of(revision, folder / "checkout")
        sides = []
        for number, checkout in enumerate((ROOT, other)):
            for part in ("site", "cache"):
                (folder / f"{part}{number}").mkdir()
            site = installed(checkout, folder / f"site{number}")
            sides.append(Side(site, folder / f"cache{number}"))
        for kernel, turns in LOOPS.items():
            for ctas, many in zip(CTAS, turns, strict=True):
                key = f"{kernel}, {8 * ctas} warps"
                if only not in key:
                    continue
                wanted = {"what": "loop", "name": kernel, "turns": many, "ctas": ctas}
                for side in sides * 2:  # which compile, and bind, what they need
                    side.launch({**wanted, "turns": many // 4})
                rows[key] = compare(key, sides, lambda side: side.launch(wanted), rounds)  # noqa: B023
        path = folder / "gemm.ptx"
        path.write_text(gemm.ptx)
        wanted = {"what": "gemm", "path": str(path), "block": list(gemm.block)}
        wanted |= {"shared": gemm.shared}
        for size, before in GEMMS.items():
            key = f"{size}x{size}x{size} exact"
            if only not in key:
                continue
            one = {**wanted, "size": size}
            for side in sides * before:
                side.launch(one)
            rows[key] = compare(key, sides, lambda side: side.launch(one), rounds)  # noqa: B023
        if large:
            found = sides[0].launch({**wanted, "size": 4096})
            rows["4096x4096x4096 exact"] = {
                what: {"ours": found[what]} for what in ("cpu", "seconds")
            }
        for side in sides:
            side.end()
        code = {"import": IMPORT, "first launch, empty cache": FIRST, "first launch": FIRST}
        for what, text in code.items():
            if only not in what:
                continue
            empty = what.endswith("empty cache")
            rows[what] = compare(
                what,
                sides,
                lambda side: side.process(text),  # noqa: B023
                2 * rounds + 1,
                forget=empty,
            )
    engine = os.environ.get("TILEC_SIM_ENGINE") or "native"
    return {"revision": revision, "engine": engine, "rounds": rounds, "rows": rows}


def show(result: Mapping[str, Any]) -> None:
    """Print what was measured."""
    print(f"against {result['revision']}, engine {result['engine']}, checks on")
    print(
        f"{'':28}{'CPU s':>10}{'theirs':>10}{'ratio':>8}{'clock s':>10}{'theirs':>10}{'ratio':>8}"
    )
    for what, row in result["rows"].items():
        line = f"{what:28}"
        for times in (row["cpu"], row["seconds"]):
            line += f"{times['ours']:10.4f}"
            line += (
                f"{times['theirs']:10.4f}{times['ratio']:8.2f}" if "ratio" in times else 18 * " "
            )
        print(line)


if __name__ == "__main__":
    import sim_speed

    parser = argparse.ArgumentParser(description="The comparison alone.")
    parser.add_argument("against", metavar="REVISION|CHECKOUT")
    parser.add_argument("--rounds", type=int, default=3, metavar="N")
    parser.add_argument("--only", default="", metavar="TEXT", help="what has it in its name")
    arguments = parser.parse_args()
    gemm = sim_speed.Gemm()
    show(measure(arguments.against, gemm, arguments.rounds, only=arguments.only))

"""Time of launches by one process, and by one for each core, in one run.

    python benchmarks/sim_processes.py [--processes N] [--rounds N] [--json]

A GEMM by cp.async and mma.sync (`examples/gemm.mlir`), and one by TMA and wgmma
(`examples/hopper/tiles.mlir`), exact and with checks. Both turns follow each other in each round;
a ratio is the median of those of the rounds. Beside the time by the clock, which is that of a
machine with nothing else to do only where nothing else is done, is the time that this process had
a processor: with workers the clock's cannot be less than that.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import tilec
from sim_speed import HERE, machine
from tilec.sim.processes.choice import PROCESSES
from tilec.sim.processes.pool import pool

CASES: dict[str, dict[str, Any]] = {
    "mma.sync": {
        "program": "gemm.mlir", "target": "sm_90", "size": 2048, "tile": (128, 128),
        "transposed": False, "result": np.float32,
    },
    "wgmma": {
        "program": "hopper/tiles.mlir", "target": "sm_90a", "size": 1024, "tile": (256, 128),
        "transposed": True, "result": np.float16,
    },
}  # fmt: skip
"""The programs, and what they multiply: M = N = K, the tile along N and M, whether B is N×K."""


class Gemm:
    """One of the programs, compiled."""

    def __init__(
        self,
        program: str,
        target: str,
        size: int,
        tile: tuple[int, int],
        transposed: bool,
        result: type[np.generic],
    ) -> None:
        self._compiled = tilec.compile(HERE.parent / "examples" / program, target=target)
        rng = np.random.default_rng(0)
        self._a, self._b = (rng.standard_normal((size, size)).astype(np.float16) for _ in range(2))
        self._c = np.zeros((size, size), result)
        self._grid = (size // tile[0], size // tile[1])
        b = self._b.T if transposed else self._b
        self._wanted = self._a.astype(np.float32) @ b.astype(np.float32)

    def __call__(self, processes: int) -> dict[str, float]:
        """Seconds, by the clock and of this process and of workers; the result is checked."""
        os.environ[PROCESSES] = str(processes)
        self._c[...] = 0
        workers, before, start = _of_workers(), time.process_time(), time.perf_counter()
        report = self._compiled.launch(self._a, self._b, self._c, grid=self._grid, device="sim")
        seconds, here = time.perf_counter() - start, time.process_time() - before
        there = _of_workers() - workers
        report.require_ok()
        error = np.abs(self._c.astype(np.float32) - self._wanted).max()
        assert error < (0.2 if self._c.dtype == np.float16 else 1e-2), error
        return {"seconds": seconds, "processor_here": here, "processor_of_workers": there}


def _of_workers() -> float:
    """Seconds that workers have had a processor, where the system tells."""
    stats = [Path(f"/proc/{pid}/stat") for pid in pool().pids]
    fields = [one.read_text().rpartition(")")[2].split() for one in stats if one.exists()]
    return sum(int(n) for of in fields for n in of[11:13]) / os.sysconf("SC_CLK_TCK")


def measure(gemm: Gemm, processes: int, rounds: int) -> dict[str, Any]:
    """Both turns of each round, after one that starts the workers."""
    gemm(processes)
    turns = [(gemm(1), gemm(processes)) for _ in range(rounds)]
    ratios = {
        name: median(one[name] / many[name] for one, many in turns)
        for name in ("seconds", "processor_here")
    }
    return {"one": [one for one, _ in turns], "several": [many for _, many in turns]} | {
        f"{name}_ratio": ratio for name, ratio in ratios.items()
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1, metavar="N")
    parser.add_argument("--rounds", type=int, default=5, metavar="N")
    parser.add_argument("--json", action="store_true", help="print one object")
    arguments = parser.parse_args()
    found: dict[str, Any] = {"machine": machine(None), "processes": arguments.processes}
    for name, given in CASES.items():
        found[name] = measure(Gemm(**given), arguments.processes, arguments.rounds)
    found["load_after"] = os.getloadavg()
    if arguments.json:
        print(json.dumps(found, indent=1))
        return
    for name, given in CASES.items():
        one, several = (
            {what: median(turn[what] for turn in found[name][how]) for what in found[name][how][0]}
            for how in ("one", "several")
        )
        print(
            f"{name} {given['size']}^3: 1 process {one['seconds']:.2f} s, "
            f"{arguments.processes} {several['seconds']:.2f} s, ratio "
            f"{found[name]['seconds_ratio']:.2f}; of a processor {one['processor_here']:.2f} s, "
            f"and {several['processor_here']:.2f} s here and "
            f"{several['processor_of_workers']:.2f} s by workers"
        )
    print("load", found["machine"]["load"], "to", found["load_after"])


if __name__ == "__main__":
    main()

"""Instructions that the simulator executes in a second, by numpy and by machine code.

    python benchmarks/sim_engines.py [--rounds N] [--json]

Kernels of one loop, for 8 warps and for 512, without checks and with them: arithmetic, shared and
global memory that each thread has for itself, tiles staged from global through shared memory into
registers, warps whose lanes take 8 paths, and matrix products. Each is launched with two numbers of
turns; the rate is that of the turns which one has more than the other, so that reading and binding
do not count, which are given apart. Times are CPU time, the least of some rounds in turns, since
what else the machine does only adds to them. Bits and reports of both engines are compared, but for
the memory that was taken for races.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from dataclasses import asdict
from typing import Any

import sim_kernels
from sim_kernels import KERNELS, THREADS
from tilec.sim import Report, launch
from tilec.sim.native import choice


def run(name: str, turns: int, ctas: int, *, checks: bool) -> tuple[float, bytes, Report]:
    """CPU seconds of a launch, and what came of it."""
    start = time.process_time()
    report, data = sim_kernels.run(launch, name, turns, ctas, checks=checks)
    assert isinstance(report, Report)
    return time.process_time() - start, data, report


def compare(name: str, ctas: int, rounds: int, *, checks: bool) -> dict[str, Any]:
    """Warp instructions a second by engine, and the seconds that a launch takes beside."""
    times: dict[tuple[str, int], list[float]] = {}
    results: dict[int, tuple[bytes, dict[str, Any]]] = {}
    counts: dict[int, int] = {}
    for _ in range(rounds):
        for which in choice.ENGINES:
            os.environ[choice.VARIABLE] = which
            for turns in KERNELS[name][3:]:
                seconds, bits, report = run(name, turns, ctas, checks=checks)
                found = bits, {**asdict(report), "race_bytes": 0}
                assert results.setdefault(turns, found) == found, f"{name}: engines differ"
                counts[turns] = report.warp_instructions
                times.setdefault((which, turns), []).append(seconds)
    *_, few, many = KERNELS[name]
    rates = {}
    for which in choice.ENGINES:
        short, long = min(times[which, few]), min(times[which, many])
        each = (long - short) / (counts[many] - counts[few])
        rates[which] = {"rate": 1 / each, "beside": short - each * counts[few]}
    return rates


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=5, metavar="N")
    parser.add_argument("--json", action="store_true", help="print one object")
    arguments = parser.parse_args()
    rows: list[dict[str, Any]] = [
        {
            "kernel": name, "warps": ctas * THREADS // 32, "checks": checks,
            **compare(name, ctas, arguments.rounds, checks=checks),
        }
        for checks in (False, True) for name in KERNELS for ctas in (1, 64)
    ]  # fmt: skip
    if arguments.json:
        print(json.dumps(rows))
        return
    print(f"{'':26}{'million warp instructions/s':^34}{'ms beside':^18}")
    print(
        f"{'kernel':12}{'warps':>6}{'checks':>8}"
        + f"{'numpy':>10}{'native':>10}{'ratio':>8}{'numpy':>10}{'native':>10}"
    )
    for row in rows:
        numpy_, native = row["numpy"], row["native"]
        line = f"{row['kernel']:12}{row['warps']:6}{'yes' if row['checks'] else 'no':>8}"
        line += f"{numpy_['rate'] / 1e6:10.2f}{native['rate'] / 1e6:10.2f}"
        line += f"{native['rate'] / numpy_['rate']:8.1f}"
        line += f"{numpy_['beside'] * 1e3:10.1f}{native['beside'] * 1e3:10.1f}"
        print(line)


if __name__ == "__main__":
    main()

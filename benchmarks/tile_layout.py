"""How long `tile-layout` takes to answer, as a shell sees it: process start, imports, answer.

    python benchmarks/tile_layout.py [RUNS]

Prints median and fastest wall time of each question in milliseconds; text shall take less than
300. The interpreter's own start, which is part of it, comes first.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time

QUESTIONS = (
    "m16n8k16 --operand a --type f16",
    "m16n8k16 --operand a --type f16 --element 3,5",
    "m16n8k256 --operand a --type b1",
    "m16n8k64 --operand a --type s8 --sparse",
    "m16n8k64 --operand sfa --type ue4m3",
    "ldmatrix.sync.aligned.m8n8.x4.trans.b16",
)


def measure(command: list[str], runs: int) -> str:
    """Median and minimum over some runs."""
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
        times.append(1000 * (time.perf_counter() - start))
    return f"{statistics.median(times):7.1f} {min(times):7.1f}"


def main() -> None:
    """Measure every question."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    print(" median     min")
    print(measure([sys.executable, "-c", "pass"], runs), "python alone")
    for question in QUESTIONS:
        command = [sys.executable, "-m", "tilec.tools.tile_layout", *question.split()]
        print(measure(command, runs), question)


if __name__ == "__main__":
    main()

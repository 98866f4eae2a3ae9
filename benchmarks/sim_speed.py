"""Time of the simulator on a 512x512x512 f16 GEMM, beside Triton's interpreter, in one run.

    python benchmarks/sim_speed.py [--triton-python PATH] [--rounds N] [--json]

The GEMM is `examples/gemm.mlir`, tile 128x128x64, compiled for sm_90 beforehand; the time is that
from PTX text to result, reading included. Triton's interpreter runs the same product, once with
tiles of 32x32x32 and once with ours: its time goes by the number of tiles, since numpy multiplies
each, so the tile decides the ratio. All take turns, and of each the least time counts, since what
else the machine does only adds to it. `fast_vs_triton`, Triton's time with tiles of 32x32x32 over
ours, is for fast mode without checks, `fast_checked_vs_triton` with them, and `exact_vs_triton`
exact mode with them, the default; the same with `_same_tile` is against Triton with our tile.

Then, of ours alone: the cost of a simulated instruction, and how time grows with the number of
CTAs and with divergence.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import tilec
from compile_time import has_triton
from tilec.sim import Report, launch

HERE = Path(__file__).resolve().parent
SIZE, TILE = 512, 128
TRITON_TILES = {"triton": (32, 32, 32), "triton_same_tile": (128, 128, 64)}
"""Tiles of Triton's GEMM, by the name of its times."""

MODES: dict[str, dict[str, Any]] = {
    "fast": {"numerics": "fast", "checks": False},
    "fast_checked": {"numerics": "fast"},
    "exact_unchecked": {"checks": False},
    "exact": {},
}
AIMS = {"fast": 10, "fast_checked": 4, "exact": 1}
CTAS = (1, 4, 16, 64)
PATHS = (1, 2, 4, 8, 16, 32)


class Gemm:
    """The example, compiled; its operands are made anew for each size."""

    def __init__(self) -> None:
        compiled = tilec.compile(HERE.parent / "examples" / "gemm.mlir", target="sm_90")
        (kernel,) = compiled.kernels
        assert kernel.block is not None
        self.ptx, self.block, self.shared = compiled.ptx, kernel.block, kernel.dynamic_shared

    def __call__(self, m: int, n: int, k: int, **mode: Any) -> tuple[float, Report]:
        """Seconds from PTX text to result, and the report. The result is checked."""
        rng = np.random.default_rng(0)
        a, b = (rng.standard_normal(s).astype(np.float16) for s in ((m, k), (k, n)))
        c = np.zeros((m, n), np.float32)
        args = [v for x in (a, b, c) for v in (x, *x.shape, x.shape[1])]
        start = time.perf_counter()
        report = launch(
            self.ptx,
            "gemm",
            (n // TILE, m // TILE),
            self.block,
            args,
            arch="sm_90",
            dynamic_smem=self.shared,
            **mode,
        )
        seconds = time.perf_counter() - start
        assert report.ok
        assert np.abs(c - a.astype(np.float32) @ b.astype(np.float32)).max() < 1e-2
        return seconds, report


class Triton:
    """Triton's interpreter in a process of its own."""

    def __init__(self, python: str, tile: tuple[int, int, int]) -> None:
        sizes = [str(size) for size in (*[SIZE] * 3, *tile)]
        command = [python, str(HERE / "triton_interpreter.py"), *sizes]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.version: str = self._answer()["version"]

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdin
        assert self._process.stdout
        print(file=self._process.stdin, flush=True)
        answer: dict[str, Any] = json.loads(self._process.stdout.readline())
        return answer

    def seconds(self) -> float:
        """The time of one product."""
        return float(self._answer()["seconds"])

    def end(self) -> None:
        self._process.communicate()


def compare(gemm: Gemm, tritons: dict[str, Triton], rounds: int) -> dict[str, Any]:
    """Times of every mode, and of Triton with every tile, in turns."""
    times: dict[str, list[float]] = {name: [] for name in (*MODES, *tritons)}
    for mode in MODES.values():
        gemm(SIZE, SIZE, SIZE, **mode)
    for _ in range(rounds):
        for name, triton in tritons.items():
            times[name].append(triton.seconds())
        for name, mode in MODES.items():
            times[name].append(gemm(SIZE, SIZE, SIZE, **mode)[0])
    result: dict[str, Any] = {
        "seconds": {name: min(found) for name, found in times.items()},
        "all_seconds": times,
    }
    for name in MODES:
        for peer in TRITON_TILES:
            ratio = (
                f"   Triton takes {against:6.1f} times that, {same:6.2f} with our tile"
                if same
                else ""
            )
        aim = f" (aim: {AIMS[name]})" if against and name in AIMS else ""
        print(f"  {name:16} {seconds:8.3f} s{ratio}{aim}")
    if "triton" not in result["seconds"]:
        print("  Triton is not importable; --triton-python names an interpreter that has it")
    counts = result["cost"]["counts"]
    print("cost: " + ", ".join(f"{count:,} {what}s" for what, count in counts.items()))
    for name, found in result["cost"]["ns"].items():
        print(f"  {name:16} " + "   ".join(f"{ns:10.2f} ns a {what}" for what, ns in found.items()))
    print("CTAs (K = 512)      " + "".join(f"{ctas:>10}" for ctas in CTAS))
    for name, found in result["ctas"].items():
        print(f"  {name:16} s " + "".join(f"{seconds:10.3f}" for seconds in found.values()))
    print("paths of a warp     " + "".join(f"{paths:>10}" for paths in PATHS))
    print("  fast             s " + "".join(f"{s:10.3f}" for s in result["paths"].values()))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--triton-python", default=sys.executable, metavar="PATH")
    parser.add_argument("--rounds", type=int, default=7, metavar="N")
    parser.add_argument("--json", action="store_true", help="print one object")
    arguments = parser.parse_args()
    python = arguments.triton_python
    tiles = TRITON_TILES if has_triton(python) else {}
    tritons = {name: Triton(python, tile) for name, tile in tiles.items()}
    gemm = Gemm()
    result = {
        "machine": machine(tritons.get("triton")),
        **compare(gemm, tritons, arguments.rounds),
    }
    for triton in tritons.values():
        triton.end()
    result["cost"] = cost(gemm, result["seconds"])
    result["ctas"] = by_ctas(gemm, arguments.rounds)
    result["paths"] = by_paths(arguments.rounds)
    if arguments.json:
        print(json.dumps(result))
    else:
        show(result)


if __name__ == "__main__":
    main()

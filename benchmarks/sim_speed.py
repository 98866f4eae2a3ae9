"""Time of the simulator on a 512x512x512 f16 GEMM, beside Triton's interpreter, in one run.

    python benchmarks/sim_speed.py [--against REVISION [--large]] [--rounds N] [--json]

The GEMM is `examples/gemm.mlir`, tile 128x128x64, compiled for sm_90 beforehand; the time is that
from PTX text to result, reading included. Triton's interpreter runs the same product, once with
tiles of 32x32x32 and once with ours: its time goes by the number of tiles, since numpy multiplies
each, so the tile decides the ratio. All take turns, and of each the least time counts, since what
else the machine does only adds to it. `fast_vs_triton`, Triton's time with tiles of 32x32x32 over
ours, is for fast mode without checks, `fast_checked_vs_triton` with them, and `exact_vs_triton`
exact mode with them, the default; the same with `_same_tile` is against Triton with our tile.

Then, of ours alone: the cost of a simulated instruction, and how time grows with the number of
CTAs and with divergence.

`--against` has loops of each kind, the GEMM, imports and first launches compared with another
revision of this checkout, or another checkout's folder: see `sim_against.py`. `--large` adds the
GEMM of 4096x4096x4096 by ours.
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
import sim_against
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
            ratio = min(times[peer]) / min(times[name]) if peer in times else None
            result[f"{name}_vs_{peer}"] = ratio
    return result


def least(run: Callable[[], float], rounds: int) -> float:
    """The least of some times."""
    return min(run() for _ in range(rounds))


def cost(gemm: Gemm, seconds: dict[str, float]) -> dict[str, Any]:
    """Nanoseconds for an instruction of a warp and of a thread, and for a step, of the GEMM."""
    _, report = gemm(SIZE, SIZE, SIZE)
    counts = {
        "warp_instruction": report.warp_instructions,
        "thread_instruction": report.thread_instructions,
        "step": report.steps,
    }
    return {
        "counts": counts,
        "ns": {
            name: {what: seconds[name] * 1e9 / count for what, count in counts.items()}
            for name in MODES
        },
    }


def by_ctas(gemm: Gemm, rounds: int) -> dict[str, dict[int, float]]:
    """Seconds of a product with K = 512, by the number of CTAs."""
    found: dict[str, dict[int, float]] = {}
    for name in ("fast", "exact"):
        found[name] = {}
        for ctas in CTAS:
            side = TILE * int(ctas**0.5)
            mode = MODES[name]
            found[name][ctas] = least(lambda: gemm(side, side, SIZE, **mode)[0], rounds)  # noqa: B023
    return found


def divergent(paths: int, length: int = 200) -> str:
    """PTX whose lanes take one of so many paths of the same length."""
    body = "\n".join("fma.rn.f32 %f1, %f1, %f2, %f3;" for _ in range(length))
    blocks = "\n".join(
        f"path{i}: setp.ne.u32 %p1, %r1, {i};\n@%p1 bra path{i + 1};\n{body}" for i in range(paths)
    )
    return f"""
.version 8.0
.target sm_90
.address_size 64
.entry diverge(.param .u64 out)
{{
.reg .pred %p<2>; .reg .f32 %f<4>; .reg .b32 %r<5>; .reg .b64 %d<3>;
ld.param.u64 %d1, [out];
mov.u32 %r2, %tid.x;
mov.u32 %r3, %ctaid.x;
mad.lo.u32 %r4, %r3, 256, %r2;
and.b32 %r1, %r2, {paths - 1};
mov.f32 %f1, 0f3F800000; mov.f32 %f2, 0f3F000000; mov.f32 %f3, 0f3F000000;
{blocks}
path{paths}:
mul.wide.u32 %d2, %r4, 4;
add.u64 %d1, %d1, %d2;
st.global.f32 [%d1], %f1;
ret;
}}
"""


def by_paths(rounds: int) -> dict[int, float]:
    """Seconds by the number of paths that a warp's lanes take, 64 CTAs of 256 threads."""

    def run(ptx: str) -> float:
        out = np.zeros(64 * 256, np.float32)
        start = time.perf_counter()
        launch(ptx, "diverge", 64, 256, [out], checks=False)
        seconds = time.perf_counter() - start
        assert (out == 1).all()
        return seconds

    return {paths: least(lambda: run(divergent(paths)), rounds) for paths in PATHS}  # noqa: B023


def machine(triton: Triton | None) -> dict[str, Any]:
    """Where this runs."""
    models = (
        [
            line.partition(":")[2].strip()
            for line in Path("/proc/cpuinfo").read_text().splitlines()
            if line.startswith("model name")
        ]
        if Path("/proc/cpuinfo").exists()
        else []
    )
    return {
        "processor": models[0] if models else platform.processor(),
        "cores": os.cpu_count(),
        "load": os.getloadavg(),
        "system": platform.platform(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "tilec": tilec.__version__,
        "triton": triton.version if triton else None,
        "triton_tiles": TRITON_TILES,
    }


def show(result: dict[str, Any]) -> None:
    """Print what was measured."""
    print(f"{SIZE}x{SIZE}x{SIZE} f16 GEMM, tile {TILE}x{TILE}, from PTX text to result")
    for name, seconds in result["seconds"].items():
        against = result.get(f"{name}_vs_triton")
        same = result.get(f"{name}_vs_triton_same_tile")
        ratio = (
            f"   Triton takes {against:.1f} times that, {same:.2f} with our tile" if same else ""
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
    parser.add_argument("--against", metavar="REVISION|CHECKOUT", help="another tilec as the peer")
    parser.add_argument("--large", action="store_true", help="with --against, 4096x4096x4096 too")
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
    if arguments.against:
        result["against"] = sim_against.measure(
            arguments.against, gemm, arguments.rounds, large=arguments.large
        )
    if arguments.json:
        print(json.dumps(result))
    else:
        show(result)
        if arguments.against:
            sim_against.show(result["against"])


if __name__ == "__main__":
    main()

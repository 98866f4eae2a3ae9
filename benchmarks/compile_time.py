"""Time from source text to PTX of a GEMM or of attention, beside Triton's, in one run.

    python benchmarks/compile_time.py [--kernel NAME] [--triton-python PATH] [--json]

Cold is a whole process that compiles once and exits; warm is the n-th compilation in a process
that has compiled before; cached is a whole process that finds what it compiles in the compiler's
cache on disk, and `beyond_numpy` what that takes beyond starting Python and importing numpy. tilec
and Triton take turns, so that what slows the machine slows both, and the ratios are medians over
the turns' own ratios.

`--kernel` chooses the program. `gemm`, with tiles of 128x128x64, and `attention`, 128 queries by 64
keys, enter at level 1, tiles without layouts, as Triton's kernels do. `gemm_layouts` is the same
GEMM from level 2 on, its layouts and pipeline written out; Triton chooses its own, with which its
`warm_ratio` and `cold_ratio` are to be read. `python` is the GEMM in Python,
`examples/kernels/gemm.py`, at level 1.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from operator import sub
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).resolve().parent
EXAMPLES = HERE.parent / "examples"
WARM_UP = 2
NUMPY = (sys.executable, "-c", "import numpy")
CACHED = (
    "import sys, numpy, tilec\n"
    "tilec.compile(open(sys.argv[1]).read(), target='sm_80', cache=True).ptx"
)


class Program(NamedTuple):
    """What is compiled.

    Attributes:
        path: its file.
        level: at which it enters.
        triton: the kernel of `triton_kernels.py` that it is compared with.
        kernel: the only function that is taken, if the file has several.
        python: whether `python_gemm.py` has it, too.
    """

    path: Path
    level: int
    triton: str
    kernel: str = ""
    python: bool = False

    @property
    def text(self) -> str:
        """The source, with one kernel."""
        head, *functions = self.path.read_text().split("\n  gpu.func @")
        kept = [f for f in functions if f.startswith(f"{self.kernel}(") or not self.kernel]
        return "\n  gpu.func @".join([head, *kept]).rstrip().removesuffix("\n}") + "\n}\n"


PROGRAMS = {
    "gemm": Program(EXAMPLES / "kernels" / "gemm.mlir", 1, "gemm", python=True),
    "attention": Program(EXAMPLES / "kernels" / "attention.mlir", 1, "attention", "attention"),
    "gemm_layouts": Program(EXAMPLES / "gemm.mlir", 2, "gemm"),
}


class Compiler:
    """A compiler that is timed in processes of its own.

    Attributes:
        name: how the table calls it.
        cold: command that compiles once.
        cached: the same for a process that uses the cache on disk.
        warm: command that compiles at every line of standard input, and reports each time.
    """

    def __init__(
        self,
        name: str,
        cold: Sequence[str],
        cached: Sequence[str],
        warm: Sequence[str],
        folder: str,
    ) -> None:
        self.name = name
        self.cold = cold
        self.cached = cached
        self.warm = warm
        # The first process leaves the bytecode of a checkout behind, which what is installed has.
        inherited = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
        self._with_cache = {
            **inherited,
            "TILEC_CACHE": "1",
            "TILEC_CACHE_DIR": str(Path(folder, "tilec")),
            "TRITON_ALWAYS_COMPILE": "0",
            "TRITON_CACHE_DIR": str(Path(folder, "triton")),
            "TRITON_DEFAULT_FP_FUSION": "1",
        }
        # Triton asks its cache first, which would answer.
        self._environment = self._with_cache | {"TILEC_CACHE": "0", "TRITON_ALWAYS_COMPILE": "1"}

    def run_cold(self) -> float:
        """Seconds of one process."""
        return timed(self.cold, self._environment)

    def run_cached(self) -> float:
        """Seconds of one process that finds its compilation, from the second time on."""
        return timed(self.cached, self._with_cache)

    @contextmanager
    def warmed(self) -> Iterator[WarmProcess]:
        """A process that has compiled before."""
        process = subprocess.Popen(
            self.warm,
            env=self._environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        served = WarmProcess(process)
        for _ in range(WARM_UP):
            served.compile()
        yield served
        process.communicate()


def timed(command: Sequence[str], environment: Mapping[str, str] | None = None) -> float:
    """What a process takes."""
    start = time.perf_counter()
    subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


class WarmProcess:
    """A process that compiles on demand."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def compile(self) -> dict[str, Any]:
        """Compile once; `seconds`, `mma` and, of tilec, `stages` in seconds."""
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        report: dict[str, Any] = json.loads(self._process.stdout.readline())
        return report


def serve_tilec(text: str) -> None:
    """Compile a program at every line of standard input, and report."""
    import tilec
    from tilec.passes.instrumentation import Instrumentation

    for number, _ in enumerate(sys.stdin):
        # Every other time is taken apart, which splits the pipeline and costs a little.
        watched = Instrumentation() if number % 2 else None
        start = time.perf_counter()
        compiled = tilec.compile(text, target="sm_80", instrumentation=watched)
        report = {
            "seconds": time.perf_counter() - start,
            "mma": compiled.ptx.count("mma.sync"),
            "stages": watched.times if watched else [],
        }
        print(json.dumps(report), flush=True)


def has_triton(python: str) -> bool:
    """Whether that interpreter imports Triton."""
    return not subprocess.run(
        [python, "-c", "import triton"], capture_output=True, check=False
    ).returncode


def measure(compilers: Sequence[Compiler], rounds: int) -> dict[str, dict[str, Any]]:
    """Times of every compiler, in turns."""
    times: dict[str, dict[str, Any]] = {
        c.name: {"cold": [], "cached": [], "numpy": [], "warm": [], "stages": {}, "mma": 0}
        for c in compilers
    }
    for compiler in compilers:
        compiler.run_cached()
    for _ in range(rounds):
        for compiler in compilers:
            found = times[compiler.name]
            found["cold"].append(compiler.run_cold())
            found["cached"].append(compiler.run_cached())
            found["numpy"].append(timed(NUMPY))
    with contextmanager(_all_warm)(compilers) as served:
        for _ in range(2 * rounds):
            for name, process in served.items():
                report = process.compile()
                times[name]["mma"] = report["mma"]
                if report["stages"]:
                    for stage, seconds in report["stages"]:
                        times[name]["stages"].setdefault(stage, []).append(seconds)
                else:
                    times[name]["warm"].append(report["seconds"])
    return times


def _all_warm(compilers: Sequence[Compiler]) -> Iterator[dict[str, WarmProcess]]:
    if not compilers:
        yield {}
        return
    first, *rest = compilers
    with first.warmed() as process, contextmanager(_all_warm)(rest) as others:
        yield {first.name: process, **others}


def ratio(ours: Sequence[float], theirs: Sequence[float]) -> float:
    """Median of the ratios of neighbouring measurements."""
    return statistics.median(a / b for a, b in zip(ours, theirs, strict=False))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--kernel", choices=PROGRAMS, default="gemm")
    parser.add_argument("--triton-python", default=sys.executable, metavar="PATH")
    parser.add_argument("--rounds", type=int, default=7, metavar="N")
    parser.add_argument("--json", action="store_true", help="print one object")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    program = PROGRAMS[arguments.kernel]
    if arguments.serve:
        serve_tilec(program.text)
        return
    if not shutil.which(arguments.triton_python):
        parser.error(f"--triton-python: '{arguments.triton_python}' is no program")
    with tempfile.TemporaryDirectory() as folder:
        source, out = Path(folder, "source.mlir"), str(Path(folder, "out.ptx"))
        source.write_text(program.text)
        serve = [str(HERE / "compile_time.py"), "--kernel", arguments.kernel, "--serve"]
        compilers = [
            Compiler(
                "tilec",
                [sys.executable, "-m", "tilec.tools.tilec", str(source), "-o", out],
                [sys.executable, "-c", CACHED, str(source)],
                [sys.executable, *serve],
                folder,
            )
        ]
        if program.python:
            command = [sys.executable, str(HERE / "python_gemm.py")]
            modes = [[*command, mode] for mode in ("once", "cached", "serve")]
            compilers.append(Compiler("python", *modes, folder))
        if has_triton(arguments.triton_python):
            script = str(HERE / "triton_kernels.py")
            command = [arguments.triton_python, script, program.triton]
            modes = [[*command, mode] for mode in ("once", "cached", "serve")]
            compilers.append(Compiler("triton", *modes, folder))
        times = measure(compilers, arguments.rounds)
    report(arguments.kernel, times, as_json=arguments.json)


def report(kernel: str, times: dict[str, dict[str, Any]], *, as_json: bool) -> None:
    """Print the medians and ratios."""
    level = PROGRAMS[kernel].level
    result: dict[str, Any] = {"level": level, "kernel": kernel, "target": "sm_80"}
    for name, found in times.items():
        result[name] = {
            "cold": statistics.median(found["cold"]),
            "warm": statistics.median(found["warm"]),
            "cached": statistics.median(found["cached"]),
            "beyond_numpy": statistics.median(map(sub, found["cached"], found["numpy"])),
            "mma": found["mma"],
        }
    ours = [(n, p) for n, p in (("tilec", ""), ("python", "python_")) if n in times]
    for name, prefix in ours:
        for kind in ("warm", "cold"):
            result[f"{prefix}{kind}_ratio"] = (
                ratio(times[name][kind], times["triton"][kind]) if "triton" in times else None
            )
    result["stages"] = {
        stage: statistics.median(seconds) for stage, seconds in times["tilec"]["stages"].items()
    }
    if as_json:
        print(json.dumps(result))
        return
    print(f"{kernel}, entering at level {level}, to PTX for sm_80; medians in seconds")
    for name in times:
        found = result[name]
        print(
            f"  {name:8} cold {found['cold']:.3f}   warm {found['warm']:.3f}   "
            f"cached {found['cached']:.3f}, {found['beyond_numpy']:.3f} beyond numpy"
        )
    if "triton" in times:
        for name, prefix in ours:
            cold, warm = result[f"{prefix}cold_ratio"], result[f"{prefix}warm_ratio"]
            print(f"  {name:8} to Triton: cold {cold:.3f}   warm {warm:.3f}   (aims: 0.5 and 0.25)")
    else:
        print("  Triton is not importable; --triton-python names an interpreter that has it")
    print("stages of tilec, warm, in milliseconds")
    for stage, seconds in result["stages"].items():
        print(f"  {seconds * 1e3:6.1f}  {stage}")


if __name__ == "__main__":
    main()

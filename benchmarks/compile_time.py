"""Time from source text to PTX of a GEMM or of attention, beside Triton's, in one run.

    python benchmarks/compile_time.py [--kernel NAME] [--triton-python PATH] [--json]
    python benchmarks/compile_time.py --against REVISION|CHECKOUT [--kernel NAME] [--rounds N]

Cold is a whole process that compiles once and exits; warm is the n-th compilation in a process
that has compiled before; cached is a whole process that finds what it compiles in the compiler's
cache on disk, and `beyond_numpy` what that takes beyond starting Python and importing numpy.
`assembly_format_share` is what reading and printing the program in the ops' assembly format takes,
to a warm compilation. tilec
and Triton take turns, so that what slows the machine slows both, and the ratios are medians over
the turns' own ratios. Those of CPU time, of the lower quartiles of all turns, tell more on a
machine that others use.

`--kernel` chooses the program. `gemm`, with tiles of 128x128x64, and `attention`, 128 queries by 64
keys, enter at level 1, tiles without layouts, as Triton's kernels do. `gemm_layouts` is the same
GEMM from level 2 on, its layouts and pipeline written out; Triton chooses its own, with which its
`warm_ratio` and `cold_ratio` are to be read. `gemm_128x256` and `attention_128` are for sm_90a, the
same tiles with warps that load and warps that multiply, in both compilers. `python` is the GEMM in
Python, `examples/kernels/gemm.py`, at level 1.

`--against` puts another tilec in Triton's place: a revision of this checkout, or another checkout's
folder. Both are laid out anew as a wheel would install them, take turns at the program as each
has it, and go first in turn. The ratios are ours to theirs: the median of the turns' own with its
quartiles, and that of CPU time.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from operator import sub, truediv
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import cpu_time
from checkouts import ROOT, checkout_of, installed

T = TypeVar("T")

HERE = Path(__file__).resolve().parent
WARM_UP = 2
WARM_EACH = 5
"""Warm compilations to a cold one where two differ by little; they take a fifth of its time."""
MOST = 12
"""Stages of two compilers that are shown beside each other."""
AGAINST = " against"
"""What the name of a compiler of the other tilec ends with."""
FORMAT = "assembly format: "
"""What the stages begin with that read and write the ops' custom forms."""
NUMPY = (sys.executable, "-c", "import numpy")
CACHED = (
    "import sys, numpy, tilec\n"
    "tilec.compile(open(sys.argv[1]).read(), target=sys.argv[2], cache=True).ptx"
)


class Program(NamedTuple):
    """What is compiled.

    Attributes:
        path: its file, in a checkout.
        level: at which it enters.
        triton: the kernel of `triton_kernels.py` that it is compared with.
        kernel: the only function that is taken, if the file has several.
        python: whether `python_gemm.py` has it, too.
        target: what it is compiled for.
    """

    path: Path
    level: int
    triton: str
    kernel: str = ""
    python: bool = False
    target: str = "sm_80"

    def text(self, checkout: Path = ROOT) -> str:
        """The source, with one kernel, as a checkout has it: earlier ones read the generic form."""
        head, *functions = (checkout / self.path).read_text().split("\n  gpu.func @")
        kept = [f for f in functions if f.startswith(f"{self.kernel}(") or not self.kernel]
        text = "\n  gpu.func @".join([head, *kept]).rstrip()
        return re.sub(r"\n\}(\s*//[^\n]*)*\Z", "", text) + "\n}\n"


PROGRAMS = {
    "gemm": Program(Path("examples/kernels") / "gemm.mlir", 1, "gemm", python=True),
    "attention": Program(Path("examples/kernels") / "attention.mlir", 1, "attention", "attention"),
    "gemm_layouts": Program(Path("examples/gemm.mlir"), 2, "gemm"),
    "gemm_128x256": Program(
        Path("examples/hopper/tiles.mlir"), 1, "gemm_128x256", "gemm_tiles", target="sm_90a"
    ),
    "attention_128": Program(
        Path("examples/kernels/attention_128.mlir"),
        1,
        "attention_128x64",
        "attention_128",
        target="sm_90a",
    ),
}


class Compiler:
    """A compiler that is timed in processes of its own.

    Attributes:
        name: how the table calls it.
        cold: command that compiles once.
        cached: the same for a process that uses the cache on disk.
        warm: command that compiles at every line of standard input, and reports each time.

    Its caches are in `folder`; tilec is taken from the folder `site` if there is one.
    """

    def __init__(
        self,
        name: str,
        cold: Sequence[str],
        cached: Sequence[str],
        warm: Sequence[str],
        folder: str | Path,
        site: Path | None = None,
    ) -> None:
        self.name = name
        self.cold = cold
        self.cached = cached
        self.warm = warm
        # The first process leaves the bytecode of a checkout behind, which what is installed has.
        inherited = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
        if site:
            inherited["PYTHONPATH"] = str(site)
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

    def run_cold(self) -> Time:
        """One process."""
        return timed(self.cold, self._environment)

    def run_cached(self) -> Time:
        """One process that finds its compilation, from the second time on."""
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


class Time(NamedTuple):
    """What something took, in seconds.

    Attributes:
        wall: by the clock.
        cpu: of its process and those that it started; 0 where that is unknown.
    """

    wall: float
    cpu: float


def timed(command: Sequence[str], environment: Mapping[str, str] | None = None) -> Time:
    """What a process takes, while no other runs."""
    before = cpu_time.of_ended()
    start = time.perf_counter()
    subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
    wall = time.perf_counter() - start
    return Time(wall, cpu_time.of_ended() - before)


class WarmProcess:
    """A process that compiles on demand."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def compile(self) -> dict[str, Any]:
        """Compile once; `seconds`, `cpu`, `mma` and, of tilec, `stages` in seconds."""
        assert self._process.stdin
        assert self._process.stdout
        before = cpu_time.of_living(self._process.pid)
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        report: dict[str, Any] = json.loads(self._process.stdout.readline())
        return report | {"cpu": cpu_time.of_living(self._process.pid) - before}


def serve_tilec(text: str, target: str) -> None:
    """Compile a program at every line of standard input, and report."""
    import tilec
    from tilec.passes.instrumentation import Instrumentation

    for number, _ in enumerate(sys.stdin):
        # Every other time is taken apart, which splits the pipeline and costs a little.
        watched = Instrumentation() if number % 2 else None
        start = time.perf_counter()
        compiled = tilec.compile(text, target=target, instrumentation=watched)
        report = {
            "seconds": time.perf_counter() - start,
            "mma": len(re.findall(r"mma\.sync|wgmma\.mma_async", compiled.ptx)),
            "stages": [*watched.times, *assembly_format(text)] if watched else [],
        }
        print(json.dumps(report), flush=True)


def assembly_format(text: str) -> list[tuple[str, float]]:
    """What reading and writing the ops' custom forms takes, the first of it a part of `parse`."""
    try:
        from tilec.ir.assembly import to_custom, to_generic
    except ImportError:
        return []  # an older tilec
    start = time.perf_counter()
    generic = to_generic(text).text
    read = time.perf_counter()
    to_custom(generic)
    return [
        (f"{FORMAT}read, in parse", read - start),
        (f"{FORMAT}write, not in a compilation", time.perf_counter() - read),
    ]


def has_triton(python: str) -> bool:
    """Whether that interpreter imports Triton."""
    return not subprocess.run(
        [python, "-c", "import triton"], capture_output=True, check=False
    ).returncode


def measure(
    compilers: Sequence[Compiler], rounds: int, warm_rounds: int
) -> dict[str, dict[str, Any]]:
    """Times of every compiler, in turns."""
    times: dict[str, dict[str, Any]] = {
        c.name: {"cold": [], "cached": [], "numpy": [], "warm": [], "stages": {}, "mma": 0}
        for c in compilers
    }
    for compiler in compilers:
        compiler.run_cached()
    for number in range(rounds):
        for compiler in _in_turn(compilers, number):
            found = times[compiler.name]
            found["cold"].append(compiler.run_cold())
            found["cached"].append(compiler.run_cached())
            found["numpy"].append(timed(NUMPY))
    with contextmanager(_all_warm)(compilers) as served:
        for number in range(2 * warm_rounds):
            for name in _in_turn(tuple(served), number // 2):
                report = served[name].compile()
                times[name]["mma"] = report["mma"]
                if report["stages"]:
                    for stage, seconds in report["stages"]:
                        times[name]["stages"].setdefault(stage, []).append(seconds)
                else:
                    times[name]["warm"].append(Time(report["seconds"], report["cpu"]))
    return times


def _in_turn(all_: Sequence[T], number: int) -> Sequence[T]:
    """All, those first that were last the time before."""
    return all_[::-1] if number % 2 else all_


def _all_warm(compilers: Sequence[Compiler]) -> Iterator[dict[str, WarmProcess]]:
    if not compilers:
        yield {}
        return
    first, *rest = compilers
    with first.warmed() as process, contextmanager(_all_warm)(rest) as others:
        yield {first.name: process, **others}


def walls(times: Sequence[Time]) -> list[float]:
    """Seconds by the clock."""
    return [one.wall for one in times]


def ratio(ours: Sequence[float], theirs: Sequence[float]) -> float:
    """Median of the ratios of neighbouring measurements."""
    return statistics.median(a / b for a, b in zip(ours, theirs, strict=False))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--kernel", choices=PROGRAMS, default="gemm")
    parser.add_argument("--triton-python", default=sys.executable, metavar="PATH")
    parser.add_argument("--against", metavar="REVISION|CHECKOUT", help="another tilec as the peer")
    parser.add_argument("--rounds", type=int, default=7, metavar="N")
    parser.add_argument("--json", action="store_true", help="print one object")
    parser.add_argument("--serve", metavar="FILE", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    program = PROGRAMS[arguments.kernel]
    if arguments.serve:
        serve_tilec(arguments.serve.read_text(), program.target)
        return
    if arguments.against and arguments.rounds < 2:
        parser.error("--against takes at least two rounds")
    if not shutil.which(arguments.triton_python):
        parser.error(f"--triton-python: '{arguments.triton_python}' is not a program")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if arguments.against:
            try:
                checkout = checkout_of(arguments.against, folder / "checkout")
                theirs = installed(checkout, folder / "theirs")
            except ValueError as error:
                parser.error(f"--against: {error}")
            ours = installed(ROOT, folder / "ours")
            compilers = [
                *ways_in(program, folder / "ours", "", ours),
                *ways_in(program, folder / "theirs", AGAINST, theirs, checkout),
            ]
        else:
            compilers = ways_in(program, folder)
            if has_triton(arguments.triton_python):
                compilers.append(triton(program, arguments.triton_python, folder))
        cpu_time.adopt_orphans()
        warm_rounds = arguments.rounds * (WARM_EACH if arguments.against else 1)
        times = measure(compilers, arguments.rounds, warm_rounds)
    if arguments.against:
        report_against(arguments.against, arguments.kernel, times, as_json=arguments.json)
    else:
        report(arguments.kernel, times, as_json=arguments.json)


def ways_in(
    program: Program,
    folder: Path,
    suffix: str = "",
    site: Path | None = None,
    checkout: Path = ROOT,
) -> list[Compiler]:
    """tilec with the program as MLIR, and as Python if it is there.

    Args:
        program: the program.
        folder: for its source and for caches.
        suffix: of the compilers' names.
        site: where tilec is taken from; the environment's own if None.
        checkout: where the program is taken from.
    """
    source, out = folder / "source.mlir", str(folder / "out.ptx")
    source.write_text(program.text(checkout))
    serve = [str(HERE / "compile_time.py"), "--serve", str(source), "--kernel", name_of(program)]
    chip = ["--target", program.target]
    found = [
        Compiler(
            f"tilec{suffix}",
            [sys.executable, "-m", "tilec.tools.tilec", str(source), *chip, "-o", out],
            [sys.executable, "-c", CACHED, str(source), program.target],
            [sys.executable, *serve],
            folder,
            site,
        )
    ]
    if program.python:
        command = [sys.executable, str(HERE / "python_gemm.py")]
        modes = [[*command, mode] for mode in ("once", "cached", "serve")]
        found.append(Compiler(f"python{suffix}", *modes, folder, site))
    return found


def name_of(program: Program) -> str:
    """The name by which `--kernel` chooses a program."""
    return next(name for name, one in PROGRAMS.items() if one == program)


def triton(program: Program, python: str, folder: Path) -> Compiler:
    """Triton with a program's counterpart."""
    command = [python, str(HERE / "triton_kernels.py"), program.triton]
    modes = [[*command, mode] for mode in ("once", "cached", "serve")]
    return Compiler("triton", *modes, folder)


def beside(ours: Sequence[Time], theirs: Sequence[Time]) -> dict[str, Any]:
    """Medians of both, and of their ratios turn by turn, with quartiles."""
    low, median, high = statistics.quantiles(map(truediv, walls(ours), walls(theirs)), n=4)
    return {
        "ours": statistics.median(walls(ours)),
        "theirs": statistics.median(walls(theirs)),
        "ratio": median,
        "quartiles": [low, high],
        "cpu_ratio": cpu_ratio(ours, theirs),
    }


def cpu_ratio(ours: Sequence[Time], theirs: Sequence[Time]) -> float | None:
    """The lower quartiles' ratio of CPU time, to which others on the machine only add."""
    if min(len(ours), len(theirs)) < 2:
        return None
    used, theirs_used = (
        statistics.quantiles((one.cpu for one in times), n=4)[0] for times in (ours, theirs)
    )
    return used / theirs_used if theirs_used else None


def report_against(
    peer: str, kernel: str, times: dict[str, dict[str, Any]], *, as_json: bool
) -> None:
    """Print how long this tilec takes beside another, as ratios of medians and of turns."""
    result: dict[str, Any] = {"kernel": kernel, "target": PROGRAMS[kernel].target, "against": peer}
    for name in times:
        if name + AGAINST not in times:
            continue
        for kind in ("cold", "warm", "cached"):
            ours, theirs = times[name][kind], times[name + AGAINST][kind]
            result.setdefault(name, {})[kind] = beside(ours, theirs)
    stages = [times[name]["stages"] for name in ("tilec", "tilec" + AGAINST)]
    result["stages"] = {
        stage: [statistics.median(found[stage]) if stage in found else 0.0 for found in stages]
        for stage in dict.fromkeys((*stages[0], *stages[1]))
    }
    if as_json:
        print(json.dumps(result))
        return
    print(f"{kernel} to PTX for {PROGRAMS[kernel].target}, against {peer}; medians in seconds")
    for name in ("tilec", "python"):
        for kind, found in result.get(name, {}).items():
            low, high = found["quartiles"]
            print(
                f"  {name:8} {kind:6} {found['ours']:.3f} to {found['theirs']:.3f}"
                f"   ratio {found['ratio']:.3f} ({low:.3f} to {high:.3f})"
                + (f"   CPU {found['cpu_ratio']:.3f}" if found["cpu_ratio"] else "")
            )
    print("stages that differ most, warm, ours to theirs in milliseconds")
    differing = sorted(result["stages"].items(), key=lambda of: -abs(of[1][0] - of[1][1]))
    for stage, (ours, theirs) in differing[:MOST]:
        print(f"  {ours * 1e3:6.1f} to {theirs * 1e3:6.1f}  {stage}")


def report(kernel: str, times: dict[str, dict[str, Any]], *, as_json: bool) -> None:
    """Print the medians and ratios."""
    level, target = PROGRAMS[kernel].level, PROGRAMS[kernel].target
    result: dict[str, Any] = {"level": level, "kernel": kernel, "target": target}
    for name, found in times.items():
        result[name] = {
            **{kind: statistics.median(walls(found[kind])) for kind in ("cold", "warm", "cached")},
            "beyond_numpy": statistics.median(
                map(sub, walls(found["cached"]), walls(found["numpy"]))
            ),
            "mma": found["mma"],
        }
    ours = [(n, p) for n, p in (("tilec", ""), ("python", "python_")) if n in times]
    for name, prefix in ours:
        for kind in ("warm", "cold"):
            result[f"{prefix}{kind}_ratio"] = (
                ratio(walls(times[name][kind]), walls(times["triton"][kind]))
                if "triton" in times
                else None
            )
            result[f"{prefix}{kind}_cpu_ratio"] = (
                cpu_ratio(times[name][kind], times["triton"][kind]) if "triton" in times else None
            )
    result["stages"] = {
        stage: statistics.median(seconds) for stage, seconds in times["tilec"]["stages"].items()
    }
    spent = sum(seconds for stage, seconds in result["stages"].items() if stage.startswith(FORMAT))
    result["assembly_format_share"] = spent / result["tilec"]["warm"]
    if as_json:
        print(json.dumps(result))
        return
    print(f"{kernel}, entering at level {level}, to PTX for {target}; medians in seconds")
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
            used = [result[f"{prefix}{kind}_cpu_ratio"] for kind in ("cold", "warm")]
            if None not in used:
                print(f"  {name:8} in CPU time: cold {used[0]:.3f}   warm {used[1]:.3f}")
    else:
        print("  Triton is not importable; --triton-python names an interpreter that has it")
    print("stages of tilec, warm, in milliseconds")
    for stage, seconds in result["stages"].items():
        print(f"  {seconds * 1e3:6.1f}  {stage}")
    share = result["assembly_format_share"]
    print(f"reading and printing the ops' assembly format: {share:.1%} of a warm compilation")


if __name__ == "__main__":
    main()

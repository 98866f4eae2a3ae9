"""How many faults, put into right kernels one at a time, the simulator finds.

    python benchmarks/sim_mutants.py [--kernels N] [--each N] [--orders N] [--seed N] [--json]

Ten kernels are fixed: examples of this project, with every kind of synchronisation that these have.
Each is first run as it is, and must be without a finding. Then one instruction of its PTX
is changed by an operator of a class (`OPERATORS`), wherever that applies, or at so many places
drawn at random (`--each`; places of a loop's body count once). A mutant is

* found, if the run, or one of those with warps in another order, has a finding or cannot go on;
* missed, if it has none and what it computes differs;
* unchanged, if it has none and the bits are the same. Those may be equivalent, or faults that
  hardware alone would show: nobody has proved which, so there are two rates: found of all but
  these, and found of all.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from tilec.isa import TilecError
from tilec.isa.launch import extents
from tilec.launch.simulated import SMS, for_simulator
from tilec.sim import launch
from tilec.tools.run_program import LoadedProgram, load

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
STEPS = 60_000
"""A mutant that takes more is an endless loop; none of the kernels takes a third."""

Arrays = list[np.ndarray[Any, Any]]


@dataclass(frozen=True)
class Kernel:
    """A kernel to mutate.

    Attributes:
        path: in `examples`.
        target: compiled for this.
        name: of its kernel.
        grid: CTAs.
        arrays: shapes and types of its arrays; the last is the result.
        scalars: its other arguments, which follow.
    """

    path: str
    target: str
    name: str
    grid: tuple[int, ...]
    arrays: tuple[tuple[tuple[int, ...], str], ...]
    scalars: tuple[int, ...] = ()

    def values(self) -> Arrays:
        """Whole numbers, and zeros for the result."""
        rng = np.random.default_rng(0)
        found = [rng.integers(-4, 5, s).astype(t) for s, t in self.arrays[:-1]]
        shape, type_ = self.arrays[-1]
        return [*found, np.zeros(shape, type_)]


def _gemm(m: int, n: int, k: int, a: str = "float16", c: str = "float32") -> Any:
    return ((m, k), a), ((k, n), a), ((m, n), c)


KERNELS = (
    Kernel("gemm.mlir", "sm_80", "gemm", (1, 1), _gemm(128, 128, 192)),
    Kernel("gemm_bounds.mlir", "sm_80", "gemm_bounds", (1, 1), _gemm(100, 72, 80)),
    Kernel("warp_gemm.mlir", "sm_80", "warp_gemm", (1, 1), _gemm(16, 16, 128)),
    Kernel("kernels/gemm.mlir", "sm_80", "gemm", (1, 1), _gemm(128, 128, 192)),
    Kernel("kernels/gemm_int8.mlir", "sm_80", "gemm_int8", (1, 1),
           _gemm(128, 128, 256, "int8", "int32")),
    Kernel("kernels/split_k_gemm.mlir", "sm_80", "split_k_gemm", (1, 1, 2), _gemm(128, 128, 256),
           (128,)),
    Kernel("kernels/softmax.mlir", "sm_80", "softmax", (2,),
           (((2, 700), "float32"), ((2, 700), "float32"))),
    Kernel("hopper/gemm.mlir", "sm_90a", "gemm", (1, 1), _gemm(128, 256, 512, c="float16")),
    Kernel("hopper/gemm_cluster.mlir", "sm_90a", "gemm", (2, 1), _gemm(256, 256, 512, c="float16")),
    Kernel("hopper/tiles.mlir", "sm_90a", "gemm_tiles", (1, 1),
           _gemm(128, 128, 512, c="float16")),
)  # fmt: skip

Change = Callable[[str], str | None]
"""A line of PTX to what stands in its place; None where the operator does not apply."""


def _without(pattern: str) -> Change:
    """Leave an instruction out."""
    wanted = re.compile(pattern)
    return lambda line: "" if wanted.search(line) else None


def _changed(pattern: str, new: str | Callable[[re.Match[str]], str]) -> Change:
    """Change a part of it."""
    wanted = re.compile(pattern)

    def change(line: str) -> str | None:
        return wanted.sub(new, line, count=1) if wanted.search(line) else None

    return change


OPERATORS: dict[str, dict[str, Change]] = {
    "synchronisation": {
        "no barrier": _without(r"\bbar(rier)?\.(cta\.)?(sync|red)"),
        "no barrier of the warp": _without(r"\bbar\.warp\.sync"),
        "no barrier of the cluster": _without(r"\bbarrier\.cluster\.arrive"),
        "no wait for a copy": _without(r"\bcp\.async\.(bulk\.)?wait_(group|all)"),
        "a weaker wait for a copy": _changed(
            r"(cp\.async\.wait_group\s+)(\d+)", lambda m: f"{m[1]}{int(m[2]) + 1}"
        ),
        "no group of copies": _without(r"\bcp\.async\.(bulk\.)?commit_group"),
        "no arrival": _without(r"\bmbarrier\.arrive(?!.*expect_tx)"),
        "no bytes expected": _without(r"\bmbarrier\.(arrive\.)?expect_tx"),
        "more arrivals": _changed(
            r"(mbarrier\.init[^;]*,\s*)(\d+)", lambda m: f"{m[1]}{int(m[2]) + 1}"
        ),
        "fewer bytes expected": _changed(
            r"(expect_tx[^;]*,\s*)(\d+)", lambda m: f"{m[1]}{int(m[2]) // 2}"
        ),
        "no fence of the proxies": _without(r"\bfence\.proxy\.async"),
        "no fence of the product": _without(r"\bwgmma\.fence"),
        "no wait for the product": _without(r"\bwgmma\.wait_group"),
        "a weaker wait for the product": _changed(
            r"(wgmma\.wait_group\.sync\.aligned\s+)(\d+)", lambda m: f"{m[1]}{int(m[2]) + 1}"
        ),
    },
    "initialisation": {
        "no store to shared memory": _without(r"\bst(matrix\S*)?\.shared|\bstmatrix"),
        "no copy to shared memory": _without(r"\bcp\.async\.c[ag]\.shared"),
        "no constant": _without(r"\bmov\.(b|u|s|f)\d+\s+%\w+, (0|-?\d+|0[fF][0-9A-F]+);"),
    },
    "address": {
        "beyond the store": _changed(r"(st\.global[^\[]*\[%rd\d+)(\+\d+)?\]", r"\1+1048576]"),
        "misaligned": _changed(r"((?:ld|st)\.\w+\.v[24][^\[]*\[%\w+?\d+)\]", r"\1+2]"),
        "the next row": _changed(r"((?:ldmatrix|ld\.shared|st\.shared)[^\[]*\[%r\w*)\]", r"\1+16]"),
    },
}


@dataclass(frozen=True)
class Mutant:
    """A change to a line of a kernel's PTX."""

    class_: str
    operator: str
    line: int
    text: str


def mutants(ptx: str, each: int, rng: random.Random) -> Iterator[Mutant]:
    """The mutants of a kernel: at all places, or at `each` of an operator, 0 for all."""
    lines = ptx.splitlines()
    for class_, operators in OPERATORS.items():
        for name, change in operators.items():
            found = []
            for number, line in enumerate(lines):
                new = change(line)
                if new is not None and new != line:
                    found.append((number, new))
            if each and len(found) > each:
                found = sorted(rng.sample(found, each))
            for number, new in found:
                text = "\n".join([*lines[:number], new, *lines[number + 1 :]])
                yield Mutant(class_, name, number + 1, text)


def run(kernel: Kernel, program: LoadedProgram, ptx: str, order: int | None) -> tuple[str, Any]:
    """The first finding's kind, or empty, and the result's bits."""
    values = kernel.values()
    grid = extents(kernel.grid, "grid")
    passed = for_simulator(program.passed(kernel.name, [*values, *kernel.scalars], grid))
    try:
        report = launch(
            ptx,
            kernel.name,
            program.launched(kernel.name, grid, SMS, None),
            program.block(kernel.name) or 128,
            passed,
            arch=kernel.target,
            dynamic_smem=program.dynamic_shared(kernel.name),
            cluster=program.cluster(kernel.name),
            max_steps=STEPS,
            order=order,
        )
    except TilecError as error:
        return f"error: {error}", b""
    kinds = [finding.kind for finding in report.findings]
    return kinds[0] if kinds else "", values[-1].tobytes()


def judge(
    kernel: Kernel, program: LoadedProgram, mutant: Mutant, right: bytes, orders: int
) -> tuple[str, str]:
    """`found`, `missed` or `unchanged`, and the kind of the first finding."""
    verdict = "unchanged"
    for order in (None, *range(1, orders + 1)):
        kind, bits = run(kernel, program, mutant.text, order)
        if kind:
            return "found", kind
        if bits != right:
            verdict = "missed"
    return verdict, ""


def examine(kernel: Kernel, each: int, orders: int, rng: random.Random) -> list[dict[str, Any]]:
    """The mutants of a kernel, judged."""
    program = load(str(EXAMPLES / kernel.path), arch=kernel.target, level=3)
    ptx = program.ptx.source.original
    kind, right = run(kernel, program, ptx, None)
    if kind:
        raise SystemExit(f"{kernel.path} itself has a finding: {kind}")
    found = []
    for mutant in mutants(ptx, each, rng):
        verdict, kind = judge(kernel, program, mutant, right, orders)
        found.append(
            {"kernel": kernel.path, "class": mutant.class_, "operator": mutant.operator,
             "line": mutant.line, "verdict": verdict, "kind": kind}
        )  # fmt: skip
    return found


def table(found: list[dict[str, Any]]) -> Iterator[str]:
    """The rates by class and operator."""
    counts: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for one in found:
        for operator in ("", one["operator"]):
            counts[one["class"], operator][one["verdict"]] += 1
    head = f"{'':32} {'mutants':>8} {'found':>7} {'missed':>7} {'unchanged':>10}"
    yield f"{head} {'of harmful':>11} {'of all':>7}"
    for class_ in OPERATORS:
        for (of, operator), count in counts.items():
            if of == class_:
                harmful = count["found"] + count["missed"]
                rate = f"{count['found'] / harmful:11.1%}" if harmful else f"{'':11}"
                yield (
                    f"{'  ' + operator if operator else class_:32} {count.total():8} "
                    f"{count['found']:7} {count['missed']:7} {count['unchanged']:10} {rate} "
                    f"{count['found'] / count.total():7.1%}"
                )


def main() -> int:
    """Run it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--kernels", type=int, default=len(KERNELS), help="the first so many")
    parser.add_argument("--each", type=int, default=3, help="places of an operator; 0: all")
    what = "orders of warps besides the usual, which take long"
    parser.add_argument("--orders", type=int, default=0, help=what)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true", help="every mutant")
    arguments = parser.parse_args()
    rng = random.Random(arguments.seed)
    found: list[dict[str, Any]] = []
    for kernel in KERNELS[: arguments.kernels]:
        found += examine(kernel, arguments.each, arguments.orders, rng)
        print(f"{kernel.path}: {len(found)} mutants so far", file=sys.stderr, flush=True)
    print(json.dumps(found, indent=1) if arguments.json else "\n".join(table(found)))
    return 0


if __name__ == "__main__":
    sys.exit(main())

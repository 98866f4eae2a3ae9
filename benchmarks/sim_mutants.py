"""How many faults, put into right kernels one at a time, the simulator finds.

    python benchmarks/sim_mutants.py [--kernels N] [--each N] [--orders N] [--seed N] [--json]

Ten kernels are fixed: examples of this project, with every kind of synchronisation that these have.
Each is first run as it is, and must be without a finding. Then one instruction of its PTX
is changed by an operator of a class (`OPERATORS`), wherever that applies, or at so many places
drawn at random (`--each`; places of a loop's body count once). A mutant is

* found, if the run, every order of its warps explored (`every_order`), or one of the runs with
  warps in another order, has a finding or cannot go on;
* missed, if it has none and what it computes differs;
* incomplete, if it has none, and not every order has been explored: it is not said to be right;
* unchanged, if it has none, every order has been explored, and the bits are the same. Those may be
  equivalent, or faults that hardware alone would show: nobody has proved which, so there are two
  rates: found of all but these, and found of all.
`in orders` counts those found that only another order than the one that ran shows.
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
ORDER_LIMIT = 50_000
"""Steps of orders explored for a mutant."""
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


def _with_last(pattern: str, opcode: str, by: int) -> Change:
    """Change its last operand, a register of 32 bits or a number, by an instruction."""
    wanted, last = re.compile(pattern), re.compile(r"^(\s*)(@!?%\w+\s+)?(.*,\s*)(%?\w+);\s*$")

    def change(line: str) -> str | None:
        found = last.match(line) if wanted.search(line) else None
        if found is None:
            return None
        space, guard, front, operand = found.groups()
        return (
            f"{space}{{ .reg .b32 %mutant; {opcode} %mutant, {operand}, {by}; "
            f"{guard or ''}{front}%mutant; }}"
        )

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
        "no arrival of bytes and all": _without(r"\bmbarrier\.arrive.*expect_tx"),
        "two arrivals": _changed(r"^.*\bmbarrier\.arrive(?!.*expect_tx).*$", r"\g<0>\n\g<0>"),
        "an arrival at the next mbarrier": _changed(
            r"(mbarrier\.arrive(?!.*expect_tx)[^\[]*\[%\w+)\]", r"\1+8]"
        ),
        "no initialisation": _without(r"\bmbarrier\.init"),
        "more arrivals": _with_last(r"\bmbarrier\.init", "add.s32", 1),
        "fewer arrivals": _with_last(r"\bmbarrier\.init", "sub.s32", 1),
        "fewer bytes expected": _with_last(r"expect_tx", "sub.s32", 16),
        "more bytes expected": _with_last(r"expect_tx", "add.s32", 16),
        "no wait for a phase": _changed(
            r"mbarrier\.try_wait\S*\s+(%\w+),.*;", r"setp.eq.u32 \1, 0, 0;"
        ),
        "a wait for the other phase": _with_last(r"\bmbarrier\.try_wait", "xor.b32", 1),
        "a barrier of fewer warps": _changed(
            r"(\bbar\.sync\s+\d+,\s*)(\d+)", lambda m: f"{m[1]}{int(m[2]) - 32}"
        ),
        "a barrier that does not wait": _changed(r"\bbar\.sync(\s+\d+,)", r"bar.arrive\1"),
        "no wait for the cluster": _without(r"\bbarrier\.cluster\.wait"),
        "no group of products": _without(r"\bwgmma\.commit_group"),
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
    """The first finding's kind, or the verdict if it is not `passed`, and the result's bits."""
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
            every_order=order is None,
            order_limit=ORDER_LIMIT,
        )
    except TilecError as error:
        return f"error: {error}", b""
    kinds = [finding.kind for finding in report.findings]
    kind = "" if report.verdict == "passed" else report.verdict
    return kinds[0] if kinds else kind, values[-1].tobytes()


def judge(
    kernel: Kernel, program: LoadedProgram, mutant: Mutant, right: bytes, orders: int
) -> tuple[str, str]:
    """`found`, `missed`, `incomplete` or `unchanged`, and the kind of the first finding."""
    verdict = "unchanged"
    for order in (None, *range(1, orders + 1)):
        kind, bits = run(kernel, program, mutant.text, order)
        if kind not in ("", "incomplete"):
            return "found", kind
        if bits != right:
            verdict = "missed"
        elif kind and verdict == "unchanged":
            verdict = kind
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
            counts[one["class"], operator]["in orders"] += one.get("kind", "").startswith("order-")
    verdicts = ("found", "missed", "incomplete", "unchanged")
    head = f"{'':32} {'mutants':>8} {'found':>7} {'in orders':>10} {'missed':>7} {'incomplete':>11}"
    head = f"{head} {'unchanged':>10}"
    yield f"{head} {'of harmful':>11} {'of all':>7}"
    for class_ in OPERATORS:
        for (of, operator), count in counts.items():
            if of == class_:
                total = sum(count[verdict] for verdict in verdicts)
                harmful = total - count["unchanged"]
                rate = f"{count['found'] / harmful:11.1%}" if harmful else f"{'':11}"
                yield (
                    f"{'  ' + operator if operator else class_:32} {total:8} {count['found']:7} "
                    f"{count['in orders']:10} {count['missed']:7} {count['incomplete']:11} "
                    f"{count['unchanged']:10} {rate} {count['found'] / total:7.1%}"
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

"""What LLVM's passes are worth on the examples: the code that comes out, and the time they take.

    python benchmarks/llvm_passes.py [--without PASS,…]… [--target sm_80]… [--rounds N] [--json]

Every example is compiled to LLVM IR once, and its code generated as tilec does, with all passes of
code generation, and without those that an option names; the ways take turns. Instructions and
registers are sums over all kernels, from ptxas; the time is that of LLVM, a sum of each module's
shortest.
"""

from __future__ import annotations

import argparse
import json
import marshal
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import tilec
from kernel_stats import aligned, sass_counts
from tilec.backend.codegen_worker import NEEDLESS
from tilec.backend.cubin import assemble, disassemble
from tilec.backend.ptx import ptx_version
from tilec.isa import TilecError
from tilec.isa import target as find_target

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
WORKER = """
import sys
from tilec.backend import codegen_worker
codegen_worker.NEEDLESS = tuple(sys.argv[1:])
codegen_worker.main()
"""


class Way:
    """A code generator that leaves passes out.

    Args:
        name: how the table calls it.
        without: the passes, by LLVM's names.
    """

    def __init__(self, name: str, without: Sequence[str]) -> None:
        self.name = name
        self.without = without
        self.figures = dict.fromkeys(
            ("ptx", "sass", "sass_loops", "registers", "spills", "seconds"), 0.0
        )

    def __enter__(self) -> Way:
        self._process = subprocess.Popen(
            [sys.executable, "-c", WORKER, *self.without],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()

    def generate(self, ir: str, cpu: str, features: str) -> tuple[str, float]:
        """PTX of a module, and the seconds that it took."""
        assert self._process.stdin
        assert self._process.stdout
        start = time.perf_counter()
        marshal.dump((ir, cpu, features, 3), self._process.stdin)
        self._process.stdin.flush()
        succeeded, text = marshal.load(self._process.stdout)
        seconds = time.perf_counter() - start
        if not succeeded:
            raise SystemExit(f"error: LLVM refuses a module: {text}")
        return text, seconds

    def count(self, ptx: str, cpu: str) -> None:
        """Add what ptxas makes of a module."""
        built = assemble(ptx, find_target(cpu))
        sass = disassemble(built.cubin)
        figures = self.figures
        figures["ptx"] += len(re.findall(r"^\t+[@a-z]", ptx, re.MULTILINE))
        for kernel, used in built.resources.items():
            found = sass_counts(sass, kernel)
            figures["sass"] += found["sass"]["all"]
            figures["sass_loops"] += found["sass_loop"]["all"]
            figures["registers"] += used.registers
            figures["spills"] += used.spill_stores + used.spill_loads


def modules(cpu: str, pattern: str) -> list[str]:
    """LLVM IR of the examples that there are for a target."""
    found = []
    for path in sorted(EXAMPLES.rglob(pattern)):
        try:
            found.append(tilec.compile(path, target=cpu, emit="llvm").llvm)
        except TilecError:  # its instructions are of other targets
            continue
    return found


def measure(ways: Sequence[Way], targets: Sequence[str], rounds: int, pattern: str) -> int:
    """Fill the ways' figures; how many modules there were."""
    count = 0
    for cpu in targets:
        for ir in modules(cpu, pattern):
            features = ptx_version(ir, find_target(cpu)).llvm_feature
            taken: dict[str, list[float]] = {way.name: [] for way in ways}
            for number in range(rounds):
                for way in ways:
                    ptx, seconds = way.generate(ir, cpu, features)
                    taken[way.name].append(seconds)
                    if number == 0:
                        way.count(ptx, cpu)
            for way in ways:
                way.figures["seconds"] += min(taken[way.name])
            count += 1
    return count


def table(ways: Sequence[Way]) -> str:
    """The figures, a row each way, and in per cent of the first."""
    first = ways[0].figures
    lines = [["", *first]]
    for way in ways:
        cells = [way.name]
        for what, value in way.figures.items():
            text = f"{value:.3f}" if what == "seconds" else f"{value:.0f}"
            share = f" {(value / first[what] - 1) * 100:+.1f}%" if first[what] else ""
            cells.append(text + ("" if way is ways[0] else share))
        lines.append(cells)
    return aligned(lines)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--without", action="append", default=[], metavar="PASS,…")
    parser.add_argument("--target", action="append", metavar="SM")
    parser.add_argument("--files", default="*.mlir", metavar="PATTERN", help="of examples")
    parser.add_argument("--rounds", type=int, default=3, metavar="N")
    parser.add_argument("--json", action="store_true", help="print one object")
    arguments = parser.parse_args()
    targets = arguments.target or ["sm_75", "sm_80", "sm_89", "sm_90", "sm_120a"]
    ways = [Way("all passes", ()), Way("as tilec does", NEEDLESS)]
    ways += [Way(f"without {names}", names.split(",")) for names in arguments.without]
    with ExitStack() as stack:
        for way in ways:
            stack.enter_context(way)
        count = measure(ways, targets, arguments.rounds, arguments.files)
    if arguments.json:
        rows: list[dict[str, Any]] = [
            {"name": way.name, "without": list(way.without), **way.figures} for way in ways
        ]
        print(json.dumps({"modules": count, "targets": targets, "ways": rows}))
    else:
        print(f"{count} modules for {', '.join(targets)}")
        print(table(ways))


if __name__ == "__main__":
    main()

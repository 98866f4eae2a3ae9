"""How many faults, put into right kernels one at a time, the simulator finds.

    python benchmarks/sim_mutants.py [--kernels N] [--only TEXT] [--each N] [--orders N] [--seed N]
        [--json FILE] [--table FILE]

Ten kernels are fixed (`mutation/kernels.py`): examples of this project, with every kind of
synchronisation that these have. Each is first run as it is, and must be without a finding and
without advice, with numpy's result. Then one instruction of its PTX is changed by an operator of
a class (`mutation/operators.py`), wherever that applies, or at so many places drawn at random
(`--each`; places of a loop's body count once). It is run in the launches of its kernel, one after
the other, until something is found. A mutant is

* found, if a run, every order of its warps explored (`every_order`), or one of the runs with
  warps in another order (`--orders`), has a finding or cannot go on;
* advised, if it has none, but a report has advice;
* wrong, if it has neither, but the result is not numpy's, which `tile-run --check` shows;
* incomplete, if it has neither, and not every order has been explored: it is not said to be right;
* equivalent, if a proof says so (`mutation/equivalence`, a file for each criterion), which needs
  `ptxas`, `nvdisasm` and PyPI's `z3-solver`;
* unchanged otherwise.
`in orders` counts those found that only another order than the one that ran shows. The rates are
of the mutants that are not equivalent: by findings, by findings or advice, and by these or results.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from pathlib import Path
from typing import Any

from mutation.equivalence import proof
from mutation.kernels import KERNELS, Kernel
from mutation.operators import Mutant, mutants
from mutation.running import program, run
from mutation.table import markdown, table


def judge(kernel: Kernel, mutant: Mutant, orders: int) -> tuple[str, str]:
    """The verdict, without a proof, and the kind of the first finding, or advice."""
    verdict, advice = "unchanged", ""
    for launch in kernel.launches:
        for order in (None, *range(1, orders + 1)):
            outcome = run(kernel, mutant.text, launch, order)
            if outcome.kind not in ("", "incomplete"):
                return "found", outcome.kind
            advice = advice or outcome.advice
            if not outcome.right:
                verdict = "wrong"
            elif outcome.kind and verdict == "unchanged":
                verdict = outcome.kind
    return ("advised", advice) if advice else (verdict, "")


def examine(
    kernel: Kernel, each: int, orders: int, rng: random.Random, only: str = ""
) -> list[dict[str, Any]]:
    """The mutants of a kernel, judged; of all operators, or those with a text in the name."""
    ptx = program(kernel).ptx.source.original
    for launch in kernel.launches:
        outcome = run(kernel, ptx, launch)
        if outcome.kind or outcome.advice or not outcome.right:
            raise SystemExit(f"{kernel.path} itself: {outcome}")
    found = []
    for mutant in mutants(ptx, each, rng):
        if only not in mutant.operator:
            continue
        verdict, kind = judge(kernel, mutant, orders)
        proved = proof(kernel, ptx, mutant) if verdict in ("unchanged", "incomplete") else ""
        found.append(
            {"kernel": kernel.path, "class": mutant.class_, "operator": mutant.operator,
             "line": mutant.line, "verdict": "equivalent" if proved else verdict, "kind": kind,
             "proof": proved}
        )  # fmt: skip
    return found


def main() -> int:
    """Run it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--kernels", type=int, default=len(KERNELS), help="the first so many")
    parser.add_argument("--only", default="", help="operators with this text in the name")
    parser.add_argument("--each", type=int, default=3, help="places of an operator; 0: all")
    what = "orders of warps besides the usual, which take long"
    parser.add_argument("--orders", type=int, default=0, help=what)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", metavar="FILE", type=Path, help="write every mutant")
    parser.add_argument("--table", metavar="FILE", type=Path, help="of such a file; run nothing")
    arguments = parser.parse_args()
    if arguments.table:
        print("\n".join(markdown(json.loads(arguments.table.read_text()))))
        return 0
    rng = random.Random(arguments.seed)
    found: list[dict[str, Any]] = []
    for kernel in KERNELS[: arguments.kernels]:
        found += examine(kernel, arguments.each, arguments.orders, rng, arguments.only)
        print(f"{kernel.path}: {len(found)} mutants so far", file=sys.stderr, flush=True)
    if arguments.json:
        arguments.json.write_text(json.dumps(found, indent=1) + "\n")
    print("\n".join(table(found)))
    return 0


if __name__ == "__main__":
    sys.exit(main())

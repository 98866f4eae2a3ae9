"""Random level-1 programs for sm_90a on the simulator against numpy; counts what they became.

The programs are those of `test/unit/examples/test_random_hopper.py`, drawn by number:

    python benchmarks/random_hopper.py --count 1000 -o results.json
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from pathlib import Path

import tilec
from tilec.isa import WARPGROUP_THREADS

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "test" / "unit" / "examples"))
from test_random_hopper import Program, test_random_program  # noqa: E402

TRAITS = {
    "wgmma": "wgmma.mma_async",
    "mma.sync": "\tmma.sync",
    "warps that load": "setmaxnreg",
    "in flight across iterations": "wgmma.wait_group.sync.aligned 1;",
    "multicast": ".multicast::cluster",
    "stored by TMA": ".bulk_group",
    "waits for kernels before": "griddepcontrol.wait",
}
"""What is counted, by what the PTX of such a program has."""


def _takes_turns(program: Program, compiled: tilec.Compiled) -> bool:
    """Whether two warpgroups compute whole tiles, each written for one alone."""
    (kernel,) = compiled.kernels
    return "tile.pingpong" in program.pins and kernel.block == (3 * WARPGROUP_THREADS, 1, 1)


def main() -> None:
    """Try the programs; 1 is returned if any goes wrong."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--first", type=int, default=0, help="number of the first program")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("-o", "--output", type=Path, help="write the counts there as JSON")
    arguments = parser.parse_args()
    kinds: Counter[str] = Counter()
    traits: Counter[str] = Counter()
    wrong: dict[int, str] = {}
    for number in range(arguments.first, arguments.first + arguments.count):
        program = Program.draw(number)
        kinds[program.kind] += 1
        try:
            compiled = program.compiled()
            traits.update(name for name, text in TRAITS.items() if text in compiled.ptx)
            traits["pingpong"] += _takes_turns(program, compiled)
            traits["persistent"] += compiled.kernels[0].ctas_per_sm is not None
            test_random_program(number)
        except (AssertionError, tilec.TilecError) as error:
            wrong[number] = str(error).strip().splitlines()[0]
        if number % 50 == 49:
            sys.stderr.write(f"{number + 1}, {len(wrong)} wrong\n")
    found = {
        "first": arguments.first,
        "programs": arguments.count,
        "right": arguments.count - len(wrong),
        "wrong": wrong,
        "elements": dict(kinds.most_common()),
        "became": dict(traits.most_common()),
    }
    text = json.dumps(found, indent=2) + "\n"
    if arguments.output:
        arguments.output.write_text(text, encoding="utf-8")
    else:
        sys.stdout.write(text)
    if wrong:
        raise SystemExit(1)


if __name__ == "__main__":
    main()

"""Looks for the configuration of a GEMM: tile, warps, stages and swizzle, in the order of merit.

    python benchmarks/sweep.py [--dtype f16] [--target sm_90a] [--jobs N] [--out FILE]
    python benchmarks/sweep.py --measured results.json       # what a GPU said of them

Every configuration is compiled and assembled, and one CTA of it simulated, in parallel; those that
spill, whose buffers do not fit, that have bank conflicts or too few warps are left out. The rest
are ranked by how busy they keep shared memory and the schedulers for each matrix instruction.

The file, `benchmarks/results/sweep-TARGET-DTYPE.json`, holds all of them with what is known, and
which is the default and why: what was measured decides, and until then the ranking. A pack
takes the best of the file along (`pack_device.py`), and `--measured` reads back what was timed.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from device_pack.candidates import configurations, examine_all
from device_pack.kernels import GEMMS
from tilec.isa import TilecError

RESULTS = Path(__file__).resolve().parent / "results"


def swept(dtype: str, target: str, jobs: int) -> dict[str, Any]:
    """The document of a sweep that was not measured.

    Raises:
        TilecError: for a type that no kernel has.
    """
    kinds = {kind.name: kind for kind in GEMMS}
    if dtype not in kinds:
        raise TilecError(f"unknown dtype '{dtype}'; there are {', '.join(kinds)}")
    found = examine_all(kinds[dtype], list(configurations()), target, jobs)
    return {
        "target": target,
        "dtype": dtype,
        "date": datetime.now(UTC).date().isoformat(),
        "default": found[0].configuration,
        "chosen_by": "ranking by registers, shared memory and the simulator's counts; not measured",
        "configurations": [one.json() for one in found],
    }


def measured(document: dict[str, Any], results: dict[str, Any]) -> dict[str, Any]:
    """A document with times of a run beside a GPU, whose fastest configuration is the default.

    A configuration's merit is the least of its shares of the best rate, over all shapes.

    Raises:
        TilecError: if the run timed none of the configurations.
    """
    rates: dict[str, dict[str, float]] = {}
    for row in results["rows"]:
        if row.get("section") == "sweep" and row.get("right") and row["dtype"] == document["dtype"]:
            shape = "x".join(map(str, row["shape"]))
            rates.setdefault(row["configuration"], {})[shape] = row["tflops"]
    shapes = {shape for of_one in rates.values() for shape in of_one}
    whole = {name: of_one for name, of_one in rates.items() if set(of_one) == shapes}
    if not whole:
        raise TilecError(f"no times of {document['dtype']} on {document['target']} in the results")
    best = {shape: max(of_one[shape] for of_one in whole.values()) for shape in shapes}
    merit = {n: min(of_one[s] / best[s] for s in shapes) for n, of_one in whole.items()}
    listed = [
        {**one, "tflops": rates.get(one["configuration"])} for one in document["configurations"]
    ]
    return {
        **document,
        "default": max(merit, key=lambda name: merit[name]),
        "chosen_by": f"measured on {results['gpu']}, {results['date'][:10]}",
        "versions": results["versions"],
        "configurations": listed,
    }


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--dtype", default="f16", help="default: %(default)s")
    parser.add_argument("--target", default="sm_90a", help="default: %(default)s")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="default: all cores")
    parser.add_argument("--out", type=Path, help="default: benchmarks/results/sweep-…json")
    parser.add_argument("--measured", type=Path, metavar="FILE", help="results of run_device.py")
    given = parser.parse_args()
    out = given.out or RESULTS / f"sweep-{given.target}-{given.dtype}.json"
    try:
        if given.measured:
            document = json.loads(out.read_text(encoding="utf-8"))
            results = json.loads(given.measured.read_text(encoding="utf-8"))
            document = measured(document, results)
        else:
            document = swept(given.dtype, given.target, given.jobs)
    except (TilecError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    out.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    kept = [one for one in document["configurations"] if not one["refused"]]
    print(f"{len(kept)} of {len(document['configurations'])} configurations are left")
    for one in kept[:12]:
        print(
            f"{one['configuration']:26} {one['registers']:4} registers {one['warps']:3} warps "
            f"{one['wavefronts']:5.2f} wavefronts {one['instructions']:5.2f} instructions an mma"
        )
    print(f"default: {document['default']} ({document['chosen_by']})")
    return 0


if __name__ == "__main__":
    sys.exit(main())

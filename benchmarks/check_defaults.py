"""Compare the table of defaults with f35790c's own defaults, by what the simulator counts.

    python benchmarks/check_defaults.py [--target sm_80 …] [--kernel gemm] [--json]

For each size that the table has: the example as it is here with the table's parameters, and the
example of f35790c with its own, both run on the simulator as four tiles, with two depths of their
loops. What a tile does is linear in the depth, which a third depth checks, and so is known for the
whole problem; ptxas says which registers both take, and what they spill.

A time is the longest of what an SM's units take for what was counted, stretched by the last wave of
CTAs, by formulas of this file: the tuner's choice saw none of these counts. It is a bound, not a
measurement. The exit status is 1 if the table's is longer than f35790c's for any size.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import pickle
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from typing import Any

from checkouts import ROOT, checkout_of, installed
from make_defaults import TABLE
from tilec import sim
from tilec.backend.cubin import assemble
from tilec.isa import ExecutionScope, form, target
from tilec.isa.described_product import product_named
from tilec.isa.gpus import gpu_of
from tilec.isa.rates import SHARED_BYTES, rates
from tilec.launch.occupancy import occupancy
from tilec.sim.ptx import read
from tilec.tuning.store.keys import versions

BASE = "f35790c"
CAPTURE = Path(__file__).with_name("captured_launches.py")
OWN = {
    "gemm": {"BM": 128, "BN": 128, "BK": 64, "warps": 8},
    "attention": {"BM": 128, "BN": 64, "warps": 4},
}
"""What f35790c's examples have by themselves."""
DEPTHS, BETWEEN = (256, 768), 512
STEPS = 1 << 30
ASKED = ("mbarrier", "tcgen05.commit")
"""What touches mbarriers alone."""
MULTICAST = ".multicast::cluster"
Quantities = dict[str, float]


@dataclass(frozen=True)
class Config:
    """A kernel as it is compiled.

    Attributes:
        kernel: its name, and its example's.
        target: the GPU.
        parameters: constants and warps.
    """

    kernel: str
    target: str
    parameters: tuple[tuple[str, int], ...]

    def __getitem__(self, name: str) -> int:
        return dict(self.parameters)[name]

    def request(self, root: Path, depth: int) -> dict[str, Any]:
        """Four tiles of it, with so much of the loop."""
        given = dict(self.parameters)
        warps = given.pop("warps")
        how = {
            "program": str(root / "examples" / "kernels" / f"{self.kernel}.py"),
            "kernel": self.kernel,
            "target": self.target,
            "settings": {"warps": warps},
            "constants": given,
        }
        if self.kernel == "gemm":
            m, n = 2 * self["BM"], 2 * self["BN"]
            arrays = [[[m, depth], "f2"], [[depth, n], "f2"], [[m, n], "f4"]]
            return {**how, "arrays": arrays, "scalars": [], "grid": [2, 2]}
        rows, keys = [[2, 2 * self["BM"], 128], "f2"], [[2, depth, 128], "f2"]
        return {**how, "arrays": [rows, keys, keys, rows], "scalars": [0.125], "grid": [2, 2]}

    def tiles(self, sizes: Mapping[str, int]) -> int:
        """Tiles of a problem."""
        if self.kernel == "gemm":
            return ceil(sizes["m"] / self["BM"]) * ceil(sizes["n"] / self["BN"])
        return ceil(sizes["queries"] / self["BM"]) * sizes["heads"]


def depth(sizes: Mapping[str, int]) -> int:
    """How long the loop of a problem is."""
    return sizes["k"] if "k" in sizes else sizes["queries"]


def captured(root: Path, site: Path | None, wanted: Sequence[dict[str, Any]]) -> list[Any]:
    """Launches as a tilec makes them: that of a folder, or this one."""
    path = os.environ.get("PYTHONPATH", "") if site is None else str(site)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "launches")
        subprocess.run(
            [sys.executable, str(CAPTURE), str(file)],
            input=json.dumps(wanted).encode(),
            env={**os.environ, "PYTHONPATH": path, "TILEC_CACHE": "0"},
            cwd=root,
            check=True,
        )
        found: list[Any] = pickle.loads(file.read_bytes())  # our own, made above
    assert len(found) == len(wanted)
    return found


def simulated(launch: Mapping[str, Any]) -> tuple[Quantities, dict[str, float]]:
    """What the simulator counts of a tile, and its matrix instructions."""
    how = {**launch["how"], "numerics": "fast", "max_steps": STEPS}
    report = sim.launch(
        launch["ptx"], launch["kernel"], launch["grid"], launch["block"], launch["args"], **how
    )
    report.require_ok()
    tiles = 4
    clusters = launch["how"].get("cluster")
    shared_by = 1 if clusters is None else max(clusters if isinstance(clusters, tuple) else (1,))
    polls = 3 * report.waits_in_vain
    # An mbarrier is asked as often as it takes: that is no work of the kernel's.
    data = [one for one in report.lines if not one.instruction.startswith(ASKED)]
    wavefronts = sum(one.wavefronts for one in data)
    # Of what a copy brings to several CTAs each asks L2 for its part.
    asked = sum(one.copied / (shared_by if MULTICAST in one.instruction else 1) for one in data)
    found = {
        "instructions": report.warp_instructions - polls,
        "wavefronts": wavefronts + (report.operand_bytes + report.copied) / SHARED_BYTES,
        "loaded": report.sectors * 32 + asked,
    }
    matrix = {one.form: one.warps / tiles for one in report.matrix}
    return {name: value / tiles for name, value in found.items()}, matrix


def multiplying(matrix: Mapping[str, float], name: str) -> float:
    """Cycles of an SM's tensor cores."""
    known, total = rates(target(name)), 0.0
    for one, warps in matrix.items():
        if one.startswith("tcgen05"):
            product = product_named(one)
            bits = max(o.type.bits for o in product.operands[:2])
            total += product.flops * warps / 2 / known.in_tensor_memory(bits)
            continue
        made = form(one)
        if made.flops:
            group = made.scope is ExecutionScope.WARPGROUP
            bits = max(o.type.bits for o in made.operands if o.name in {"a", "b"})
            rate = known.products(of_warpgroups=group, bits=bits)
            total += made.flops / (4 if group else 1) * warps / 2 / rate
    return total


@dataclass(frozen=True)
class Measured:
    """What a tile does, as a line over the depth of its loop, and what it holds of an SM.

    Attributes:
        first: at depth 0.
        slope: for each step of the depth.
        resident: CTAs that an SM holds.
        spilled: bytes, by ptxas.
    """

    first: Quantities
    slope: Quantities
    resident: int
    spilled: int

    def at(self, depth: int) -> Quantities:
        """What a tile does."""
        return {name: self.first[name] + self.slope[name] * depth for name in self.first}


def measured(config: Config, launches: Sequence[Mapping[str, Any]]) -> Measured:
    """What a kernel's tile does."""
    known = target(config.target)
    points = []
    for launch in launches:
        counts, matrix = simulated(launch)
        points.append({**counts, "tensor": multiplying(matrix, config.target)})
    low, high, *between = points
    slope = {name: (high[name] - low[name]) / (DEPTHS[1] - DEPTHS[0]) for name in low}
    first = {name: low[name] - slope[name] * DEPTHS[0] for name in low}
    for one in between:  # what is counted is linear in the depth
        for name, value in one.items():
            expected = first[name] + slope[name] * BETWEEN
            assert abs(value - expected) <= 0.02 * expected + 16, (config, name, value, expected)
    launch = launches[0]
    used = assemble(launch["ptx"], known).resources[launch["kernel"]]
    module = read(launch["ptx"])
    scopes = {id(i.scope): i.scope for i in module.functions[launch["kernel"]].body or ()}
    inside = [v for scope in scopes.values() for v in scope.variables.values()]
    static = sum(v.size for v in (*module.variables.values(), *inside) if v.space == "shared")
    shared = launch["how"].get("dynamic_smem", 0) + static
    block = launch["block"]
    threads = block if isinstance(block, int) else block[0] * block[1] * block[2]
    held = occupancy(threads, used.registers, shared, known)
    return Measured(first, slope, held.ctas, used.spill_stores + used.spill_loads)


def seconds(config: Config, what: Measured, sizes: Mapping[str, int]) -> tuple[float, Quantities]:
    """A bound of the time of a problem, and what is counted of it."""
    known, gpu = rates(target(config.target)), gpu_of(target(config.target))
    tiles = config.tiles(sizes)
    total = {name: value * tiles for name, value in what.at(depth(sizes)).items()}
    cycles = max(
        total["tensor"],
        total["wavefronts"],
        total["instructions"] / 4,
        total["loaded"] / known.l2_bytes,
    )
    resident = max(what.resident, 1)
    whole = tiles // (gpu.sms * resident) * resident
    busiest = whole + ceil((tiles - whole * gpu.sms) / gpu.sms)  # tiles of an SM
    return cycles / tiles * busiest / gpu.hertz, total


def table() -> dict[str, dict[str, list[dict[str, Any]]]]:
    """The shipped table: rows by kernel and target."""
    found: dict[str, dict[str, list[dict[str, Any]]]] = json.loads(TABLE.read_text())["kernels"]
    return found


def compared(kernels: Iterable[str], targets: Iterable[str]) -> list[dict[str, Any]]:
    """The table and f35790c's defaults, size by size."""
    known = table()
    wanted = [
        (kernel, name, row) for kernel in kernels for name in targets
        for row in known[kernel].get(name, ())
    ]  # fmt: skip

    def config(kernel: str, name: str, parameters: Mapping[str, int]) -> Config:
        return Config(kernel, name, tuple(sorted(parameters.items())))

    ours = dict.fromkeys(config(k, t, row["parameters"]) for k, t, row in wanted)
    theirs = dict.fromkeys(config(k, t, OWN[k]) for k, t, _ in wanted)
    with tempfile.TemporaryDirectory() as folder:
        base = checkout_of(BASE, Path(folder, "base"))
        site = installed(base, Path(folder))
        found = [
            _measured(list(configs), root, where)
            for configs, root, where in ((ours, ROOT, None), (theirs, base, site))
        ]
    rows = []
    for kernel, name, row in wanted:
        mine, its = config(kernel, name, row["parameters"]), config(kernel, name, OWN[kernel])
        here, counts = seconds(mine, found[0][mine], row["sizes"])
        there, before = seconds(its, found[1][its], row["sizes"])
        rows.append(
            {
                "kernel": kernel,
                "target": name,
                "sizes": row["sizes"],
                "parameters": row["parameters"],
                "time": here / there,
                **{what: counts[what] / before[what] for what in counts},
                "spilled": [found[0][mine].spilled, found[1][its].spilled],
            }
        )
    return rows


def _measured(configs: list[Config], root: Path, site: Path | None) -> dict[Config, Measured]:
    depths = [(*DEPTHS, BETWEEN) if at == 0 else DEPTHS for at, _ in enumerate(configs)]
    wanted = [c.request(root, n) for c, ns in zip(configs, depths, strict=True) for n in ns]
    launches = iter(captured(root, site, wanted))
    return {
        c: measured(c, [next(launches) for _ in ns]) for c, ns in zip(configs, depths, strict=True)
    }


def main() -> None:
    """Compare, and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--target", action="append")
    parser.add_argument("--kernel", action="append", choices=tuple(OWN))
    parser.add_argument("--json", action="store_true", help="print one object")
    given = parser.parse_args()
    targets = given.target or sorted({name for rows in table().values() for name in rows})
    rows = compared(given.kernel or tuple(OWN), targets)
    worse = [row for row in rows if row["time"] > 1 + 1e-9]
    if given.json:
        today = datetime.datetime.now(datetime.UTC).date().isoformat()
        made = {"base": BASE, "date": today, "versions": dict(versions())}
        print(json.dumps({**made, "rows": rows, "worse": len(worse)}, indent=1))
    else:
        print("| kernel | target | sizes | parameters | time | instructions | shared | loaded |")
        print("|---|---|---|---|---|---|---|---|")
        for row in rows:
            sizes, parameters = (
                ", ".join(f"{name}={value}" for name, value in row[what].items())
                for what in ("sizes", "parameters")
            )
            print(
                f"| {row['kernel']} | {row['target']} | {sizes} | {parameters} | "
                f"{row['time']:.2f} | {row['instructions']:.2f} | {row['wavefronts']:.2f} | "
                f"{row['loaded']:.2f} |"
            )
        print(f"\n{len(rows)} sizes, {len(worse)} of them worse than {BASE}'s default.")
    sys.exit(bool(worse))


if __name__ == "__main__":
    main()

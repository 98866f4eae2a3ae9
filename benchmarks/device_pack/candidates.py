"""Configurations of a GEMM, pruned by what is known of them without a GPU."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from itertools import product
from typing import Any

import numpy as np
import tilec
from tilec.isa import Target, TilecError
from tilec.isa import target as find_target
from tilec.launch.occupancy import occupancy
from tilec.sim import Report, launch

from .gemm_kernel import Configuration, Gemm, gemm
from .kernels import fitted, too_large

TILES = ((64, 128), (128, 64), (128, 128), (64, 256), (128, 256), (256, 128))
DEPTHS = (32, 64)
WARP_TILES = ((32, 32), (32, 64), (64, 32), (64, 64), (64, 128))
STAGES = (2, 3, 4, 5)

SUMS = 128
"""Sums of a thread, at most: of 255 registers others are needed, too."""

WARPS = 8
"""Warps of an SM, at least: two for each of its four schedulers."""

SLICES = (4, 8)
"""Slices of K that are simulated; the difference is what the loop itself does."""


@dataclass(frozen=True)
class Candidate:
    """A configuration and what is known of it.

    Attributes:
        configuration: its name.
        registers: of a thread, as ptxas reports them.
        spilled: bytes of a thread.
        shared: bytes of a CTA.
        ctas, warps: that an SM holds.
        wavefronts: passes over shared memory, for each matrix instruction in the loop.
        conflicts: passes among them that bank conflicts cause.
        instructions: all of a warp's, for each matrix instruction in the loop.
        traffic: bytes that come from L2 for each 1,000 multiply-adds.
        refused: why it is left out; empty if it is not.
    """

    configuration: str
    registers: int = 0
    spilled: int = 0
    shared: int = 0
    ctas: int = 0
    warps: int = 0
    wavefronts: float = 0.0
    conflicts: float = 0.0
    instructions: float = 0.0
    traffic: float = 0.0
    refused: str = ""

    def json(self) -> dict[str, Any]:
        """As JSON has it."""
        return asdict(self)

    @property
    def rank(self) -> tuple[float, float, float, float]:
        """Less is better: the busier of shared memory and issue, then L2, then what hides latency.

        An SM passes over shared memory once a cycle and issues four instructions.
        """
        busiest = max(self.wavefronts, self.instructions / 4)
        return round(busiest, 2), round(self.traffic, 2), -self.warps, -self.shared


def configurations() -> Iterator[Configuration]:
    """All that are looked at; K is that of 16-bit elements."""
    for (rows, cols), deep, (wm, wn), stages in product(TILES, DEPTHS, WARP_TILES, STAGES):
        if rows % wm == 0 and cols % wn == 0:
            yield Configuration((rows, cols, deep), (rows // wm, cols // wn), stages)
    # What the swizzle is good for.
    yield from (Configuration((128, 128, 64), (4, 2), 3, swizzle=bits) for bits in (0, 1, 2))


def hopeless(kind: Gemm, how: Configuration, target: Target) -> str:
    """Why a configuration need not be compiled; empty if it must."""
    rows, cols, _ = how.tile
    warps = how.warps[0] * how.warps[1]
    if not 4 <= warps <= 16:
        return f"{warps} warps a CTA; 4 to 16 are looked at"
    if rows * cols > SUMS * how.threads:
        return f"{rows * cols // how.threads} sums a thread; at most {SUMS} are looked at"
    return too_large(kind, how, target)


def examine(kind: Gemm, how: Configuration, name: str) -> Candidate:
    """Compile a configuration, assemble it, and simulate one CTA."""
    target = find_target(name)
    how = fitted(how, kind)
    rows, cols, deep = how.tile
    refused = hopeless(kind, how, target)
    if refused:
        return Candidate(how.name, refused=refused)
    try:
        program = tilec.compile(gemm(kind, how), target=name, emit="cubin")
    except TilecError as error:
        return Candidate(how.name, refused=str(error).partition("\n")[0])
    (kernel,) = program.kernels
    used = program.resources[kernel.name]
    shared = kernel.dynamic_shared + used.static_shared
    held = occupancy(how.threads, used.registers, shared, target)
    few, many = (_simulated(kind, how, program, name, slices * deep) for slices in SLICES)
    products = _products(many) - _products(few)
    found = Candidate(
        how.name,
        used.registers,
        used.spill_stores + used.spill_loads,
        shared,
        held.ctas,
        held.warps,
        (many.wavefronts - few.wavefronts) / products,
        (many.conflicts - few.conflicts) / products,
        (many.warp_instructions - few.warp_instructions) / products,
        1000 * (rows + cols) * kind.bytes / (rows * cols),
    )
    return Candidate(**{**found.json(), "refused": _refusal(found)})


def _products(report: Report) -> int:
    """Matrix products of warps."""
    return sum(count.warps for count in report.matrix if count.flops)


def _refusal(found: Candidate) -> str:
    if found.spilled:
        return f"spills {found.spilled} bytes a thread"
    if found.conflicts:
        return f"{found.conflicts:.2f} bank conflicts for each matrix instruction"
    if found.warps < WARPS:
        return f"{found.warps} warps an SM; fewer than {WARPS} do not hide latencies"
    return ""


def _simulated(
    kind: Gemm, how: Configuration, program: tilec.Compiled, target: str, depth: int
) -> Report:
    """One CTA over so much of K."""
    rows, cols, _ = how.tile
    a = np.zeros((rows, depth * kind.bytes), np.uint8)
    b = np.zeros(cols * depth * kind.bytes, np.uint8)
    d = np.zeros(rows * cols * 4, np.uint8)
    shape_b = (cols, depth) if kind.n_by_k else (depth, cols)
    arguments = [a, rows, depth, depth, b, *shape_b, shape_b[1], d, rows, cols, cols]
    (kernel,) = program.kernels
    assert kernel.block
    report = launch(
        program.ptx,
        kernel.name,
        1,
        kernel.block,
        arguments,
        arch=target,
        dynamic_smem=kernel.dynamic_shared,
        numerics="fast",
    )
    return report.require_ok()


def examine_all(
    kind: Gemm, ways: Sequence[Configuration], target: str, jobs: int
) -> list[Candidate]:
    """`examine` of all, `jobs` at a time; the best first, then those that are left out."""
    count = len(ways)
    with ProcessPoolExecutor(jobs) as pool:
        found = list(pool.map(examine, [kind] * count, ways, [target] * count))
    return sorted(found, key=lambda one: (bool(one.refused), one.rank))

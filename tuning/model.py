"""A first-order model: what a launch takes, from what it does and what the target can do at once.

An SM multiplies, passes over shared memory, takes bytes from L2, and issues instructions beside
each other; DRAM gives bytes to all of them. What takes longest is what the launch takes, stretched
by the last wave of CTAs, which may leave SMs idle, and by what each wave takes to begin. Bytes from
L2 come no faster than those in flight allow; what the CTAs of a wave read together, as the order of
tiles decides, comes from DRAM once. The numbers are `isa.rates`' and `isa.gpus`'.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from math import ceil
from typing import Any

from tilec.isa import ExecutionScope, Target
from tilec.isa import form as find_form
from tilec.isa.described_product import product_named
from tilec.isa.gpus import Gpu, gpu_of
from tilec.isa.rates import SHARED_BYTES, rates
from tilec.launch.occupancy import Occupancy

from .counting.tally import SPECIAL, Counts
from .counting.touches import SECTOR

DRAM = "dram"
"""What all SMs share, of the parts that take time."""
ISSUED = 4
"""Warps' instructions that an SM issues in a cycle, one for each of its parts."""
SPECIAL_CYCLES = 2
"""Cycles of an SM for a warp's special functions, of which it computes 16 at once."""
LATENCY = 600
"""Cycles from asking L2 for bytes to having them, as an order of magnitude."""
BEGINNING = 1500
"""Cycles that a wave of CTAs takes before its first product, and after its last."""
_LOADED = 16
"""Bytes that a thread has in flight where nothing is copied asynchronously: the widest load."""


@dataclass(frozen=True)
class Estimate:
    """What a launch is taken to take.

    Attributes:
        seconds: of the launch.
        limit: what takes longest: `tensor`, `shared`, `l2`, `issue`, `special` or `dram`.
        cycles: of an SM, by what takes them, if all SMs had as much to do.
        waves: rounds of CTAs, the last one whole.
        resident: CTAs of an SM at once.
        throughput: seconds of the SMs, were there nothing to wait for and DRAM without end: what
            multiplying, shared memory, L2 and issuing take, whichever takes longest.
    """

    seconds: float
    limit: str
    cycles: dict[str, float]
    waves: int
    resident: int
    throughput: float

    def json(self) -> dict[str, Any]:
        """The estimate as JSON has it."""
        return asdict(self)


def estimate(
    counts: Counts,
    target: Target,
    held: Occupancy,
    ctas: int,
    threads: int,
    footprint: float,
    gpu: Gpu | None = None,
) -> Estimate:
    """What a launch takes.

    Args:
        counts: what it does.
        target: what it is compiled for.
        held: what an SM holds of it; one CTA at least.
        ctas: of the launch.
        threads: of a CTA.
        footprint: bytes of its arrays.
        gpu: where it runs; by default the one that stands for the target.
    """
    gpu = gpu_of(target) if gpu is None else gpu
    waves = ceil(ctas / (gpu.sms * held.ctas))
    resident = min(held.ctas, ceil(ctas / gpu.sms))
    loaded = counts.sectors * SECTOR + counts.asked
    flying = (counts.in_flight or threads * _LOADED) * resident
    l2_bytes = min(rates(target).l2_bytes, flying / LATENCY)
    missed = _missed(loaded, counts.distinct, footprint, gpu)
    cycles = {
        "tensor": _tensor_cycles(counts, target),
        "shared": shared_passes(counts),
        "l2": loaded / l2_bytes,
        "issue": counts.warp_instructions / ISSUED,
        "special": counts.units.get(SPECIAL, 0.0) * SPECIAL_CYCLES,
        DRAM: missed / gpu.dram_bytes * gpu.hertz * gpu.sms,
    }
    cycles = {name: value / gpu.sms for name, value in cycles.items()}
    stretched = of_busiest(ctas, held.ctas, gpu.sms) * gpu.sms / ctas
    longest = {name: one if name == DRAM else one * stretched for name, one in cycles.items()}
    limit = max(longest, key=lambda name: longest[name])
    begun = waves * BEGINNING / resident  # of several CTAs one begins while others work
    at_best = loaded / rates(target).l2_bytes / gpu.sms * stretched
    throughput = max(at_best, longest["tensor"], longest["shared"], longest["issue"]) / gpu.hertz
    seconds = (longest[limit] + begun) / gpu.hertz
    return Estimate(seconds, limit, cycles, waves, resident, throughput)


def shared_passes(counts: Counts) -> float:
    """Passes over shared memory, a cycle of an SM each: of threads, copies, and products."""
    return counts.wavefronts + (counts.operand_bytes + counts.copied) / SHARED_BYTES


def of_busiest(ctas: int, held: int, sms: int) -> int:
    """CTAs that an SM computes at most: of each whole wave, and its share of the last."""
    waves, rest = divmod(ctas, sms * held)
    return waves * held + ceil(rest / sms)


def _tensor_cycles(counts: Counts, target: Target) -> float:
    """Cycles of multiplying, if one SM did it all."""
    known, total = rates(target), 0.0
    for name, warps in counts.matrix.items():
        if name.startswith("tcgen05"):
            product = product_named(name)
            bits = max(one.type.bits for one in product.operands[:2])
            total += product.flops * warps / 2 / known.in_tensor_memory(max(bits, 8))
            continue
        form = find_form(name)
        if form.flops:
            of_warpgroups = form.scope is ExecutionScope.WARPGROUP
            bits = max(one.type.bits for one in form.operands if one.name in {"a", "b"})
            rate = known.products(of_warpgroups=of_warpgroups, bits=bits)
            total += form.flops / (4 if of_warpgroups else 1) * warps / 2 / rate
    return total


def _missed(loaded: float, distinct: float, footprint: float, gpu: Gpu) -> float:
    """Bytes that come from DRAM.

    All arrays once, where L2 holds them. Else what the CTAs of each wave read that differs, as the
    order of tiles decides, and all arrays once at least: L2 holds what CTAs read at the same time,
    and nothing for a later wave.
    """
    once = min(loaded, footprint)
    return once if footprint <= gpu.l2_bytes else max(once, distinct)

"""What a run does, in which order, and how long each part should take.

Nothing has been measured on a GPU when a run begins: seconds are estimated from NVIDIA's figures
for it, of which a kernel is taken to reach a part, and from how work is timed. Modules are
assembled where the pack is made. Results have what a run took beside what was planned.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tilec.isa.gpus import Gpu, gpu_of
from tilec.isa.rates import rates
from tilec.isa.targets import Target

from .timing import ROUND_MS, WARM_UP

REACHED = 0.4
"""Of what a GPU can do, taken for all that is timed."""

SETUP = 0.25
"""Seconds to make matrices, and to compare some of the results with numpy's."""

COMPILED = 2.5
"""Seconds that Triton takes for a configuration that it has not compiled before."""

LOADED = 0.05
"""Seconds to load a module that is assembled."""

START = 12.0
"""Seconds that Python, CUDA and PyTorch take to start, which is part of no entry."""

TABLE = 5.0
"""Seconds that are kept for the end."""

ROUNDS = 15
"""Measurements of each kernel."""


@dataclass(frozen=True)
class Entry:
    """A part of a run that is done or left out as a whole.

    Attributes:
        section: whose it is.
        name: in the section.
        worth: 0 for what is done first.
        seconds: that it should take.
        what: what the section must know, as JSON has it.
        alone: whether it needs a process of its own.
    """

    section: str
    name: str
    worth: int
    seconds: float
    what: Any = None
    alone: bool = False


def in_order(entries: Iterable[Entry]) -> list[Entry]:
    """Entries as they are run: what is worth most first, else as they come."""
    return sorted(entries, key=lambda entry: entry.worth)


def fitting(entries: Sequence[Entry], seconds: float) -> list[Entry]:
    """Those that fit into a time; one that does not makes room for shorter ones behind it."""
    left, found = seconds - START - TABLE, []
    for entry in entries:
        if entry.seconds <= left:
            left -= entry.seconds
            found.append(entry)
    return found


def planned(entries: Sequence[Entry], seconds: float, *, each: bool = False) -> Iterator[str]:
    """Lines that say what is to be done.

    Args:
        entries: in their order.
        seconds: for everything.
        each: whether every entry has a line, or those of one worth and section together.
    """
    chosen = fitting(entries, seconds)
    total = START + TABLE + sum(entry.seconds for entry in chosen)
    yield (
        f"plan: {len(chosen)} of {len(entries)} entries, {total:.0f} s of {seconds:.0f}, "
        f"{START + TABLE:.0f} of them for the start and the tables"
    )
    groups: dict[tuple[Any, ...], list[Entry]] = {}
    for entry in entries:
        key = (entry.worth, entry.section, entry in chosen, entry.name if each else "")
        groups.setdefault(key, []).append(entry)
    reached = START
    for (worth, section, fits, name), found in groups.items():
        took = sum(entry.seconds for entry in found)
        reached += took if fits else 0.0
        until = f"until {reached:5.0f} s" if fits else "no room for it"
        count = name if each else f"{len(found)} entries"
        yield f"  {worth}  {section:10} {took:6.1f} s  {until}  {count}"


class Estimates:
    """Seconds that work takes on the GPU that a target stands for.

    Args:
        target: what the pack is for.
    """

    def __init__(self, target: Target) -> None:
        self._target = target
        self._gpu: Gpu = gpu_of(target)
        self._compiled: set[Any] = set()

    def milliseconds(self, flops: float, bits: int, nbytes: float) -> float:
        """Of a launch.

        Args:
            flops: that it takes.
            bits: of the elements that it multiplies.
            nbytes: that it reads and writes.
        """
        known = rates(self._target)
        products = known.products(of_warpgroups=known.wgmma > 0, bits=bits)
        peak = 2 * products * self._gpu.sms * self._gpu.hertz
        return 1e3 * max(flops / peak, nbytes / self._gpu.dram_bytes) / REACHED

    def compared(self, ms: float, kernels: int, peers: int, triton: Any = None) -> float:
        """Seconds to compare kernels and peers by `timing.measure`.

        Args:
            ms: that a launch takes.
            kernels: of tilec.
            peers: beside them, Triton among them.
            triton: what Triton compiles a kernel for, if it is a peer; the first time it does.
        """
        each = 2 * (WARM_UP + 1) * ms + ROUNDS * max(ROUND_MS, ms)
        spent = SETUP + kernels * LOADED + (kernels + peers) * each / 1e3
        if triton is not None:
            spent += 2 * 10 * ms / 1e3 + 0.1
            spent += 0.0 if triton in self._compiled else 2 * COMPILED
            self._compiled.add(triton)
        return round(spent, 2)

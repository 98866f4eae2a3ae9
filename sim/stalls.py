"""Who waits for which mbarrier, in words."""

from __future__ import annotations

from tilec.isa.wording import counted

from .alu import Array
from .machine import Machine
from .phases import Site, unpack
from .ptx.module import Instruction, Module
from .warps import warp_numbers

MENTIONED = 12
"""Waits that are told one by one."""


def waiting_warps(
    machine: Machine, module: Module, threads: Array
) -> tuple[list[str], Instruction | None]:
    """Of each CTA and wait, which warps of some threads wait, and what the mbarrier holds.

    Returns:
        The words, and the first of the waits.
    """
    found = machine.phases.waiting(threads)
    # First those who wait for bytes that never come: the others mostly wait for them.
    found.sort(key=lambda one: not _pending_bytes(machine, one[0].offset, one[1]))
    words = [_wait(machine, module, site, cta, warps) for site, cta, warps in found[:MENTIONED]]
    if len(found) > MENTIONED:
        words.append(f"and {len(found) - MENTIONED} more waits like these")
    for offset in dict.fromkeys(site.offset for site, *_ in found[:MENTIONED]):
        words += _signals(machine, module, offset)
    return words, found[0][0].instruction if found else None


def _pending_bytes(machine: Machine, offset: int, cta: int) -> int:
    memory = machine.memory
    place = memory.shared_base + cta * memory.shared_stride + offset >> 3
    return int(unpack(memory.views[64][place : place + 1])[3][0])


def _wait(machine: Machine, module: Module, site: Site, cta: int, warps: list[int]) -> str:
    memory = machine.memory
    place = memory.shared_base + cta * memory.shared_stride + site.offset
    object_ = memory.views[64][place >> 3 : (place >> 3) + 1]
    pending, expected, _, bytes_ = (int(field[0]) for field in unpack(object_))
    known = machine.phases.known(site.offset)
    if known is None:
        state = "which was never initialised"
    else:
        state = (
            f"which is in phase {int(known.phase[cta])} with {pending} of {expected} arrivals "
            f"and {counted(bytes_, 'byte')} pending"
        )
    who = machine.cta_name(cta)
    return (
        f"{warp_numbers(warps)} of {who} wait{'s' if len(warps) == 1 else ''} at "
        f"{module.place(site.instruction)} for a phase of parity {site.parity} of the mbarrier at "
        f"{site.offset:#x}, {state}"
    )


def _signals(machine: Machine, module: Module, offset: int) -> list[str]:
    """What has initialised and signalled the mbarriers at an offset."""
    known = machine.phases.known(offset)
    if known is None:
        return []
    lines = ", ".join(map(module.written_line, sorted(known.signals)))
    return [f"the mbarrier at {offset:#x} was signalled by lines {lines}"]

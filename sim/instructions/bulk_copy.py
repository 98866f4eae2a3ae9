"""`cp.async.bulk`: copies of many bytes between global and shared memory, a thread's own each.

PTX ISA, "Bulk copy". The bytes arrive at once; who looks at them must have waited for the mbarrier
that the copy completes.
"""

from __future__ import annotations

import math

import numpy as np

from ..access import Access
from ..alu import Array
from ..binding import Binding
from ..machine import Step
from ..memory import Space
from ..ptx.module import Operand
from .mbarrier import MBarrier

_TO_SHARED = ("shared::cluster", "shared::cta")
_IGNORED = {"async", "bulk", "mbarrier::complete_tx::bytes", "bulk_group", "L2::cache_hint"}


def bind(binding: Binding) -> Step:
    """The step of a bulk copy, or of the wait for one."""
    modifiers = binding.modifiers
    if "commit_group" in modifiers or "wait_group" in modifiers or "prefetch" in modifiers:
        return lambda: None
    spaces = [m for m in modifiers if m == "global" or m in _TO_SHARED]
    if len(spaces) != 2 or any(m not in _IGNORED and m not in spaces for m in modifiers):
        raise binding.error(f"unsupported instruction '{binding.instruction.mnemonic}'")
    operands = binding.expect(3, 4, 5)
    if spaces[0] == "global":
        return _copy(binding, operands, ("global",), ("shared",))
    step = _copy(binding, operands, ("shared",), ("global",))
    return _completing(binding, step, operands[3], operands[2])


def _completing(binding: Binding, copy: Step, barrier: Operand, size: Operand) -> Step:
    """A copy, and then its bytes taken off those that the mbarrier waits for."""
    object_, slot = MBarrier(binding, barrier), binding.source(size, "u32")
    machine, registers = binding.machine, binding.machine.registers

    def step() -> None:
        copy()
        if machine.observer is not None:
            machine.observer.release_object(machine.active())
        object_.expect(-registers[slot].astype(np.int64))

    return step


def _copy(
    binding: Binding, operands: tuple[Operand, ...], target: tuple[str], source: tuple[str]
) -> Step:
    to, from_ = binding.locate(operands[0], target), binding.locate(operands[1], source)
    slot = binding.source(operands[2], "u32")
    machine, memory = binding.machine, binding.machine.memory
    registers = machine.registers

    def step() -> None:
        sizes = machine.full(registers[slot]).astype(np.int64)
        active = machine.active()
        (written,), (read,) = to(), from_()
        unit = _unit(sizes[active], *(machine.full(w[1])[active] for w in (written, read)))
        targets = _places(binding, written, sizes, unit, Access.WRITE)
        sources = _places(binding, read, sizes, unit, Access.READ)
        for cta, warp, lane in np.argwhere(active).tolist():
            size = int(sizes[cta, warp, lane])
            begin, end = int(sources[cta, warp, lane]), int(targets[cta, warp, lane])
            if begin and end:
                if min(begin, end) < 0 or max(begin, end) + size > memory.data.size:
                    raise IndexError(f"{size} bytes to {end:#x} from {begin:#x}")
                memory.data[end : end + size] = memory.data[begin : begin + size]

    return step


def _unit(*numbers: Array) -> int:
    """Bytes that are checked at a time: what divides every size and address, at least 16."""
    return max(math.gcd(128, *(int(n) for some in numbers for n in np.unique(some))), 16)


def _places(
    binding: Binding,
    located: tuple[Space, Array, Array | None],
    sizes: Array,
    unit: int,
    kind: Access,
) -> Array:
    """The place of each thread's bytes, 0 where they must not be touched."""
    space, offsets, mask = located
    machine, observer = binding.machine, binding.machine.observer
    found = machine.full(space.place(offsets))
    if observer is None:
        return found
    legal = machine.active()
    for start in range(0, int(sizes[legal].max()), unit):
        inside = sizes > start
        wanted = inside if mask is None else inside & mask
        at = offsets + start
        kept = observer.access(binding.instruction, space, at, unit, wanted, kind, counted=False)
        legal = legal & (~inside | machine.full(inside if kept is None else kept))
    return np.where(legal, found, 0)

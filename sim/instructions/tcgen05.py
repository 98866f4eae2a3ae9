"""`tcgen05`: tensor memory given out and moved, products there, their order. PTX ISA 9.7.16."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from tilec.isa.tensor_memory import ALLOCATIONS, lane_and_column
from tilec.isa.wording import counted

from ..access import Access
from ..alu import Array
from ..binding import Binding
from ..checks.commits import Commit
from ..machine import Machine, Step
from ..memory import Space
from ..ptx.module import Instruction, Integer, Operand
from ..sync import Gate, Members
from ..taint.flows import Flow, Flowing, harm
from ..tensor_memory import ctas_of
from ..traits import First, Sync, Traits, Unit
from ..transfers import Load
from ..warps import whole_warps
from .mbarrier import MBarrier
from .registry import instruction

if TYPE_CHECKING:
    from tilec.isa.tensor_moves import TensorMove
    from tilec.isa.tensor_products import TensorProduct

_WARP = Traits(sync=Sync.WARP, first=First.SOURCE, asynchronous=True)
_LOAD = Traits(sync=Sync.WARP, asynchronous=True)
_THREAD = Traits(first=First.SOURCE, asynchronous=True)
_LEGAL = ", ".join(map(str, ALLOCATIONS))


def _traits(found: Instruction) -> Traits:
    if found.modifiers[:1] == ("ld",):
        return _LOAD
    return _WARP if "sync" in found.modifiers else _THREAD


def _flow(flowing: Flowing) -> Flow:
    """Results are defined: whether tensor memory has been written is checked there.

    What is stored may be undefined as long as nothing depends on it.
    """
    if flowing.binding.modifiers[:1] != ("st",):
        return harm(flowing)
    return lambda: None


def _unit(found: Instruction) -> Unit:
    """Products, waits and fences; anything else moves or gives out tensor memory."""
    what = found.modifiers[0].partition("::")[0] if found.modifiers else ""
    if what == "mma":
        return Unit.TENSOR
    return Unit.SYNC if what in {"commit", "wait", "fence"} else Unit.SHARED


@instruction("tcgen05", traits=_traits, unit=_unit, undefined=_flow)
def _bind(binding: Binding) -> Step:
    from tilec.isa.tensor_moves import TensorMove  # noqa: PLC0415 (for kernels that have them)
    from tilec.isa.tensor_products import TensorProduct  # noqa: PLC0415 (likewise)

    from ..tensor_forms import tensor_form  # noqa: PLC0415 (likewise)

    found = tensor_form(binding)
    if isinstance(found, TensorProduct):
        return _multiply(binding, found)
    if isinstance(found, TensorMove):
        return _move(binding, found)
    binder = _BINDERS.get(binding.modifiers[0])
    if binder is None:
        raise binding.error(f"'{found.ptx}' is not simulated: which way rows move is not published")
    return binder(binding)


def _warps(binding: Binding) -> list[tuple[int, int]]:
    """CTA and number of each warp that executes it."""
    machine = binding.machine
    if machine.observer is not None:
        machine.observer.whole_warps(binding.instruction)
    found = np.argwhere(machine.active().any(axis=2)).tolist()
    return [(cta, warp) for cta, warp in found]


def _blame(binding: Binding, cta: int, warp: int, words: str, lane: int = 0) -> None:
    observer = binding.machine.observer
    if observer is not None:
        observer.blame("tensor-memory", binding.instruction, (cta, warp, lane), words)


# Columns


def _check_columns(binding: Binding, columns: Operand) -> None:
    """Refuse a number of columns that none can have; one in a register is looked at later."""
    if isinstance(columns, Integer) and columns.value not in ALLOCATIONS:
        what = f"tcgen05.{binding.modifiers[0]}"
        raise binding.error(f"'{what}' of {counted(columns.value, 'column')}; legal: {_LEGAL}")


def _alloc(binding: Binding) -> Step:
    address, columns = binding.expect(2)
    _check_columns(binding, columns)
    where, slot = binding.locate(address), binding.exact(columns, "u32")
    machine, memory = binding.machine, binding.machine.tensor
    registers = machine.registers
    group = 2 if "cta_group::2" in binding.modifiers else 1
    alone = machine.geometry.cluster_ctas % group != 0  # which ends the run when it is executed

    def ready(threads: Array) -> Array:
        """Whole warps that get columns, one of a CTA at a time; those that never will go on."""
        whole = whole_warps(threads, machine.live)
        here = threads if whole is None else whole
        counts = machine.full(registers[slot])
        fits = np.zeros(threads.shape, np.bool_)
        served = set[int]()
        waiting = np.argwhere(here.any(axis=2)).tolist()
        there = {cta for cta, _ in waiting}
        for cta, warp in waiting:
            if not alone and not there.issuperset(ctas_of(machine.geometry, cta, group)):
                continue  # both CTAs of a pair allocate together
            wanted = int(counts[cta, warp, np.argmax(here[cta, warp])])
            wrong = wanted not in ALLOCATIONS or (memory.used and memory.closed[cta])
            gets = not wrong and cta not in served and memory.room(cta, wanted) is not None
            if gets:
                served.add(cta)
            fits[cta, warp] = wrong or gets
        return np.asarray(here & fits)

    binding.sync = Gate(binding.instruction, ready, "columns of tensor memory", cause=True)

    def step() -> None:
        counts = machine.full(registers[slot])
        given = np.zeros(machine.shape, np.uint32)
        chosen = np.zeros(machine.shape, np.bool_)
        for cta, warp in _warps(binding):
            ctas_of(machine.geometry, cta, group)  # there must be both
            lane = int(np.argmax(machine.active()[cta, warp]))
            count = int(counts[cta, warp, lane])
            if count not in ALLOCATIONS:
                _blame(binding, cta, warp, f"asks for {counted(count, 'column')}; legal: {_LEGAL}")
                continue
            if memory.used and memory.closed[cta]:
                _blame(binding, cta, warp, "allocates after tcgen05.relinquish_alloc_permit")
                continue
            least = int(memory.least[cta]) if memory.used else count
            if count > least:
                words = f"asks for {counted(count, 'column')} after {least}; requests may not grow"
                _blame(binding, cta, warp, words)
            given[cta, warp, lane], chosen[cta, warp, lane] = memory.allocate(cta, count), True
            if machine.observer is not None and machine.observer.tensor is not None:
                machine.observer.tensor.taken(binding.instruction, (cta, warp, lane))
        _store(binding, where(), given, chosen)

    return step


def _store(
    binding: Binding, parts: list[tuple[Space, Array, Array | None]], value: Array, chosen: Array
) -> None:
    """Write words to shared memory, one a warp; by which proxy, nobody has said."""
    machine = binding.machine
    for space, offsets, mask in parts:
        some = chosen if mask is None else chosen & mask
        if not some.any():
            continue
        legal: Array | None = some
        if machine.observer is not None:
            observer, write = machine.observer, Access.WRITE
            legal = observer.bounds.check(binding.instruction, space, offsets, 4, some, write)
            observer.shared.access(binding.instruction, offsets, 4, legal, write)
            if observer.orders is not None:
                observer.orders.access(binding.instruction, space, offsets, 4, legal, write)
        machine.memory.store(space.place(machine.full(offsets)), 32, value, legal)


def _dealloc(binding: Binding) -> Step:
    address, columns = binding.expect(2)
    _check_columns(binding, columns)
    binding.sync = Members()
    slot, count = (binding.exact(one, "u32") for one in (address, columns))
    machine, memory = binding.machine, binding.machine.tensor

    def step() -> None:
        addresses, counts = (machine.full(machine.registers[one]) for one in (slot, count))
        for cta, warp in _warps(binding):
            _, at = lane_and_column(int(addresses[cta, warp, 0]))
            wanted = int(counts[cta, warp, 0])
            checks = machine.observer and machine.observer.tensor
            if checks:
                checks.given_back(binding.instruction, cta, warp, at, wanted)
            words = memory.free(cta, at, wanted)
            if words:
                _blame(binding, cta, warp, words)
        machine.phases.events += 1

    return step


def _relinquish(binding: Binding) -> Step:
    binding.expect(0)
    binding.sync = Members()

    def step() -> None:
        for cta, _ in _warps(binding):
            binding.machine.tensor.close(cta)

    return step


# Order


def _wait(binding: Binding) -> Step:
    binding.expect(0)
    binding.sync = Members()
    observer = binding.machine.observer
    stores = binding.modifiers[0] == "wait::st"

    def step() -> None:
        for cta, warp in _warps(binding):
            if observer is not None and observer.tensor is not None:
                observer.tensor.waited(cta, warp, stores=stores)

    return step


def _fence(binding: Binding) -> Step:
    """Accesses are in the order of barriers without it; what should have had it is found."""
    binding.expect(0)
    machine, before = binding.machine, binding.modifiers[0] == "fence::before_thread_sync"

    def step() -> None:
        checks = machine.observer and machine.observer.tensor
        if checks:
            for cta, warp in np.argwhere(machine.active().any(axis=2)).tolist():
                checks.fenced(cta, warp, before=before)

    return step


def _commit(binding: Binding) -> Step:
    words = binding.modifiers
    if any(word.startswith(("multicast::cluster::", "sync_restrict")) for word in words):
        raise binding.error(f"'{binding.instruction.mnemonic}' is not simulated")
    casts = "multicast::cluster" in words
    address, *mask = binding.expect(2 if casts else 1)
    object_, machine = MBarrier(binding, address), binding.machine
    slot = binding.exact(mask[0], "u16") if casts else None

    def step() -> None:
        index, chosen = object_.places()
        observer = machine.observer
        for at, (cta, warp, lane) in zip(index.tolist(), np.argwhere(chosen).tolist(), strict=True):
            thread = (cta, warp, lane)
            home, offset = (int(one[0]) for one in machine.phases.places(np.array([at])))
            chosen_ctas = [home]
            if slot is not None:
                ranks = int(machine.full(machine.registers[slot])[thread])
                chosen_ctas = _receivers(machine, cta, ranks)
            for receiver in chosen_ctas:
                commit: Commit | None = None
                if observer is not None and observer.tensor is not None:
                    commit = observer.tensor.committed(thread, receiver, offset)
                element = at + (receiver - home) * machine.memory.shared_stride // 8
                if observer is not None:
                    observer.mbarriers.signal(np.array([element]), _only(chosen, thread))
                load = Load(binding.instruction, thread, _nothing, element, 0, None, 1, commit)
                machine.transfers.load(load, observer)

    return step


def _only(threads: Array, thread: tuple[int, int, int]) -> Array:
    """One of some threads, alone: (CTAs, warps, lanes)."""
    found = np.zeros_like(threads)
    found[thread] = True
    return found


def _receivers(machine: Machine, cta: int, ranks: int) -> list[int]:
    """The CTAs of a cluster whose ranks are bits of a mask."""
    size = machine.geometry.cluster_ctas
    first = cta // size * size
    return [first + rank for rank in range(size) if ranks >> rank & 1]


def _nothing() -> None:
    """Products are computed when they are issued."""


def _move(binding: Binding, form: TensorMove) -> Step:
    from ..tensor_moves import TensorMoves  # noqa: PLC0415 (for kernels that have them)

    binding.sync = Members()
    return TensorMoves(binding, form).step


def _multiply(binding: Binding, form: TensorProduct) -> Step:
    from ..tensor_product import TensorMultiply  # noqa: PLC0415 (likewise)

    return TensorMultiply(binding, form).step


def _copy(binding: Binding) -> Step:
    from ..tensor_copy import TensorCopy  # noqa: PLC0415 (likewise)

    return TensorCopy(binding).step


_BINDERS: dict[str, Callable[[Binding], Step]] = {
    "alloc": _alloc,
    "dealloc": _dealloc,
    "relinquish_alloc_permit": _relinquish,
    "wait::ld": _wait,
    "wait::st": _wait,
    "fence::before_thread_sync": _fence,
    "fence::after_thread_sync": _fence,
    "cp": _copy,
    "commit": _commit,
}

"""`mbarrier`: barriers that live in shared memory. PTX ISA, "mbarrier".

What an object holds is in `tilec.sim.phases`. A state token is the object as it was before the
arrival.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from tilec.isa.limits import MOST_COUNTED

from ..access import Access
from ..alu import Array
from ..binding import Binding
from ..machine import Step
from ..memory import Space
from ..phases import PHASE, U64, pack, unpack
from ..ptx.module import Address, Instruction, Operand
from ..taint.flows import harm
from ..traits import PLAIN, Traits, Unit
from .registry import instruction
from .updates import apply

if TYPE_CHECKING:
    from ..orders.recorder import OrderRecorder

_IGNORED = {
    "shared", "shared::cta", "b64", "release", "acquire", "relaxed", "cta", "cluster", "noComplete",
    "shared::cluster",
}  # fmt: skip
_REMOTE = {"arrive", "arrive_drop", "expect_tx", "complete_tx"}
"""Operations that an mbarrier of another CTA takes."""


def _complete(pending: Array, expected: Array, phase: Array, bytes_: Array) -> Array:
    """The object, in its next phase if nothing of this one is pending."""
    done = (pending == 0) & (bytes_ == 0)
    return pack(np.where(done, expected, pending), expected, phase + done, bytes_)


def _arrived(state: Array, count: Array, expect: Array, drop: bool) -> Array:
    pending, expected, phase, bytes_ = unpack(state)
    if drop:
        expected = expected - count
    return _complete(
        (pending - count) & MOST_COUNTED, expected & MOST_COUNTED, phase, bytes_ + expect
    )


class MBarrier:
    """The mbarrier objects that an instruction names.

    Args:
        binding: the instruction.
        address: its operand.
        access: what is done to them.
        named: whether the state space that the mnemonic names is theirs, not that of data.
    """

    def __init__(
        self,
        binding: Binding,
        address: Operand,
        access: Access = Access.BARRIER,
        *,
        named: bool = True,
    ) -> None:
        self.access = access
        if not isinstance(address, Address):
            raise binding.error(f"'{binding.instruction.mnemonic}' takes an address in brackets")
        names = None if named else ("shared::cluster",)
        self.machine = binding.machine
        self.instruction = binding.instruction
        self.locate = binding.locate(address, names)

    def places(self) -> tuple[Array, Array]:
        """Element of memory of each active thread, and which threads those are."""
        machine = self.machine
        index = np.zeros(machine.shape, np.int64)
        chosen = np.zeros(machine.shape, np.bool_)
        for space, offsets, active in self.locate():
            mask = self._allowed(space, offsets, active)
            threads = machine.active() if mask is None else machine.full(mask)
            places = machine.full(space.place(offsets)) >> 3
            index = np.where(threads, places, index)
            chosen |= threads
            if space.name == "shared::cluster" and machine.observer is not None:
                machine.observer.peer_signal(self.instruction, places[threads], threads)
        return index[chosen], chosen

    def _allowed(self, space: Space, offsets: Array, mask: Array | None) -> Array | None:
        observer = self.machine.observer
        if observer is None:
            return mask
        legal = observer.access(self.instruction, space, offsets, 8, mask, self.access)
        if self.access is Access.BARRIER and space.name == "shared":
            observer.mbarriers.used(self.instruction, self.machine.full(offsets), legal)
        return legal

    def update(
        self,
        change: Callable[..., Array],
        *operands: Array,
        signals: bool = False,
        note: Callable[[OrderRecorder, Array, Array], None] | None = None,
    ) -> tuple[Array, Array]:
        """Change the objects, thread by thread; what each found, and which threads those are.

        Args:
            change: the object and the operands of a thread to the object that it leaves.
            operands: of each thread.
            signals: whether the threads release what they have done to those who wait.
            note: notes what may come in another order, given the objects and the threads.
        """
        machine = self.machine
        index, chosen = self.places()
        observer = machine.observer
        if signals and observer is not None:
            observer.mbarriers.signal(index, chosen)
        if note is not None and observer is not None and observer.orders is not None:
            note(observer.orders, index, chosen)
        inputs = [machine.full(o)[chosen] for o in operands]
        view = machine.memory.views[64]
        objects = np.unique(index)
        before = view[objects]
        found = apply(view, index, inputs, change, None)
        machine.phases_changed(self.instruction, objects, before)
        state = np.zeros(machine.shape, U64)
        state[chosen] = found
        return state, chosen

    def expect(self, amount: Array) -> None:
        """Add to the bytes that the phase waits for; the active threads each their amount."""

        def change(old: Array, amount: Array) -> Array:
            pending, expected, phase, bytes_ = unpack(old)
            return _complete(pending, expected, phase, bytes_ + amount)

        def note(orders: OrderRecorder, index: Array, threads: Array) -> None:
            orders.arrive(self.instruction, index, threads, _number(0), amount)

        self.update(change, amount, note=note)


def _number(value: int) -> Array:
    return np.full((1, 1, 1), value, np.int64)


def _init(binding: Binding) -> Step:
    address, count = binding.expect(2)
    object_ = MBarrier(binding, address, Access.WRITE)
    slot = binding.source(count, "u32")
    registers = binding.machine.registers

    def change(old: Array, count: Array) -> Array:
        del old
        return pack(count, count, np.zeros_like(count), np.zeros_like(count))

    machine = binding.machine

    def step() -> None:
        index, chosen = object_.places()
        ctas, offsets = machine.phases.places(index)
        arrivals = machine.clusters.arrivals[chosen]
        for offset in np.unique(offsets).tolist():
            here = offsets == offset
            machine.phases.make(binding.instruction, ctas[here], offset, arrivals[here])
            if machine.observer is not None:
                warps = np.nonzero(chosen)[1]
                machine.observer.mbarriers.made(offset, ctas[here], warps[here])
        counts = registers[slot].astype(np.int64)

        def note(orders: OrderRecorder, index: Array, threads: Array) -> None:
            orders.init(binding.instruction, index, threads, counts)

        object_.update(change, counts, note=note)

    return step


def _inval(binding: Binding) -> Step:
    (address,) = binding.expect(1)
    object_ = MBarrier(binding, address)

    def step() -> None:
        object_.update(np.zeros_like)

    return step


def _arrive(binding: Binding) -> Step:
    modifiers, operands = binding.modifiers, list(binding.operands)
    expects = "expect_tx" in modifiers
    drop = "arrive_drop" in modifiers
    target = None
    if not isinstance(operands[0], Address):
        target = binding.target(operands.pop(0), "b64")
    object_ = MBarrier(binding, operands.pop(0))
    slot = binding.source(operands[0], "u32") if operands else None
    machine, registers = binding.machine, binding.machine.registers
    observer = machine.observer

    def step() -> None:
        value = _number(1) if slot is None else registers[slot].astype(np.int64)
        count, expect = (_number(1), value) if expects else (value, _number(0))

        def note(orders: OrderRecorder, index: Array, threads: Array) -> None:
            orders.arrive(binding.instruction, index, threads, count, expect, drop=drop)

        state, chosen = object_.update(
            lambda old, count, expect: _arrived(old, count, expect, drop),
            count,
            expect,
            signals=True,
            note=note,
        )
        if observer is not None:
            pending = unpack(state)[0]
            observer.mbarriers.arrived(binding.instruction, chosen & (pending < count), pending)
        if target is not None:
            machine.write(target, state)

    return step


def _bytes(binding: Binding, sign: int) -> Step:
    address, amount = binding.expect(2)
    object_, slot = MBarrier(binding, address), binding.source(amount, "u32")
    registers = binding.machine.registers
    return lambda: object_.expect(sign * registers[slot].astype(np.int64))


def _test(binding: Binding) -> Step:
    target, address, state, *_ = binding.expect(3, 4)
    to = binding.target(target, "pred")
    object_ = MBarrier(binding, address)
    parity = "parity" in binding.modifiers
    slot = binding.source(state, "u32" if parity else "b64")
    machine, registers = binding.machine, binding.machine.registers

    def step() -> None:
        index, chosen = object_.places()
        _, _, phase, _ = unpack(machine.memory.views[64][index])
        asked = machine.full(registers[slot])[chosen]
        # A phase is complete once another is current; its parity tells which is asked for.
        asked = asked.astype(np.int64) if parity else unpack(asked)[2]
        done = (phase ^ asked) & (1 if parity else PHASE) != 0
        result = np.zeros(machine.shape, np.bool_)
        result[chosen] = done
        machine.tested(binding.instruction, index, chosen, result, asked)
        orders = None if machine.observer is None else machine.observer.orders
        if orders is not None and done.any():
            orders.waited(binding.instruction, index[done], result, asked[done], parity=parity)
        machine.land(index)  # so late that a wait that is not repeated is in vain
        if to is not None:
            machine.write(to, result)

    return step


def _pending(binding: Binding) -> Step:
    target, state = binding.expect(2)
    to, slot = binding.target(target, "u32"), binding.source(state, "b64")
    machine, registers = binding.machine, binding.machine.registers

    def step() -> None:
        if to is not None:
            pending = unpack(np.ascontiguousarray(registers[slot]))[0]
            machine.write(to, pending.astype(np.uint32))

    return step


def arrive_on_copies(binding: Binding) -> Step:
    """`cp.async.mbarrier.arrive`: the copies are complete, so the arrival is triggered at once."""
    (address,) = binding.expect(1)
    object_ = MBarrier(binding, address, named=False)
    alone = "noinc" in binding.modifiers
    machine = binding.machine
    observer = machine.observer

    def change(old: Array, count: Array) -> Array:
        if not alone:
            # The arrival is added to those expected of the phase before it is triggered.
            return old
        return _arrived(old, count, np.zeros_like(count), drop=False)

    def note(orders: OrderRecorder, index: Array, threads: Array) -> None:
        orders.copies_arrive(binding.instruction, index, threads, counts=alone)

    def step() -> None:
        if observer is not None:
            observer.shared.wait(0, uncommitted=True)
        object_.update(change, _number(1), signals=True, note=note)

    return step


_OPERATIONS = {
    "init": _init,
    "inval": _inval,
    "arrive": _arrive,
    "arrive_drop": _arrive,
    "test_wait": _test,
    "try_wait": _test,
    "expect_tx": lambda binding: _bytes(binding, 1),
    "complete_tx": lambda binding: _bytes(binding, -1),
    "pending_count": _pending,
}


def _traits(found: Instruction) -> Traits:
    waits = found.modifiers[:1] in (("test_wait",), ("try_wait",))
    return Traits(waits=True) if waits else PLAIN


@instruction("mbarrier", traits=_traits, unit=Unit.SYNC, undefined=harm)
def _bind(binding: Binding) -> Step:
    modifiers = binding.modifiers
    operation = modifiers[0] if modifiers else ""
    if "shared::cluster" in modifiers and operation not in _REMOTE:
        raise binding.error(
            f"'mbarrier.{operation}' takes an mbarrier of its own CTA; "
            f"of others: {', '.join(sorted(_REMOTE))}"
        )
    known = {*_IGNORED, "parity", "expect_tx"}
    if operation not in _OPERATIONS or any(m not in known for m in modifiers[1:]):
        raise binding.error(f"unsupported instruction '{binding.instruction.mnemonic}'")
    return _OPERATIONS[operation](binding)

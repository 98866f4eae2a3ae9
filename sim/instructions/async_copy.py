"""`cp.async`. PTX ISA, "Asynchronous copy".

The bytes arrive at once; whether the program waits for them before it looks is the observer's
to check.
"""

from __future__ import annotations

import numpy as np
from tilec.isa import ASYNC_COPY_BYTES

from ..access import Access
from ..alu import Array
from ..binding import Binding, Locate
from ..machine import Step
from ..memory import Space
from ..native.loads import Based, CopyMover
from ..ptx.module import Instruction, Integer, Operand
from ..taint.flows import harm
from ..traits import PLAIN, Traits, Unit
from ..widths import dtype_of
from .registry import instruction

_IGNORED = {"async", "ca", "cg", "shared", "shared::cta", "global", "L2::cache_hint"}


def _unit(found: Instruction) -> Unit:
    """A copy, or what groups copies, waits for them, or lets a barrier wait."""
    waits = {"commit_group", "wait_group", "wait_all", "mbarrier"} & set(found.modifiers)
    return Unit.SYNC if waits else Unit.COPY


def _traits(found: Instruction) -> Traits:
    """What a bulk copy is; that of `cp.async` without `.bulk` is plain."""
    words = found.modifiers
    waits = "commit_group" in words or "wait_group" in words or "prefetch" in words
    return Traits(asynchronous=True) if "bulk" in words and not waits else PLAIN


@instruction("cp", traits=_traits, unit=_unit, undefined=harm)
def _bind(binding: Binding) -> Step:
    modifiers = binding.modifiers
    if "bulk" in modifiers:
        from . import bulk  # noqa: PLC0415 (few kernels have any)

        return bulk.bind(binding)
    if not modifiers or modifiers[0] != "async":
        raise binding.error(f"unsupported instruction '{binding.instruction.mnemonic}'")
    if "commit_group" in modifiers:
        return _commit(binding)
    if "wait_group" in modifiers or "wait_all" in modifiers:
        return _wait(binding)
    if "mbarrier" in modifiers:
        from .mbarrier import arrive_on_copies  # noqa: PLC0415 (few kernels have any)

        return arrive_on_copies(binding)
    if unknown := [m for m in modifiers if m not in _IGNORED and not m.startswith("L2::")]:
        raise binding.error(f"qualifier '.{unknown[0]}' of 'cp.async' is unknown")
    return _copy(binding)


def _size(binding: Binding, operand: Operand) -> int:
    if not isinstance(operand, Integer) or operand.value not in ASYNC_COPY_BYTES:
        raise binding.error("'cp.async' copies 4, 8 or 16 bytes")
    return operand.value


def _amount(binding: Binding, rest: list[Operand], size: int) -> int | None:
    """The slot of the number of bytes read; the others are zero. None if it is all."""
    hinted = "L2::cache_hint" in binding.modifiers
    if not rest or (hinted and len(rest) == 1):
        return None
    if binding.register_bits(rest[0]) != 1:
        return binding.source(rest[0], "u32")
    ignore = binding.source(rest[0], "pred")
    registers = binding.machine.registers
    return binding.compute(lambda: np.where(registers[ignore], np.uint32(0), np.uint32(size)))


def _copy(binding: Binding) -> Step:
    target, source, size_operand, *rest = binding.expect(3, 4, 5)
    size = _size(binding, size_operand)
    amount = _amount(binding, rest, size)
    to = binding.locate(target, ("shared",))
    based = binding.based
    from_ = binding.locate(source, ("global",))
    machine, memory, where = binding.machine, binding.machine.memory, binding.instruction
    observer, registers = machine.observer, machine.registers
    bits = 8 * size
    native = _native(binding, size, (based, to), (binding.based, from_))

    def fetch(wanted: Array | None) -> Array:
        """What the active threads copy; zeros from byte `wanted` on."""
        ((space, offsets, mask),) = from_()
        partial = False
        if wanted is not None:
            reads = wanted > 0
            if not reads.all():
                mask = reads if mask is None else mask & reads
            partial = bool((reads & (wanted < size)).any())
        if observer is not None:
            if wanted is not None and partial:
                mask = checked(space, offsets, mask, wanted)
            else:
                mask = observer.access(where, space, offsets, size, mask, Access.READ)
            observer.copy_source(offsets, np.asarray(size) if wanted is None else wanted)
        value = memory.load(space.place(offsets), bits, mask)
        if not partial:
            return value
        assert wanted is not None
        each = np.ascontiguousarray(value)[..., None].view(np.uint8)
        kept = np.where(np.arange(size) < wanted[..., None], each, np.uint8(0))
        whole = np.dtype(np.complex128) if bits == 128 else dtype_of(bits)
        return np.ascontiguousarray(kept).view(whole)[..., 0]

    def checked(space: Space, offsets: Array, mask: Array | None, wanted: Array) -> Array:
        """The threads that may read `wanted` bytes, of some fewer than the copy has."""
        assert observer is not None
        active, part = np.True_ if mask is None else mask, wanted < size
        whole = observer.access(where, space, offsets, size, active & ~part, Access.READ)
        some: Array | None = active & part
        observer.aligned(where, space, offsets, size, some)
        some = observer.access(where, space, offsets, 1, some, Access.READ)
        last = offsets + np.maximum(wanted, 1).astype(offsets.dtype) - 1
        some = observer.access(where, space, last, 1, some, Access.READ, counted=False)
        assert whole is not None
        assert some is not None
        return whole | some

    def step() -> None:
        wanted = None if amount is None else registers[amount]
        value: Array | None = None
        if native is not None and (wanted is None or int(wanted.min()) >= size) and native.fetch():
            if observer is not None:
                ((_, offsets, _),) = from_()
                observer.copy_source(offsets, np.asarray(size) if wanted is None else wanted)
            if native.put():
                return
            value = native.value()
        if value is None:
            value = fetch(wanted)
        ((space, offsets, mask),) = to()
        if observer is not None:
            mask = observer.access(where, space, offsets, size, mask, Access.ASYNC_WRITE)
        memory.store(space.place(offsets), bits, value, mask)

    return step


def _native(
    binding: Binding,
    size: int,
    target: tuple[Based | None, Locate],
    source: tuple[Based | None, Locate],
) -> CopyMover | None:
    """What executes it, if anything; it is asked each time, as for loads and stores."""
    accesses = binding.machine.accesses
    if accesses is None or binding.machine.geometry.cluster_ctas > 1:
        return None
    (to, locate_to), (from_, locate_from) = target, source
    if to is None or from_ is None:
        return None
    ends = (to, lambda: locate_to()[0][1]), (from_, lambda: locate_from()[0][1])
    return accesses.copy(binding.instruction, size, *ends)


def _commit(binding: Binding) -> Step:
    binding.expect(0)
    machine = binding.machine
    if machine.observer is None:
        return lambda: None
    observer, where = machine.observer, binding.instruction
    return lambda: observer.commit(where)


def _wait(binding: Binding) -> Step:
    machine = binding.machine
    left = 0
    if "wait_group" in binding.modifiers:
        (operand,) = binding.expect(1)
        if not isinstance(operand, Integer):
            raise binding.error("'cp.async.wait_group' takes a constant")
        left = operand.value
    everything = "wait_all" in binding.modifiers
    observer, where = machine.observer, binding.instruction
    if observer is None:
        return lambda: None
    return lambda: observer.wait(where, left, uncommitted=everything)

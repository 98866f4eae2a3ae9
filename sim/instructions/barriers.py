"""`bar`, `barrier`, fences. PTX ISA, "bar, barrier", "bar.warp.sync", "membar / fence"."""

from __future__ import annotations

from ..barriers import reduction
from ..binding import Binding
from ..machine import Step
from ..ptx.module import Instruction, Integer
from ..sync import BarrierSync
from ..taint.flows import harm
from ..traits import PLAIN, First, Sync, Traits, Unit
from .registry import instruction
from .warp import members


def _meeting(barrier: Instruction) -> Traits:
    if "cluster" in barrier.modifiers:
        return Traits(sync=Sync.CLUSTER)
    first = First.RESULT if "red" in barrier.modifiers else First.SOURCE
    return Traits(sync=Sync.WARP if "warp" in barrier.modifiers else Sync.CTA, first=first)


@instruction("bar", "barrier", traits=_meeting, unit=Unit.SYNC, undefined=harm)
def _bar(binding: Binding) -> Step:
    modifiers = binding.modifiers
    if "cluster" in modifiers:
        from . import cluster  # noqa: PLC0415 (few kernels have any)

        return cluster.bind_barrier(binding)
    if "warp" in modifiers:
        return _warp(binding)
    aligned = binding.instruction.opcode == "bar" or "aligned" in modifiers
    if "red" in modifiers:
        return _red(binding, aligned)
    arrive = "arrive" in modifiers
    if not arrive and "sync" not in modifiers:
        raise binding.error(f"unsupported instruction '{binding.instruction.mnemonic}'")
    number, *count = binding.expect(1, 2)
    sync = binding.sync = BarrierSync(
        binding.instruction,
        binding.source(number, "u32"),
        binding.source(count[0], "u32") if count else None,
        aligned,
        arrive,
        always=not isinstance(number, Integer),
    )
    machine, where = binding.machine, binding.instruction

    def step() -> None:
        if machine.observer is not None:
            machine.observer.meet(where, int(machine.registers[sync.number].flat[0]))

    return step


def _red(binding: Binding, aligned: bool) -> Step:
    operation = next((m for m in binding.modifiers if m in ("popc", "and", "or")), None)
    if operation is None:
        raise binding.error(f"unsupported instruction '{binding.instruction.mnemonic}'")
    target, number, *rest = binding.expect(3, 4)
    to = binding.target(target, "u32" if operation == "popc" else "pred")
    predicate = binding.source(rest[-1], "pred")
    sync = BarrierSync(
        binding.instruction,
        binding.source(number, "u32"),
        binding.source(rest[0], "u32") if len(rest) == 2 else None,
        aligned,
        reduction=operation,
        predicate=predicate,
        target=to,
    )
    binding.sync = sync
    machine, where, registers = binding.machine, binding.instruction, binding.machine.registers

    def step() -> None:
        if machine.observer is not None:
            machine.observer.meet(where, int(registers[sync.number].flat[0]))
        active = machine.active()
        holds = (machine.full(registers[predicate]) & active).sum(axis=(1, 2))
        result = reduction(sync, holds, active.sum(axis=(1, 2)))
        if to is not None:
            machine.write(to, result[:, None, None])

    return step


def _warp(binding: Binding) -> Step:
    (who,) = binding.expect(1)
    members(binding, who)
    observer = binding.machine.observer
    return _nothing if observer is None else observer.meet_warp


@instruction("fence", "membar", traits=PLAIN, unit=Unit.SYNC, undefined=harm)
def _fence(binding: Binding) -> Step:
    machine, modifiers, where = binding.machine, binding.modifiers, binding.instruction
    observer = machine.observer
    if observer is None:
        return _nothing
    from . import cluster  # noqa: PLC0415 (few kernels have any)

    if "mbarrier_init" in modifiers:
        return lambda: cluster.publish(machine)
    if "proxy" in modifiers:
        if not any(word.startswith("async") for word in modifiers):
            return _nothing
        return lambda: observer.proxy_fence(where, machine.active())

    def fence() -> None:
        observer.fence(where)
        cluster.publish(machine)

    return fence


def _nothing() -> None:
    """Without checks nobody asks in which order memory is seen."""

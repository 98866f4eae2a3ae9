"""`wgmma`: products of warpgroups, fences and waits. PTX ISA, "Asynchronous Warpgroup Level …"."""

from __future__ import annotations

from dataclasses import replace

from tilec.isa import WARPGROUP_WARPS

from ..binding import Binding
from ..machine import Step
from ..ptx.module import Instruction, Integer
from ..sync import Members
from ..taint import warpgroups
from ..taint.flows import Flow, Flowing, half_or_whole
from ..traits import First, Sync, Traits, Unit
from ..warpgroup_product import Warpgroup
from .registry import instruction

_SYNC = Traits(sync=Sync.WARPGROUP)


def _traits(found: Instruction) -> Traits:
    products = "mma_async" in found.modifiers
    first = First.BOTH if products else First.RESULT
    return replace(_SYNC, matrix=products, asynchronous=products, first=first)


def _flow(flowing: Flowing) -> Flow:
    products = "mma_async" in flowing.binding.modifiers
    return (warpgroups.multiply if products else half_or_whole)(flowing)


def _unit(found: Instruction) -> Unit:
    return Unit.TENSOR if "mma_async" in found.modifiers else Unit.SYNC


@instruction("wgmma", traits=_traits, unit=_unit, undefined=_flow)
def _bind(binding: Binding) -> Step:
    binding.sync = Members(warps=WARPGROUP_WARPS)
    modifiers, machine = binding.modifiers, binding.machine
    watch = None if machine.observer is None else machine.observer.warpgroups
    where = binding.instruction
    match modifiers[0]:
        case "mma_async":
            return _product(binding)
        case "fence":
            binding.expect(0)
            return _nothing if watch is None else watch.fence
        case "commit_group":
            binding.expect(0)
            return _nothing if watch is None else lambda: watch.commit(where)
        case "wait_group":
            (operand,) = binding.expect(1)
            if not isinstance(operand, Integer) or operand.value < 0:
                raise binding.error("'wgmma.wait_group' takes a constant")
            left = operand.value
            return _nothing if watch is None else lambda: watch.wait(where, left)
    raise binding.error(f"unsupported instruction '{binding.instruction.mnemonic}'")


def _product(binding: Binding) -> Step:
    made = binding.product = Warpgroup(binding)
    return made.step


def _nothing() -> None:
    """Products are computed when they are issued: without checks there is nothing to wait for."""

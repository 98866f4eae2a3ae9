"""`tile-check-wgmma`: registers of products under way, as the ISA wants them fenced and awaited."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Flag
from math import prod
from typing import ClassVar

from tilec.dialects.semantics import control_flow
from tilec.dialects.semantics.control import last_of
from tilec.dialects.tile.ops import (
    WgmmaCommitOp,
    WgmmaFenceOp,
    WgmmaWaitOp,
)
from tilec.dialects.tile.ops.wgmma import WgmmaProduct
from tilec.dialects.tile.warpgroup import warpgroup_tile
from tilec.ir.aliases import Op, Value
from tilec.ir.mlir import ir

from .kernel_pass import Kernel, KernelPass

_BESIDES = 26
"""Registers that a small kernel needs besides its accumulators."""


class _State(Flag):
    """What may have been done to a fragment."""

    NONE = 0
    WRITTEN = 1
    """Written by another instruction since the last fence."""
    ORDERED = 2
    """Fenced, or given back by a wait and not touched."""
    FLIGHT = 4
    """A product works on it."""


@dataclass(frozen=True)
class CheckWgmma(KernelPass):
    """Refuse products whose registers are not fenced, or are used while they are under way.

    ptxas repairs some of this unasked and executes one product after the other in other cases
    (its notes C7514, C7517, C7519), or has no registers (C7602). A `tile.wgmma` takes fragments
    from a `tile.wgmma_fence`, a `tile.wgmma_wait` or another `tile.wgmma`; only that takes one in
    flight, until a wait whose `pending` covers its group gives it back.

    In and out: level 3; the program stays.
    """

    name: ClassVar[str] = "tile-check-wgmma"

    def run(self, kernel: Kernel) -> None:
        """Check a kernel."""
        if not kernel.named(*WgmmaProduct.__subclasses__()):
            return
        ops = [op for op in kernel.walk() if _has_fragments(op)]
        states = _states(ops)
        for op in ops:
            if isinstance(op, WgmmaProduct):
                _check_product(kernel, op, states)
            elif isinstance(op, WgmmaWaitOp):
                _check_wait(kernel, op)
            elif control_flow(op) is None and not _hands_on(op):
                _check_use(kernel, op, states)


def _hands_on(op: Op) -> bool:
    """Whether an op hands its operands to the loop or branch around it."""
    parent = op.operation.parent
    carries = parent is not None and control_flow(parent) is not None
    return carries and last_of(op.operation.block) == op.operation


def _is_fragment(value: Value) -> bool:
    return warpgroup_tile(value.type) is not None


def _has_fragments(op: Op) -> bool:
    return any(map(_is_fragment, (*op.operation.operands, *op.operation.results)))


def _states(ops: list[ir.OpView]) -> dict[Value, _State]:
    """What may have been done to each fragment, through loops and branches."""
    found: dict[Value, _State] = {}
    for op in ops:
        if control_flow(op) is None:
            state = _State.WRITTEN
            if isinstance(op, WgmmaProduct):
                state = _State.FLIGHT
            elif isinstance(op, WgmmaFenceOp | WgmmaWaitOp):
                state = _State.ORDERED
            found |= {result: state for result in op.results if _is_fragment(result)}
    changed = True
    while changed:
        changed = False
        for op in ops:
            control = control_flow(op)
            for source, target in control.flows(op.operation) if control else ():
                before = found.get(target, _State.NONE)
                after = before | found.get(source, _State.NONE)
                if _is_fragment(target) and after != before:
                    found[target], changed = after, True
    return found


def _check_product(kernel: Kernel, op: WgmmaProduct, states: dict[Value, _State]) -> None:
    for number, value in enumerate(op.operands):
        state = states.get(value, _State.NONE)
        if _State.WRITTEN in state:
            kernel.error(
                op,
                f"takes operand {number} from registers that another instruction may have written "
                "since the last tile.wgmma_fence; legal: what such a fence gives back",
            )
        if number == 0 and _State.FLIGHT in state:
            kernel.error(op, "takes A from an accumulator in flight; legal: behind tile.wgmma_wait")
    _check_registers(kernel, op)


def _check_registers(kernel: Kernel, op: WgmmaProduct) -> None:
    size, target = kernel.block_size, kernel.target
    if size is None or target is None:
        return
    entry = target.registers_at_entry(prod(size))
    needed = op.key.operand("d").registers + _BESIDES
    if needed > entry:
        kernel.error(
            op,
            f"needs about {needed} registers a thread, {needed - _BESIDES} of them the accumulator;"
            f" at the entry of a CTA of {prod(size)} threads each has {entry}, whatever "
            "setmaxnreg adds; legal: fewer columns or threads",
        )


def _check_use(kernel: Kernel, op: Op, states: dict[Value, _State]) -> None:
    for number, value in enumerate(op.operation.operands):
        if _State.FLIGHT in states.get(value, _State.NONE):
            kernel.error(
                op,
                f"uses operand {number} while a tile.wgmma may work on it; legal: what a "
                "tile.wgmma_wait gives back, and in flight only another tile.wgmma",
            )


def _check_wait(kernel: Kernel, op: WgmmaWaitOp) -> None:
    """Count the groups closed between a product and the wait, where both are in one block."""
    pending = op.pending.value
    for number, value in enumerate(op.operands):
        maker = value.owner
        if isinstance(maker, ir.Block) or not isinstance(maker.opview, WgmmaProduct):
            continue
        if maker.operation.block != op.operation.block:
            continue
        closed = _commits_between(maker.operation, op.operation)
        if closed is not None and pending >= closed:
            what = f"leaves {pending} groups under way, the one of operand {number} among them"
            if not closed:
                what = f"waits for operand {number}, whose group no tile.wgmma_commit has closed"
            legal = f"pending of at most {closed - 1}" if closed else "a tile.wgmma_commit before"
            kernel.error(op, f"{what}; legal: {legal}")


def _commits_between(first: ir.Operation, last: ir.Operation) -> int | None:
    """Groups closed between two ops of a block; None where loops or branches may close some."""
    count, inside = 0, False
    for op in first.block.operations:
        if op.operation == last:
            return count
        if inside and isinstance(op, WgmmaCommitOp):
            count += 1
        elif inside and any(isinstance(one, WgmmaCommitOp) for one in _within(op)):
            return None
        inside = inside or op.operation == first
    return None


def _within(op: ir.OpView) -> list[ir.OpView]:
    inner = [i for region in op.regions for block in region for i in block.operations]
    return [one for i in inner for one in (i, *_within(i))]

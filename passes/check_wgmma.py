"""`tile-check-wgmma`: registers of products in flight, as the ISA wants them fenced and awaited."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import ClassVar

from tilec.dialects.semantics import control_flow
from tilec.dialects.semantics.control import last_of
from tilec.dialects.tile.ops import WgmmaWaitOp
from tilec.dialects.tile.ops.wgmma import WgmmaProduct
from tilec.ir.aliases import Op, Value
from tilec.isa import WARPGROUP_THREADS
from tilec.isa.wording import counted

from .analysis.costs import BESIDES
from .analysis.fragment_states import NOTHING, Known, State, fragment_states, is_fragment
from .analysis.overwritten_operands import overwritten_product
from .analysis.products_in_flight import Flight, follow, product_of
from .analysis.register_counts import changes
from .base import Diagnostic
from .kernel_pass import Kernel, KernelPass
from .nvvm.registers import warpgroup_packing


@dataclass(frozen=True)
class CheckWgmma(KernelPass):
    """Reject products whose registers are not fenced, or are used while they are in flight.

    ptxas silently repairs some of these errors, serialises products for others (its notes
    C7514, C7517, C7519), or runs out of registers (C7602). A `tile.wgmma` accepts fragments
    from a `tile.wgmma_fence` or another `tile.wgmma` of its shape, not from a wait. No other op
    may use one in flight, until a wait whose `pending` covers its group on every path returns
    it. No product may be in flight when the kernel ends, or while its shared memory is
    certainly overwritten. If `tile.warpgroup_id` decides which warpgroups execute `setmaxnreg`,
    their register counts must not exceed the registers of the SM.

    Requiring a fence after a wait is stricter than the ISA if nothing accesses the accumulators
    before a product of the same shape continues with them (PTX ISA, `wgmma.fence`). But LLVM
    may copy the values that a wait returns to other registers, which is such an access, and in
    a loop ptxas 13.0 inserts a fence itself. A fence costs one instruction.

    In and out: level 3; the program does not change.
    """

    name: ClassVar[str] = "tile-check-wgmma"

    def run(self, kernel: Kernel) -> None:
        """Check a kernel."""
        _check_counts(kernel)
        if not kernel.named(*WgmmaProduct.__subclasses__()):
            return
        ops = [op for op in kernel.walk() if _has_fragments(op)]
        states = fragment_states(ops)
        for op in ops:
            if isinstance(op, WgmmaProduct):
                _check_product(kernel, op, states)
            elif isinstance(op, WgmmaWaitOp):
                continue
            elif control_flow(op) is None and not _hands_on(op):
                _check_use(kernel, op, states)
        end = follow(kernel.function, lambda op, flight: _check_flight(kernel, op, flight))
        if not kernel.errors:
            _check_end(kernel, end)


def _hands_on(op: Op) -> bool:
    """Whether an op hands its operands to the loop or branch around it."""
    parent = op.operation.parent
    carries = parent is not None and control_flow(parent) is not None
    return carries and last_of(op.operation.block) == op.operation


def _has_fragments(op: Op) -> bool:
    return any(map(is_fragment, (*op.operation.operands, *op.operation.results)))


def _check_product(kernel: Kernel, op: WgmmaProduct, states: Mapping[Value, Known]) -> None:
    for number, value in enumerate(op.operands):
        state = states.get(value, NOTHING).state
        if State.LOOSE in state:
            kernel.error(
                op,
                f"takes operand {number} from registers that another instruction may have "
                "written, or a wait returned, since the last tile.wgmma_fence; legal: "
                "results of such a fence",
            )
        if number == 0 and State.FLIGHT in state:
            kernel.error(op, "takes A from an accumulator in flight; legal: after tile.wgmma_wait")
    shape = str(op.key.shape)
    others = states.get(op.operands[2], NOTHING).shapes - {shape}
    if others:
        kernel.error(
            op,
            f"uses an accumulator that a product {min(others)} may work on, with one {shape};"
            " legal: after a tile.wgmma_wait and a tile.wgmma_fence, since only products of one "
            "shape are ordered",
        )
    _check_registers(kernel, op)


def _check_registers(kernel: Kernel, op: WgmmaProduct) -> None:
    size, target = kernel.block_size, kernel.target
    if size is None or target is None:
        return
    entry = target.registers_at_entry(prod(size))
    needed = op.key.operand("d").registers + BESIDES
    if needed > entry:
        kernel.error(
            op,
            f"needs about {counted(needed, 'register')} per thread, {needed - BESIDES} of them the "
            "accumulator;"
            f" at the entry of a CTA of {counted(prod(size), 'thread')} each has {entry}, whatever "
            "setmaxnreg adds; legal: fewer columns or threads",
        )


def _check_use(kernel: Kernel, op: Op, states: Mapping[Value, Known]) -> None:
    for number, value in enumerate(op.operation.operands):
        if State.FLIGHT in states.get(value, NOTHING).state:
            kernel.error(
                op,
                f"uses operand {number} while a tile.wgmma may use it; legal: results of a "
                "tile.wgmma_wait, and while in flight only another tile.wgmma",
            )


def _check_flight(kernel: Kernel, op: Op, flight: Flight) -> None:
    """Check an op against what may be in flight before it."""
    view = op.operation.opview
    if isinstance(view, WgmmaProduct | WgmmaWaitOp):
        _check_taken(kernel, view, flight)
    if isinstance(view, WgmmaWaitOp):
        _check_wait(kernel, view, flight)
    if isinstance(view, WgmmaProduct):
        _check_room(kernel, view, flight)
    product = overwritten_product(op, flight) if flight.reads else None
    if product is not None:
        kernel.error(
            op,
            "overwrites shared memory that a tile.wgmma may still read; legal: after a "
            "tile.wgmma_wait that covers its group",
            notes=(Diagnostic(product.location, "the product in flight", "note"),),
        )


def _check_room(kernel: Kernel, op: WgmmaProduct, flight: Flight) -> None:
    """Advise where all accumulators in flight have not room beside each other."""
    own = op.operands[2]
    others = [one for one in flight.ages if one != own and not _is_carried(one, op)]
    size, target = kernel.block_size, kernel.target
    if not others or size is None or target is None:
        return
    packings = [warpgroup_packing(value.type) for value in (*others, op.operands[2])]
    needed = sum(one.registers for one in packings if one is not None)
    entry = target.registers_at_entry(prod(size))
    if needed + BESIDES > entry:
        kernel.advise(
            op,
            "is in flight with other products: their accumulators take "
            f"{counted(needed, 'register')} per thread, and the kernel about {BESIDES} besides; at "
            f"the entry of a CTA of {counted(prod(size), 'thread')} each has {entry}, so ptxas "
            "executes one after the other and spills (C7511, C7512)",
        )


def _is_carried(value: Value, op: Op) -> bool:
    """Whether a loop around an op alone takes a value: it has it under another name."""
    users = [use.owner.operation for use in value.uses]
    return len(users) == 1 and control_flow(users[0]) is not None and _stands_in(op, users[0])


def _stands_in(op: Op, loop: Op) -> bool:
    around: Op | None = op.operation.parent
    while around is not None and around.operation != loop.operation:
        around = around.operation.parent
    return around is not None


def _check_taken(kernel: Kernel, op: WgmmaProduct | WgmmaWaitOp, flight: Flight) -> None:
    """Each product makes its accumulator its own: what else took it would take a copy."""
    numbers = (2,) if isinstance(op, WgmmaProduct) else range(len(op.operands))
    for number in numbers:
        taker = flight.taken.get(op.operands[number])
        if taker is not None:
            kernel.error(
                op,
                f"takes operand {number}, an accumulator that another tile.wgmma has used; "
                "legal: the result of the last product on it",
                notes=(Diagnostic(taker.location, "the product that has it", "note"),),
            )


def _check_wait(kernel: Kernel, op: WgmmaWaitOp, flight: Flight) -> None:
    """A wait gives back only what its `pending` covers, whichever way led to it."""
    pending = op.pending.value
    for number, value in enumerate(op.operands):
        closed = flight.ages.get(value)
        if closed is None or closed > pending:
            continue
        what = (
            f"leaves {counted(pending, 'group')} in flight, the one of operand {number} among them"
        )
        if not closed:
            what = f"waits for operand {number}, whose group no tile.wgmma_commit has closed"
        legal = f"pending of at most {closed - 1}" if closed else "a tile.wgmma_commit before"
        kernel.error(op, f"{what}; legal: {legal}")


def _check_end(kernel: Kernel, flight: Flight) -> None:
    """Nothing is in flight when threads exit."""
    for result in dict.fromkeys(result for result, _ in flight.reads):
        product = product_of(result)
        kernel.error(
            product,
            "may still be in flight when the kernel ends; legal: a tile.wgmma_commit and a "
            "tile.wgmma_wait of 0 after it, on every path",
        )


def _check_counts(kernel: Kernel) -> None:
    """The registers of all warpgroups, as setmaxnreg leaves them, are no more than there are."""
    size, target = kernel.block_size, kernel.target
    if size is None or target is None or not kernel.named("nvvm.setmaxregister"):
        return
    groups, odd = divmod(prod(size), WARPGROUP_THREADS)
    entry = target.registers_at_entry(prod(size))
    counts = []
    for group in range(groups):
        found = changes(kernel.function, group)
        if found is None or odd:
            return  # who comes to it is not known
        now = entry
        for change in found:
            if (change.registers < now) == change.increases and change.registers != now:
                kernel.error(
                    change.op,
                    f"{'increases' if change.increases else 'decreases'} registers to "
                    f"{change.registers}, of which warpgroup {group} has {now} there",
                )
            now = change.registers
        counts.append((now, found))
    total, there = sum(now for now, _ in counts), entry * groups
    last = next((found[-1] for _, found in reversed(counts) if found and found[-1].increases), None)
    if total > there and last is not None:
        kernel.error(
            last.op,
            f"waits forever for registers: the warpgroups request "
            f"{' + '.join(str(now) for now, _ in counts)} = {total} per thread; at entry the CTA "
            f"has "
            f"{groups} times {entry}, {there}",
        )

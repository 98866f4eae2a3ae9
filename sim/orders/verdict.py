"""What the exploration of all orders adds to a report."""

from __future__ import annotations

from dataclasses import dataclass, field

from tilec.isa.wording import counted

from ..ptx.module import Function, Module
from ..report import Finding
from ..wave import Geometry
from .divergence import lanes_apart
from .explore import Exploration, explore
from .objects import Race
from .ops import Op, Trace
from .order import Fault, Order
from .polling import asks_once, reads_clocks
from .recorder import OrderRecorder
from .summary import Orders

_SHOWN = 12
"""Steps before a fault that a finding names."""


@dataclass(slots=True)
class Verdict:
    """What is found.

    Attributes:
        summary: how much was looked at.
        findings: what is wrong in some order.
        unchecked: why not all orders have been looked at.
    """

    summary: Orders
    findings: list[Finding] = field(default_factory=list)
    unchecked: list[str] = field(default_factory=list)


def verdict(recorder: OrderRecorder, function: Function, geometry: Geometry, limit: int) -> Verdict:
    """Explore the orders of what was recorded."""
    for instruction in asks_once(function):
        recorder.differs(instruction, "asks an mbarrier and goes on either way")
    for instruction in reads_clocks(function):
        recorder.differs(instruction, "reads a clock")
    orders = steps = 0
    found = Verdict(Orders())
    # What is cut off would look like a deadlock.
    for trace in recorder.traces if recorder.left > 0 else ():
        apart = lanes_apart(trace)
        if apart is not None:
            lines = " and ".join(
                recorder.module.written_line(op.instruction.position) for op in apart
            )
            recorder.reasons[f"lanes of one warp wait apart at lines {lines}"] = None
            continue
        explored = explore(trace, limit - steps)
        orders, steps = orders + explored.orders, steps + explored.steps
        found.findings += _findings(recorder.module, geometry, trace, explored)
        if not explored.complete:
            recorder.reasons[f"there are more than {counted(f'{limit:,}', 'step')} of them"] = None
            break
        if explored.orders > 1 and not explored.faults:
            recorder.reasons[
                "warps may take different phases of a barrier; global and tensor memory is checked "
                "in one order only"
            ] = None
        if found.findings:
            break
    found.summary = Orders(len(recorder.traces), orders, steps)
    if recorder.reasons:
        found.unchecked = [f"orders other than the one that ran ({'; '.join(recorder.reasons)})"]
    return found


def _findings(
    module: Module, geometry: Geometry, trace: Trace, explored: Exploration
) -> list[Finding]:
    """One for each kind and line."""
    found: dict[tuple[str, int], Finding] = {}
    order = explored.order
    for fault in explored.faults:
        key = (fault.kind, fault.op.instruction.position)
        if key in found:
            found[key].count += 1
            continue
        assert order is not None
        said = _Said(module, geometry, trace)
        swaps = [said.swap(one, race) for one, race in explored.swaps]
        where = f", {', and '.join(swaps)}" if swaps else ""
        who = said.warp(fault.warp)
        found[key] = Finding(
            kind=f"order-{fault.kind}",
            message=(
                f"{module.place(fault.op.instruction)}: {who} {said.words(fault)} "
                f"({fault.op.instruction.mnemonic}) in an order that did not run{where}"
            ),
            line=module.line(fault.op.instruction),
            source=module.origin(fault.op.instruction),
            thread=who,
            address=fault.address,
            order=tuple(said.steps(order, fault.at)),
        )
    return list(found.values())


class _Said:
    """Steps in words."""

    def __init__(self, module: Module, geometry: Geometry, trace: Trace) -> None:
        self.module = module
        self.geometry = geometry
        self.trace = trace

    def warp(self, warp: int) -> str:
        """A warp."""
        cta, inside = divmod(warp, self.trace.per_cta)
        return f"warp {inside} of CTA {self.geometry.cta(self.trace.ctas[0] + cta)}"

    def op(self, warp: int, op: Op) -> str:
        """An op."""
        line = self.module.written_line(op.instruction.position)
        return f"'{op.instruction.mnemonic}' of line {line} ({self.warp(warp)})"

    def words(self, fault: Fault) -> str:
        """What is wrong."""
        words, *other = fault.words.split("\0")
        if not other:
            return words
        line = self.module.written_line(int(other[0]))
        return words.format(f"'{other[1]}' of line {line}")

    def swap(self, order: Order, race: Race) -> str:
        """In what an order differs from another."""
        first, second = (self.op(*order.ops[number]) for number in race)
        return f"with {second} before {first}"

    def steps(self, order: Order, end: int) -> list[str]:
        """The last steps before a fault."""
        return [
            f"{self.warp(warp)}: {op.instruction.mnemonic}, line {self.module.line(op.instruction)}"
            + (" completes" if name[1] >= 0 else "")
            for name, (warp, op) in list(zip(order.names, order.ops, strict=True))[:end][-_SHOWN:]
        ]

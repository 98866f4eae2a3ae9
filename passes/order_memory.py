"""`tile-order-memory`: barriers between accesses to global memory that depend on each other."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import ClassVar

from tilec.ir.mlir import ir

from .analysis.cta_accesses import CtaAccess, Role
from .analysis.memory_order import Hazard, MemoryOrder
from .analysis.memory_steps import StepReader, accesses_in
from .analysis.uniformity import Spread, control_of
from .analysis.written_arguments import record_written
from .base import Diagnostic, Pass, PassError, remark
from .functions import functions, gpu_modules


@dataclass(frozen=True)
class OrderMemory(Pass):
    """Put a barrier between accesses to global memory of which one depends on the other.

    In and out: level 2. The elements of a tile belong to threads of the CTA as its layout says, so
    that what one op stores another may load, or store anew, from other threads. Where both may
    touch one element, not surely by one thread, all threads wait for each other in between at a
    `gpu.barrier`, and for copies that still read. No barrier is needed between accesses

    - to arguments of which one is `llvm.noalias`,
    - to elements that lie apart: by constants, or by the steps that a loop's counter makes,
    - to the same place under layouts that give each element to the same one thread,
    - that only read, or that update by one `tile.atomic` function, in no order.

    Barriers that are there count. What comes before a loop is ordered in front of it, what rounds
    leave to each other in each round. Accesses of single threads, such as `memref.store` at a
    place of their own, are ordered against those of tiles, not against each other. A remark says
    of each barrier what it is for.

    Where an argument is `llvm.noalias`, the kernel's attribute `tile.written` lists the arguments
    that it may write, for `tile-kernel-abi`.
    """

    name: ClassVar[str] = "tile-order-memory"

    def apply(self, module: ir.Module) -> None:
        """Order the accesses of every kernel of `module`."""
        errors: list[Diagnostic] = []
        for gpu_module in gpu_modules(module):
            for function in functions(gpu_module):
                errors += _Ordering(function).run()
        if errors:
            raise PassError(errors)


class _Ordering:
    """The ordering of one kernel."""

    def __init__(self, function: ir.OpView) -> None:
        self._function = function
        self._order = MemoryOrder(function)

    def run(self) -> list[Diagnostic]:
        """Insert the barriers; the error of what none can order."""
        reader = StepReader(self._function)
        steps = reader.read()
        accesses = accesses_in(steps)
        record_written(self._function, accesses)
        if not any(access.of_cta for access in accesses):
            return []
        while (hazard := self._order.hazard(steps)) is not None:
            place = hazard.before
            while (branch := self._branch(place)) is not None:
                if any(_inside(access.op, branch) for access, _ in hazard.first):
                    return [_refused(hazard, branch)]
                place = branch
            _explain(hazard)
            _insert(hazard, place)
            steps = reader.read()
        return []

    def _branch(self, op: ir.Operation) -> ir.Operation | None:
        """The innermost op around `op` under which not all threads of the CTA may come to it."""
        if op.parent.operation == self._function.operation and op.block == _entry(self._function):
            return None
        found = control_of(self._order.uniformity, op, Spread.CTA)
        return None if found is None else found.operation


def _entry(function: ir.OpView) -> ir.Block:
    return function.regions[0].blocks[0]


def _inside(op: ir.Operation, outer: ir.Operation) -> bool:
    while op is not None and op.operation != outer:
        op = op.operation.parent
    return op is not None


def _insert(hazard: Hazard, place: ir.Operation) -> None:
    """Let all threads, and the copies that still read, have done with the first accesses."""
    i64 = ir.IntegerType.get_signless(64)
    with ir.InsertionPoint(place), hazard.second.op.location:
        if hazard.age < 0:
            ir.Operation.create("tile.async_commit")
        if hazard.age < inf:
            pending = ir.IntegerAttr.get(i64, max(0, int(hazard.age)))
            ir.Operation.create("tile.async_wait", attributes={"pending": pending})
        ir.Operation.create("gpu.barrier")


def _explain(hazard: Hazard) -> None:
    (first, _), *others = hazard.first
    where = "it" if hazard.before == hazard.second.op else f"the '{hazard.before.name}' around it"
    more = f" and {len(others)} more" if others else ""
    remark(
        hazard.second.op.location,
        f"{_told(hazard)}{more}, so that a barrier stands before {where}; none is needed between "
        f"{_promise(first, hazard.second)}",
        (Diagnostic(first.op.location, f"the '{first.op.name}' is here", "note"),),
    )


def _told(hazard: Hazard) -> str:
    second, (first, _) = hazard.second, hazard.first[0]
    return (
        f"'{second.op.name}' op {second.role.value} what other threads may not have "
        f"{_DONE[first.role]} yet by '{first.op.name}'"
    )


_DONE = {Role.READ: "read", Role.WRITE: "written", Role.UPDATE: "updated"}


def _promise(first: CtaAccess, second: CtaAccess) -> str:
    """What would make a barrier between two accesses needless."""
    if first.memref is None or second.memref is None:
        return "accesses that say what they touch"
    if first.memref != second.memref:
        return "arguments that share no memory, of which one is llvm.noalias"
    return "elements that lie apart, or accesses of one place under one layout"


def _refused(hazard: Hazard, branch: ir.Operation) -> Diagnostic:
    first, _ = hazard.first[0]
    return Diagnostic(
        hazard.second.op.location,
        f"{_told(hazard)}, and no barrier can stand between them under a '{branch.name}' that may "
        "send threads different ways; legal: conditions and bounds that are the same in all "
        f"threads, or {_promise(first, hazard.second)}",
        notes=(
            Diagnostic(branch.location, "the divergent control flow is here", "note"),
            Diagnostic(first.op.location, f"the '{first.op.name}' is here", "note"),
        ),
    )

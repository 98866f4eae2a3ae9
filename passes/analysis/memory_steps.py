"""What a kernel does with memory, step by step, and nothing else of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from tilec.dialects.semantics import Resource, control_flow, orders, semantics_of
from tilec.dialects.semantics.control import Branch, Conditional, Counted
from tilec.dialects.tile.ops import AsyncCommitOp, AsyncWaitOp
from tilec.ir.mlir import ir
from tilec.isa import Target

from .cta_accesses import CtaAccess, accesses_of


@dataclass(frozen=True, slots=True)
class Barrier:
    """All threads of the CTA come here before any goes on."""


@dataclass(frozen=True, slots=True)
class Commit:
    """The group of each thread's copies so far is closed."""


class Wait(NamedTuple):
    """Each thread waits until at most `pending` of its latest groups are in flight."""

    pending: int


class Choice(NamedTuple):
    """One of several ways.

    Attributes:
        op: what chooses; None inside of an op of which it is not known how.
        ways: their steps.
    """

    op: ir.OpView | None
    ways: tuple[Steps, ...]


class Loop(NamedTuple):
    """Rounds.

    Attributes:
        op: the loop, or what the rounds begin at.
        test: steps of each round before it is decided whether it is the last.
        body: steps of a round that is not.
    """

    op: ir.OpView
    test: Steps
    body: Steps


Step = CtaAccess | Barrier | Commit | Wait | Choice | Loop
Steps = tuple[Step, ...]


def accesses_in(steps: Iterable[Step]) -> list[CtaAccess]:
    """All accesses, in program order."""
    found: list[CtaAccess] = []
    for step in steps:
        match step:
            case CtaAccess():
                found.append(step)
            case Choice():
                found += (access for way in step.ways for access in accesses_in(way))
            case Loop():
                found += accesses_in((*step.test, *step.body))
    return found


class StepReader:
    """Reads the steps of one kernel.

    Args:
        function: the kernel.
        target: what it is for.
    """

    def __init__(self, function: ir.OpView, target: Target | None) -> None:
        self._function = function
        self._target = target

    def read(self) -> Steps:
        """The kernel's steps."""
        return self._region(self._function.regions[0])

    def _region(self, region: ir.Region) -> Steps:
        """The steps of a region: of blocks that branch to each other, in any order, any number."""
        first, *others = [self._block(block) for block in region] or [()]
        later = accesses_in(step for steps in others for step in steps)
        if not later:
            return first
        operations = region.blocks[0].operations
        return (*first, Loop(operations[len(operations) - 1], (), tuple(later)))

    def _block(self, block: ir.Block) -> Steps:
        return tuple(step for op in block.operations for step in self._steps(op))

    def _steps(self, op: ir.OpView) -> Iterable[Step]:
        if semantics_of(op).effects == ():  # most, among them control flow, whose regions count
            return self._regions(op) if len(op.regions) else ()
        if len(op.regions):
            return self._regions(op)
        if isinstance(op, AsyncCommitOp):
            return [Commit()]
        if isinstance(op, AsyncWaitOp):
            return [Wait(int(op.pending.value))]
        if orders(op, Resource.BARRIERS):
            return [Barrier()] if _is_whole(op) else []
        return accesses_of(op, self._target)

    def _regions(self, op: ir.OpView) -> list[Step]:
        parts = tuple(self._region(region) for region in op.regions)
        if not any(parts):
            return []
        match control_flow(op):
            case Counted():
                return [Loop(op, (), parts[0])]
            case Conditional():
                return [Loop(op, parts[0], parts[1])]
            case Branch():
                return [Choice(op, parts)]
        # Of any other op it is not known which regions run, and how often.
        return [Loop(op, (), (Choice(None, (*parts, ())),))]


def _is_whole(barrier: ir.OpView) -> bool:
    """Whether all threads of the CTA come to a barrier, and it orders global memory."""
    attributes = barrier.attributes
    fences = str(attributes["address_spaces"]) if "address_spaces" in attributes else "global"
    scope = str(attributes["scope"]) if "scope" in attributes else "workgroup"
    return not len(barrier.operands) and "global" in fences and "subgroup" not in scope

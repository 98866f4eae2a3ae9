"""Loads that may begin together, and moving what they need in front of the first."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from tilec.dialects.tile.ops import LoadOp
from tilec.ir.aliases import Block, Op
from tilec.ir.mlir import ir

from ..analysis.effects import Writers
from ..analysis.index_forms import is_pure
from .staging_vectors import memory_shape


class StagingGroup(NamedTuple):
    """Loads of one block that all may stand where the first one stands.

    Attributes:
        loads: in program order.
        needs: ops between the first and the last of which indices are computed.
    """

    loads: tuple[LoadOp, ...]
    needs: tuple[ir.Operation, ...]

    @property
    def first(self) -> LoadOp:
        """The load where all begin."""
        return self.loads[0]

    def hoist(self, loads: list[LoadOp]) -> None:
        """Move what `loads` need in front of the first of the group."""
        wanted = {op for load in loads for op in slice_of(load, self.first.operation.block)}
        for op in self.needs:
            if op in wanted:
                op.move_before(self.first.operation)

    def by_memory(self) -> Iterator[list[LoadOp]]:
        """The loads, those of the same elements together."""
        found: dict[tuple[object, ...], list[LoadOp]] = {}
        for load in self.loads:
            key = (tuple(load.operands), memory_shape(load), "masked" in load.attributes)
            found.setdefault(key, []).append(load)
        yield from found.values()


def grouped(loads: list[LoadOp], writers: Writers) -> Iterator[StagingGroup]:
    """Loads taken together as far as their order against writes and their indices allow."""
    blocks: dict[Block, list[LoadOp]] = {}
    for load in loads:
        blocks.setdefault(load.operation.block, []).append(load)
    for block, inside in blocks.items():
        ops = list(block.operations)
        at = {op.operation: number for number, op in enumerate(ops)}
        pending = inside
        while pending:
            head = at[pending[0].operation]
            members, needs = [pending[0]], set[ir.Operation]()
            rest: list[LoadOp] = []
            for load in pending[1:]:
                between = ops[head : at[load.operation]]
                late = {op for op in slice_of(load, block) if at[op] > head}
                if writers.between(between, load.operands[0]) or not all(map(is_pure, late)):
                    rest.append(load)
                    continue
                members.append(load)
                needs |= late
            yield StagingGroup(tuple(members), tuple(sorted(needs, key=at.__getitem__)))
            pending = rest


def slice_of(load: Op, block: Block) -> list[ir.Operation]:
    """The ops of `block` from which the operands of `load` are computed."""
    found: list[ir.Operation] = []
    pending = list(load.operation.operands)
    while pending:
        owner = pending.pop().owner
        if isinstance(owner, ir.Block):
            continue
        operation = owner.operation
        if operation.block == block and operation not in found:
            found.append(operation)
            pending += operation.operands
    return found

"""Upstream's interfaces, from declarations: what lets upstream's clean-up work on tile ops.

Upstream's passes take an op without effects for one that they may merge, drop, and sink into a
branch. They know nothing of who executes an op together, so only ops that each lane executes for
itself may say so; of all others they are told nothing, and leave them where they are.
"""

from __future__ import annotations

from collections.abc import Iterable

from tilec.ir.mlir import ir

from .declaration import UNKNOWN, Semantics
from .scope import Scope


class NoEffects(ir.MemoryEffectsOpInterface):
    """Of an op that has none."""

    @staticmethod
    def get_effects(op: ir.Operation, effects: ir.MemoryEffectInstancesList) -> None:
        """Add nothing."""
        del op, effects


def attach_interfaces(ops: Iterable[type[ir.OpView]], context: ir.Context) -> None:
    """Tell upstream of those of `ops` that only compute, each lane for itself.

    Args:
        ops: classes of one dialect, which `context` has loaded.
        context: where programs will be.
    """
    for op in ops:
        if is_lanes_own(getattr(op, "SEMANTICS", UNKNOWN)):
            NoEffects.attach(op.OPERATION_NAME, context=context)


def is_lanes_own(semantics: Semantics) -> bool:
    """Whether an op of any type only computes, each lane for itself."""
    return semantics.effects == () and semantics.scope is Scope.LANE

"""The declaration of an op."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tilec.ir.mlir import ir

from .control import ControlFlow
from .effects import Touch
from .layouts import LayoutRule
from .place import Place
from .scope import Scope
from .spread import Variation


@dataclass(frozen=True, slots=True)
class Semantics:
    """What an op means. What is not said is not known, and passes take the worst for granted.

    Attributes:
        scope: the threads that execute it together, or what says so of one op.
        effects: all that it does besides giving results; None where that is not known. An op
            whose results nobody uses is removed if it has only reads and allocations.
        varies: how its results vary over threads, or what says so of one op.
        layouts: what it asks of the layouts of tiles.
        aliases: number of the operand, a memref, into whose memory the result points.
        control: what it does with its regions.
        place: what it says of where its CTA is in the launch, and of nothing else; else None.
        uniform: gives the operands of one op that must be the same in all threads of the CTA.
        cost: instructions of a warp for each register of the result, where it is computed once
            more under another layout; None where it must not be.
    """

    scope: Scope | Callable[[Any], Scope] = Scope.CLUSTER
    effects: tuple[Touch, ...] | None = None
    varies: Variation | Callable[[Any], Variation] = Variation.DIVERGENT
    layouts: LayoutRule = LayoutRule.UNKNOWN
    aliases: int | None = None
    control: ControlFlow | None = None
    cost: int | None = None
    place: Place | None = None
    uniform: Callable[[Any], Sequence[ir.Value]] | None = None

    def but(self, **changes: Any) -> Semantics:
        """The same with some attributes changed."""
        return replace(self, **changes)


UNKNOWN = Semantics()
"""Of an op that says nothing."""

PURE = Semantics(scope=Scope.LANE, effects=(), varies=Variation.AS_OPERANDS)
"""Of an op that only computes its results, each lane for itself."""

OF_A_WARP = PURE.but(scope=Scope.WARP)
"""Of an op that computes with all lanes of a warp: an instruction that moves data between them."""

"""What has been done to fragments of warpgroups, whichever way they came."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Flag

from tilec.dialects.semantics import control_flow
from tilec.dialects.tile.ops import WgmmaFenceOp
from tilec.dialects.tile.ops.wgmma import WgmmaProduct
from tilec.dialects.tile.warpgroup import warpgroup_tile
from tilec.ir.aliases import Value
from tilec.ir.mlir import ir


class State(Flag):
    """What may have been done to a fragment."""

    NONE = 0
    LOOSE = 1
    """Written by another instruction, or given back by a wait, since the last fence."""
    ORDERED = 2
    """Fenced, and not touched."""
    FLIGHT = 4
    """A product works on it."""


@dataclass(frozen=True)
class Known:
    """What is known of a fragment.

    Attributes:
        state: what may have been done to it.
        shapes: of the products that may work on it.
    """

    state: State = State.NONE
    shapes: frozenset[str] = frozenset()

    def joined(self, other: Known) -> Known:
        """What is known of what is either."""
        return Known(self.state | other.state, self.shapes | other.shapes)


NOTHING = Known()


def fragment_states(ops: Iterable[ir.OpView]) -> dict[Value, Known]:
    """What is known of each fragment that ops of a function make, loops and branches among them.

    An argument of the function counts as written.
    """
    found: dict[Value, Known] = {}
    flows: list[tuple[Value, Value]] = []
    for op in ops:
        flows += _flows(op)
        if control_flow(op) is not None:
            continue
        known = Known(State.LOOSE)
        if isinstance(op, WgmmaProduct):
            known = Known(State.FLIGHT, frozenset({str(op.key.shape)}))
        elif isinstance(op, WgmmaFenceOp):
            known = Known(State.ORDERED)
        found |= {result: known for result in op.results if is_fragment(result)}
    changed = True
    while changed:
        changed = False
        for source, target in flows:
            after = found.get(target, NOTHING).joined(found.get(source, NOTHING))
            if after != found.get(target, NOTHING):
                found[target], changed = after, True
    return found


def _flows(op: ir.OpView) -> Iterator[tuple[Value, Value]]:
    """Which fragment becomes which."""
    control = control_flow(op)
    for source, target in control.flows(op.operation) if control is not None else ():
        if is_fragment(target):
            yield source, target


def is_fragment(value: Value) -> bool:
    """Whether a value is the fragment of a warpgroup."""
    return warpgroup_tile(value.type) is not None

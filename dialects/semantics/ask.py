"""The questions that passes ask of an op, whoever defines it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tilec.ir.mlir import ir

from .control import ControlFlow
from .declaration import UNKNOWN, Semantics
from .effects import FINDS, MEMORIES, Access, Effect, Resource, Touch, resource_of
from .layouts import LayoutRule
from .place import Place
from .scope import Scope
from .spread import Variation
from .upstream import FUNCTIONS, upstream

Op = ir.Operation | ir.OpView

_CHANGES = frozenset({Access.WRITE, Access.ORDER})


_BY_CLASS: dict[type, Semantics] = {}
"""The declarations of ops that have a class of their own, which is asked often."""


def semantics_of(op: Op) -> Semantics:
    """The declaration of an op: its class's, upstream's, or that nothing is known."""
    known = _BY_CLASS.get(type(op))
    if known is not None:
        return known
    kind = type(op.opview if isinstance(op, ir.Operation) else op)
    known = _BY_CLASS.get(kind)
    if known is not None:
        return known
    found: Semantics = getattr(kind, "SEMANTICS", None) or upstream(op.operation.name) or UNKNOWN
    if kind is not ir.OpView:  # which stands for all that have no class
        _BY_CLASS[kind] = found
    return found


def scope_of(op: Op) -> Scope:
    """The threads that must execute an op together."""
    scope = semantics_of(op).scope
    return scope if isinstance(scope, Scope) else scope(op.operation.opview)


def variation_of(op: Op) -> Variation:
    """How the results of an op vary over threads."""
    varies = semantics_of(op).varies
    return varies if isinstance(varies, Variation) else varies(op.operation.opview)


def place_of(op: Op) -> Place | None:
    """What an op says of where its CTA is in the launch, and of nothing else; else None."""
    return semantics_of(op).place


def uniform_operands(op: Op) -> Sequence[ir.Value]:
    """The operands of an op that must be the same in all threads of the CTA."""
    found = semantics_of(op).uniform
    return () if found is None else found(op.operation.opview)


def effects_of(op: Op) -> tuple[Effect, ...] | None:
    """What an op does besides giving results, its regions apart; None where that is not known."""
    touches_ = semantics_of(op).effects
    return None if touches_ is None else tuple(touch.of(op.operation) for touch in touches_)


def is_removable(op: Op) -> bool:
    """Whether an op may go where nobody uses its results."""
    touched = semantics_of(op).effects
    return touched is not None and not any(touch.access in _CHANGES for touch in touched)


def is_movable(op: Op) -> bool:
    """Whether an op only computes, each lane for itself, so that it may be moved and repeated."""
    found = semantics_of(op)
    return found.effects == () and found.scope is Scope.LANE and found.control is None


def writes(op: Op, resource: Resource) -> Iterator[ir.Value | None]:
    """Through which memrefs an op may write a resource; None for any of it."""
    declared = semantics_of(op).effects
    if declared is None:
        yield None
        return
    for touch in declared:
        if touch.access is Access.WRITE and _is_of(touch, op, resource):
            yield None if touch.operand is None else op.operation.operands[touch.operand]


def touches(op: Op, resource: Resource) -> bool:
    """Whether an op may read, write or order a resource."""
    declared = semantics_of(op).effects
    return declared is None or any(
        touch.access is not Access.ALLOCATE and _is_of(touch, op, resource) for touch in declared
    )


def _is_of(touch: Touch, op: Op, resource: Resource) -> bool:
    """Whether a declared effect of one op is on a resource."""
    if touch.resource is not None:
        return touch.resource is resource
    assert touch.operand is not None
    return resource_of(op.operation.operands[touch.operand].type) is resource


def orders(op: Op, resource: Resource) -> bool:
    """Whether an op orders accesses of a resource against others'."""
    declared = semantics_of(op).effects or ()
    return any(t.access is Access.ORDER and t.resource is resource for t in declared)


def is_ordering(op: Op) -> bool:
    """Whether an op orders accesses of any memory."""
    declared = semantics_of(op).effects or ()
    return any(t.access is Access.ORDER and t.resource in MEMORIES for t in declared)


def finds(op: Op) -> bool:
    """Whether an op may give, or let memory hold, what no op of the kernel has made."""
    declared = semantics_of(op).effects
    return declared is None or FINDS in declared


def layout_rule(op: Op) -> LayoutRule:
    """What an op asks of the layouts of tiles."""
    known = _BY_CLASS.get(type(op))  # asked most often
    return (known or semantics_of(op)).layouts


def is_free(value: ir.Value) -> bool:
    """Whether a value comes from an op whose result can be had under any layout."""
    owner = value.owner
    return not isinstance(owner, ir.Block) and layout_rule(owner) is LayoutRule.FREE


def control_flow(op: Op) -> ControlFlow | None:
    """What an op does with its regions; None where it has none, or that is not known."""
    return semantics_of(op).control


def is_function(op: Op) -> bool:
    """Whether an op is a function, which control flow does not leave."""
    return op.operation.name in FUNCTIONS


def is_loop(op: Op) -> bool:
    """Whether what an op holds may be executed more than once."""
    control = control_flow(op)
    return control is not None and control.is_loop


def carried_values(op: Op) -> Iterator[tuple[ir.Value, ...]]:
    """The groups of values of which structured control flow makes one another."""
    control = control_flow(op)
    if control is not None:
        yield from control.carried(op.operation)


def aliased_operand(value: ir.Value) -> ir.Value | None:
    """The memref into whose memory `value` points, if an op made it of that; else None."""
    owner = value.owner
    if isinstance(owner, ir.Block):
        return None
    number = semantics_of(owner).aliases
    return None if number is None else owner.operands[number]


def root_memory(memref: ir.Value) -> ir.Value:
    """The memref that a view is taken of, through all views."""
    while (source := aliased_operand(memref)) is not None:
        memref = source
    return memref

"""`scf`: branches and loops."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from ..aliases import Attribute, Type, Value
from ..creation import emit
from ..mlir import ir


def yield_(values: Sequence[Value] = ()) -> ir.Operation:
    """The end of a region that gives these values."""
    return emit("scf.yield", values)


@contextmanager
def if_(condition: Value) -> Iterator[None]:
    """What is made inside is done where a condition holds."""
    with ir.InsertionPoint(branch(condition).regions[0].blocks.append()):
        yield
        yield_()


def branch(condition: Value, results: Sequence[Type] = ()) -> ir.Operation:
    """An `scf.if` whose two regions have no blocks yet."""
    return ir.Operation.create("scf.if", results=results, operands=[condition], regions=2)


def for_(
    bounds: Sequence[Value],
    start: Sequence[Value],
    attributes: Mapping[str, Attribute] | None = None,
) -> ir.Operation:
    """A loop whose region has no block yet.

    Args:
        bounds: the first number, the one that is too large, and the step.
        start: the values that it carries, before the first round.
        attributes: its attributes.
    """
    return ir.Operation.create(
        "scf.for",
        results=[value.type for value in start],
        operands=[*bounds, *start],
        attributes=dict(attributes or {}),
        regions=1,
    )


def while_(start: Sequence[Value], results: Sequence[Type]) -> ir.Operation:
    """A loop with a condition, whose two regions have no blocks yet."""
    return ir.Operation.create("scf.while", results=results, operands=start, regions=2)


def condition(holds: Value, values: Sequence[Value]) -> ir.Operation:
    """The end of the first region of `scf.while`: whether it goes on, and with which values."""
    return emit("scf.condition", [holds, *values])


def execute_region(results: Sequence[Type] = ()) -> ir.Operation:
    """A region that is executed once, without a block yet."""
    return ir.Operation.create("scf.execute_region", results=results, regions=1)

"""`scf`: branches and loops."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from ..aliases import Value
from ..creation import emit
from ..mlir import ir


def yield_(values: Sequence[Value] = ()) -> ir.Operation:
    """The end of a region that gives these values."""
    return emit("scf.yield", values)


@contextmanager
def if_(condition: Value) -> Iterator[None]:
    """What is made inside is done where a condition holds."""
    branch = ir.Operation.create("scf.if", operands=[condition], regions=2)
    with ir.InsertionPoint(branch.regions[0].blocks.append()):
        yield
        yield_()

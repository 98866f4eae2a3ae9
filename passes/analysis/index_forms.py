"""Indices as sums of multiples of values that are not sums."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from tilec.dialects.semantics import is_function, is_loop, is_movable
from tilec.ir.aliases import Op
from tilec.ir.mlir import ir

from ..emit import constant_of

_DEPTH = 32
"""Ops looked through."""

Loops = frozenset[ir.Operation]


@dataclass(frozen=True)
class Leaf:
    """A value that is not a sum; equal to another that is computed alike from the same values.

    Attributes:
        key: what it is computed by, and from what.
        value: the value, or one of those that are equal.
        loops: those in whose rounds it is computed anew.
    """

    key: object
    value: ir.Value = field(compare=False)
    loops: Loops = field(compare=False)


class IndexForm(NamedTuple):
    """A sum of a constant and multiples of leaves."""

    constant: int
    terms: dict[Leaf, int]


class IndexForms:
    """The indices of one kernel."""

    def __init__(self) -> None:
        self._forms: dict[ir.Value, IndexForm] = {}
        self._leaves: dict[ir.Value, Leaf] = {}

    def form(self, value: ir.Value, depth: int = _DEPTH) -> IndexForm:
        """A value of type index as a sum."""
        if value not in self._forms:
            self._forms[value] = self._sum(value, depth)
        return self._forms[value]

    def leaf(self, value: ir.Value, depth: int = _DEPTH) -> Leaf:
        """A value of any type as what it is computed by."""
        if value not in self._leaves:
            self._leaves[value] = self._computed(value, depth)
        return self._leaves[value]

    def _sum(self, value: ir.Value, depth: int) -> IndexForm:
        constant = constant_of(value)
        if constant is not None:
            return IndexForm(constant, {})
        owner = value.owner
        if depth and not isinstance(owner, ir.Block) and isinstance(value.type, ir.IndexType):
            operands = list(owner.operands)
            sign = _sign(owner.name)
            if sign:
                one, other = (self.form(operand, depth - 1) for operand in operands)
                return _plus(one, other, sign)
            multiple = _multiple(owner.name, operands)
            if multiple is not None:
                return _plus(IndexForm(0, {}), self.form(multiple[0], depth - 1), multiple[1])
        return IndexForm(0, {self.leaf(value): 1})

    def _computed(self, value: ir.Value, depth: int) -> Leaf:
        owner = value.owner
        if isinstance(owner, ir.Block) or not depth or not is_pure(owner.operation):
            return Leaf(value, value, _loops_around(value))
        op = owner.operation
        inner = [self.leaf(operand, depth - 1) for operand in op.operands]
        attributes = tuple((name, str(op.attributes[name])) for name in op.attributes)
        at = next(n for n, result in enumerate(op.results) if result == value)
        key = (op.name, at, str(value.type), attributes, *(leaf.key for leaf in inner))
        return Leaf(key, value, frozenset().union(*(leaf.loops for leaf in inner)))


def is_pure(op: Op) -> bool:
    """Whether an op of scalars only computes, so that it may be moved and repeated."""
    return is_movable(op) and not any(isinstance(r.type, ir.RankedTensorType) for r in op.results)


def _loops_around(value: ir.Value) -> Loops:
    """The loops in whose rounds a value is computed."""
    owner = value.owner
    op = owner.owner.operation if isinstance(owner, ir.Block) else owner.operation.parent
    found = set()
    while op is not None and not is_function(op):
        if is_loop(op):
            found.add(op.operation)
        op = op.operation.parent
    return frozenset(found)


def _sign(name: str) -> int:
    """What the second operand of a sum is multiplied by; 0 of an op that is none."""
    match name:
        case "arith.addi":
            return 1
        case "arith.subi":
            return -1
    return 0


def _multiple(name: str, operands: list[ir.Value]) -> tuple[ir.Value, int] | None:
    """The value that an op multiplies by a constant, and that; None if it does something else."""
    if name == "arith.shli":
        shift = constant_of(operands[1])
        return None if shift is None else (operands[0], 1 << shift)
    if name == "arith.muli":
        for value, other in (operands, reversed(operands)):
            constant = constant_of(other)
            if constant is not None:
                return value, constant
    return None


def _plus(one: IndexForm, other: IndexForm, factor: int) -> IndexForm:
    """A sum, and `factor` times another."""
    terms = dict(one.terms)
    for leaf, count in other.terms.items():
        terms[leaf] = terms.get(leaf, 0) + factor * count
    constant = one.constant + factor * other.constant
    return IndexForm(constant, {leaf: count for leaf, count in terms.items() if count})

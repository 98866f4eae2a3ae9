"""How far two indices lie apart, in one round of the loops around them or in different ones."""

from __future__ import annotations

from math import inf
from typing import NamedTuple

from tilec.dialects.semantics import control_flow, place_of
from tilec.dialects.semantics.control import Counted
from tilec.ir.mlir import ir

from ..emit import constant_of
from .index_forms import IndexForms, Leaf, Loops

_DEPTH = 8
"""Bounds of loops whose bounds are looked at."""


class Range(NamedTuple):
    """Least and greatest that a number may be; infinite where that is not known."""

    least: float
    greatest: float

    def plus(self, other: Range) -> Range:
        """The range of the sum with another number."""
        return Range(self.least + other.least, self.greatest + other.greatest)

    def times(self, factor: int) -> Range:
        """The range of `factor` times the number."""
        if not factor:
            return Range(0, 0)
        ends = self.least * factor, self.greatest * factor
        return Range(min(ends), max(ends))


ANYTHING = Range(-inf, inf)
NATURAL = Range(0, inf)


class Distances:
    """Distances of the indices of one kernel.

    A value has an *instance* in each round of the loops that it is computed in. `passed` are the
    loops that have gone on to a further round between the earlier instance and the later.
    """

    def __init__(self) -> None:
        self._forms = IndexForms()

    def same(self, later: ir.Value, earlier: ir.Value, passed: Loops) -> bool:
        """Whether two instances of values, of any type, are surely equal."""
        leaf = self._forms.leaf(later)
        return leaf == self._forms.leaf(earlier) and not leaf.loops & passed

    def between(self, later: ir.Value, earlier: ir.Value, passed: Loops) -> Range:
        """How much greater an index is than an earlier instance of another."""
        ours, theirs = self._forms.form(later), self._forms.form(earlier)
        difference = ours.constant - theirs.constant
        found = Range(difference, difference)
        for leaf in ours.terms.keys() | theirs.terms.keys():
            mine, its = ours.terms.get(leaf, 0), theirs.terms.get(leaf, 0)
            found = found.plus(self._apart(leaf, mine, its, passed))
        return found

    def _apart(self, leaf: Leaf, mine: int, its: int, passed: Loops) -> Range:
        """`mine` times a leaf, less `its` times an earlier instance."""
        changed = leaf.loops & passed
        if not changed:
            return self._of_leaf(leaf).times(mine - its)
        loop = counted_by(leaf.value)
        if mine == its and loop is not None and changed == {loop}:
            return self._progress(loop).times(mine)
        return self._of_leaf(leaf).times(mine).plus(self._of_leaf(leaf).times(-its))

    def _progress(self, loop: ir.Operation) -> Range:
        """How far the counter of a loop has gone since an earlier round."""
        lower, upper, step = list(loop.operands)[:3]
        least = max(1, self._of(step).least)
        most = self._of(upper).greatest - 1 - self._of(lower).least
        return Range(least, max(least, most))

    def _of(self, value: ir.Value, depth: int = _DEPTH) -> Range:
        """What an index may be."""
        form = self._forms.form(value)
        found = Range(form.constant, form.constant)
        for leaf, factor in form.terms.items():
            found = found.plus(self._of_leaf(leaf, depth).times(factor))
        return found

    def _of_leaf(self, leaf: Leaf, depth: int = _DEPTH) -> Range:
        """What a leaf may be."""
        loop = counted_by(leaf.value)
        if loop is not None and depth:
            lower, upper = list(loop.operands)[:2]
            return Range(self._of(lower, depth - 1).least, self._of(upper, depth - 1).greatest - 1)
        owner = leaf.value.owner
        if isinstance(owner, ir.Block):
            return ANYTHING
        if place_of(owner) is not None:
            return NATURAL
        match owner.name:
            case "arith.divui" | "memref.dim":
                return NATURAL
            case "arith.remui":
                by = constant_of(owner.operands[1])
                return Range(0, by - 1) if by is not None and by > 0 else ANYTHING
        return ANYTHING


def counted_by(value: ir.Value) -> ir.Operation | None:
    """The `scf.for` whose counter a value is, or None."""
    block = value.owner
    if not isinstance(block, ir.Block):
        return None
    control = control_flow(block.owner)
    is_counter = isinstance(control, Counted) and value == block.arguments[0]
    return block.owner.operation if is_counter else None

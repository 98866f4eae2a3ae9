"""The smallest input on which two forms of a kernel differ."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Protocol

import numpy as np
from tilec.isa import TilecError

from .compare import Difference
from .plans import Parameter, Plan, keep_elements

_TRIES = 120
"""Inputs that are tried at most."""


class Compared(Protocol):
    """Two forms of a kernel."""

    @property
    def known(self) -> tuple[Parameter, ...]:
        """Their arguments."""
        ...

    def difference(self, plan: Plan, /) -> Difference | None:
        """What differs on a plan's arguments."""
        ...


def smallest(pair: Compared, plan: Plan, found: Difference) -> tuple[Plan, Difference]:
    """A smaller plan that differs, and how: fewer CTAs, smaller extents, more zeros."""
    tries = _TRIES

    def differs(candidate: Plan) -> Difference | None:
        nonlocal tries
        if tries <= 0:
            return None
        tries -= 1
        try:
            return pair.difference(candidate)
        except TilecError:
            return None

    for candidates in (_grids, _scalars, _extents, _elements):
        plan, found = _descend(plan, found, pair.known, candidates, differs)
    return plan, found


_Candidates = Callable[[Plan, Sequence[Parameter]], Iterator[Plan]]


def _descend(
    plan: Plan,
    found: Difference,
    known: Sequence[Parameter],
    candidates: _Candidates,
    differs: Callable[[Plan], Difference | None],
) -> tuple[Plan, Difference]:
    """Take the first candidate that differs, as long as there is one."""
    while True:
        for candidate in candidates(plan, known):
            smaller = differs(candidate)
            if smaller is not None:
                plan, found = candidate, smaller
                break
        else:
            return plan, found


def _grids(plan: Plan, known: Sequence[Parameter]) -> Iterator[Plan]:
    del known
    for at, count in enumerate(plan.grid):
        if count > 1:
            x, y, z = (1 if at == axis else n for axis, n in enumerate(plan.grid))
            yield replace(plan, grid=(x, y, z))


def _scalars(plan: Plan, known: Sequence[Parameter]) -> Iterator[Plan]:
    for at, (one, value) in enumerate(zip(known, plan.scalars, strict=True)):
        if one.shape is None and value:
            yield replace(plan, scalars=(*plan.scalars[:at], 0, *plan.scalars[at + 1 :]))


def _extents(plan: Plan, known: Sequence[Parameter]) -> Iterator[Plan]:
    for at, one in enumerate(known):
        extents = plan.extents[at]
        if one.shape is None or extents is None or plan.shared is not None:
            continue
        for dim, (fixed, multiple) in enumerate(zip(one.shape, one.multiples, strict=True)):
            smaller = extents[dim] // 2 // multiple * multiple or multiple
            if fixed is None and smaller < extents[dim]:
                new = (*extents[:dim], smaller, *extents[dim + 1 :])
                yield replace(plan, extents=(*plan.extents[:at], new, *plan.extents[at + 1 :]))


def _elements(plan: Plan, known: Sequence[Parameter]) -> Iterator[Plan]:
    """Nothing of an argument, or half of what there is."""
    for at, extents in enumerate(plan.extents):
        if extents is None:
            continue
        kept = plan.kept[at] if plan.kept else None
        there = sorted(range(int(np.prod(extents))) if kept is None else kept)
        if not there:
            continue
        yield keep_elements(plan, at, frozenset(), known)
        half = len(there) // 2
        if half:
            yield keep_elements(plan, at, frozenset(there[:half]), known)
            yield keep_elements(plan, at, frozenset(there[half:]), known)


def describe(plan: Plan, known: Sequence[Parameter]) -> str:
    """A plan in words: extents, what is not zero, scalars, the grid."""
    words = []
    for at, (one, extents) in enumerate(zip(known, plan.extents, strict=True)):
        if extents is None:
            words.append(f"argument {at} is {plan.scalars[at]}")
            continue
        size = "x".join(map(str, extents))
        kept = plan.kept[at] if plan.kept else None
        text = f"argument {at} of {size}x{one.number}"
        if kept is not None:
            places = [list(map(int, np.unravel_index(n, extents))) for n in sorted(kept)[:3]]
            dots = ", …" if len(kept) > len(places) else ""
            text += f", zero but at {', '.join(map(str, places))}{dots}" if kept else ", all zero"
        words.append(text)
    if plan.shared:
        words.append("arguments {} and {} in one memory".format(*plan.shared))
    if plan.grid != (1, 1, 1):
        words.append(f"a grid of {'x'.join(map(str, plan.grid))}")
    return "; ".join(words) or "no arguments"

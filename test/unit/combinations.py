"""Combinations of parameters, of which CI runs some that have each value with each other one."""

from __future__ import annotations

import itertools
from collections.abc import Collection
from typing import Any

import pytest


def in_turn(first: Collection[Any], *others: Collection[Any]) -> list[Any]:
    """Every combination; marked slow but those with one value of the first, which take turns.

    So every combination of the others is run once without `-m slow`, and every value of the first,
    as a target, with each value of another that has at least as many.
    """
    found = []
    axes = [list(enumerate(axis)) for axis in (first, *others)]
    for chosen in itertools.product(*axes):
        its_turn = sum(place for place, _ in chosen) % len(first) == 0
        marks = [] if its_turn else [pytest.mark.slow]
        found.append(pytest.param(*(value for _, value in chosen), marks=marks))
    return found

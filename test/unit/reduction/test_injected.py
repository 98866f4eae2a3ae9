"""Faults drawn by seeds are reduced, unattended, to programs of fewer than fifteen lines.

`injected.json` is what `injected.py` has written of the seeds 0 to 45 and 50 to 113: each whose
program shows the fault. One is larger: it fails at two `scf.if` of which one yields to the other,
ten lines that nothing can do without.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from . import injected

LARGER = {89}
FOUND: list[dict[str, Any]] = json.loads(Path(__file__).with_name("injected.json").read_text())
LINES = 15
QUICK = [one for one in FOUND if one["programs"] < 40][::8]
"""A few that need little time."""


def test_fifty_of_them() -> None:
    seeds = {one["seed"] for one in FOUND}
    assert len(seeds) == len(FOUND) >= 50
    assert len({one["fault"] for one in FOUND}) > 20
    assert {one["seed"] for one in FOUND if one["lines"] >= LINES} <= LARGER
    assert all(one["lines"] < one["before"] for one in FOUND)


def is_small(one: dict[str, Any]) -> bool:
    """Whether the program of a seed still becomes small, and still shows the fault."""
    made = injected.inject(one["seed"])
    assert made.fault.name == one["fault"]
    found = injected.reduced(made)
    assert found is not None
    assert made.interest(found["left"])
    return bool(found["lines"] < LINES) or one["seed"] in LARGER


@pytest.mark.parametrize("one", QUICK, ids=lambda one: f"{one['seed']}")
def test_some_become_small(one: dict[str, Any]) -> None:
    assert is_small(one)


@pytest.mark.slow
@pytest.mark.parametrize("one", FOUND, ids=lambda one: f"{one['seed']}")
def test_each_becomes_small(one: dict[str, Any]) -> None:
    assert is_small(one)

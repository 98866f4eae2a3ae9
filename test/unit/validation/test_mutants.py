"""The validator names the pass of a mutant, of those that miscompile, drawn from seeds.

`bench.py` has found them in the functions that write IR. Those that several seeds gave are there
once; those whose functions have changed since are gone, and no other was left out.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from . import bench

HERE = Path(__file__).parent
FOUND = json.loads((HERE / "mutants.json").read_text())
QUICK = 5


@pytest.fixture(scope="module")
def programs() -> list[Any]:
    return [bench.known(*one) for one in bench.PROGRAMS]


def judged(found: list[dict[str, Any]], programs: list[Any]) -> tuple[int, int, list[Any]]:
    """How many mutants there still are, how many miscompile, and those that are not named."""
    there, wrong, missed = 0, 0, []
    for one in found:
        mutant = bench.mutation.Mutant(*(one[f] for f in bench.mutation.Mutant._fields))
        try:
            with bench.mutation.applied(mutant):
                there += 1
        except (LookupError, AttributeError, AssertionError):
            continue  # the function is not any more what it was
        verdict = bench.apart(mutant, programs)
        if verdict is not None:
            wrong += 1
            missed += [(mutant, verdict)] if verdict.mutated != verdict.named else []
    return there, wrong, missed


def test_each_is_there_once() -> None:
    assert len({(one["function"], one["place"], one["new"]) for one in FOUND}) == len(FOUND) >= 30


def test_some_are_named(programs: list[Any]) -> None:
    there, wrong, missed = judged(FOUND[:: len(FOUND) // QUICK], programs)
    assert there >= QUICK - 1, "draw others: python test/unit/validation/bench.py 0 900"
    assert wrong >= there - 1
    assert not missed


@pytest.mark.slow
def test_all_are_named(programs: list[Any]) -> None:
    there, wrong, missed = judged(FOUND, programs)
    assert there >= 0.8 * len(FOUND), "draw others: python test/unit/validation/bench.py 0 900"
    assert wrong >= 0.9 * there
    assert len(missed) <= 0.04 * wrong, missed

"""The validator names the pass of a mutant of the passes that make roles, rings, boxes and `wgmma`.

`hopper.py` has found them: changes of the functions that write what is special about Hopper, of
which each miscompiles a product, or a chain of two.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from . import bench, hopper

FOUND = json.loads(Path(__file__).with_name("hopper_mutants.json").read_text())


def test_they_are_found() -> None:
    """What is held is what the command gives, and nearly all are named."""
    assert len({(one["function"], one["place"], one["new"]) for one in FOUND}) == len(FOUND) >= 10
    assert sum(one["mutated"] == one["named"] for one in FOUND) >= 0.9 * len(FOUND)
    for one in FOUND:
        assert one["function"].removeprefix("tilec.passes.") in hopper.FUNCTIONS


@pytest.mark.slow
@pytest.mark.parametrize("one", FOUND, ids=lambda one: f"{one['function']}-{one['place']}")
def test_the_pass_is_named(one: dict[str, Any]) -> None:
    mutant = bench.mutation.Mutant(*(one[name] for name in bench.mutation.Mutant._fields))
    verdict = hopper.miscompiled(mutant, hopper.programs())
    assert verdict is not None
    assert verdict.named == one["named"]
    assert verdict.mutated == one["mutated"]

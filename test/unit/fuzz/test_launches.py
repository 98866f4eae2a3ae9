"""Kernels that are launched wrongly give by machine code what they give by numpy."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from tilec.sim.native.library import library

pytestmark = pytest.mark.skipif(library() is None, reason="no machine code for this processor")

HOUSE = Path(__file__).parents[2] / "fuzz"


@pytest.fixture(scope="module")
def launches() -> Iterator[ModuleType]:
    """The entry of the harness, whose modules have short names."""
    before = set(sys.modules)
    sys.path.insert(0, str(HOUSE))
    from entries import launches

    launches.prepare()
    yield launches
    sys.path.remove(str(HOUSE))
    for name in set(sys.modules) - before:
        file = getattr(sys.modules[name], "__file__", None)
        if file and Path(file).is_relative_to(HOUSE):
            del sys.modules[name]


SEEDS = [*range(4, 9), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(10, 300))]


@pytest.mark.parametrize("seed", SEEDS)
def test_random_kernels(launches: ModuleType, seed: int) -> None:
    rng = random.Random(f"launch {seed}")
    launches.run(launches.wrong(*launches.random_kernel(rng), rng))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100))
def test_kernels_of_examples_and_others(launches: ModuleType, seed: int) -> None:
    launches.run(launches.make(random.Random(f"case {seed}")))

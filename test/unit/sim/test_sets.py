"""Sets of integers against numpy's."""

from __future__ import annotations

import numpy as np
import pytest
from tilec.sim.checks.sets import distinct, within


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("most", [3, 500, 10_000_000])
def test_random_ones(seed: int, most: int) -> None:
    rng = np.random.default_rng(seed)
    some, others = (rng.integers(0, most, rng.integers(0, 300)) for _ in range(2))
    if some.size % 2 == 0:
        some = some.reshape(2, -1)
    each, theirs = distinct(some), distinct(others)
    assert each.tolist() == np.unique(some).tolist()
    assert within(each, theirs).tolist() == np.isin(each, theirs).tolist()


def test_apart() -> None:
    low, high = np.arange(10), np.arange(10, 20)
    assert not within(low, high).any()
    assert not within(high, low).any()
    assert within(low, low).all()

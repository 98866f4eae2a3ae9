"""Pruning, compression and metadata against loops over every legal choice."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tilec.isa import Mma, TilecError, form
from tilec.runtime import compress, expand, prune

FORMS = {
    "1:2": "mma.sp::ordered_metadata.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32",
    "2:4": "mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32",
    "4:8": "mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.s32.s4.s4.s32",
}
CHUNK = {"1:2": 2, "2:4": 4, "4:8": 8}


def choices(pattern: str) -> dict[int, tuple[int, ...]]:
    """Code to columns kept, in the order of the codes' positions."""
    if pattern == "1:2":
        return {0b0100: (0,), 0b1110: (1,)}
    pairs = combinations(range(4), 2)
    if pattern == "2:4":
        return {i | j << 2: (i, j) for i, j in pairs}
    return {i | j << 2: (2 * i, 2 * i + 1, 2 * j, 2 * j + 1) for i, j in pairs}


def sparse(pattern: str) -> Mma:
    found = form(FORMS[pattern])
    assert isinstance(found, Mma)
    return found


def numbers(rng, shape: tuple[int, ...]) -> np.ndarray:
    """Distinct magnitudes of either sign, some zeros."""
    size = int(np.prod(shape))
    values = rng.permutation(size) * rng.choice([-1, 1], size)
    return np.where(rng.random(size) < 0.3, 0, values).astype(np.float32).reshape(shape)


@pytest.mark.parametrize("pattern", FORMS)
@given(seed=st.integers(0, 10_000))
def test_prune_keeps_the_most(pattern, seed) -> None:
    f, chunk = sparse(pattern), CHUNK[pattern]
    matrix = numbers(np.random.default_rng(seed), (3, 4 * chunk))
    pruned = prune(f, matrix)
    assert ((pruned == matrix) | (pruned == 0)).all()
    for row, kept in zip(matrix, pruned, strict=True):
        for start in range(0, len(row), chunk):
            part, mine = row[start : start + chunk], kept[start : start + chunk]
            sums = [np.abs(part[list(c)]).sum() for c in choices(pattern).values()]
            assert np.abs(mine).sum() == max(sums)


@pytest.mark.parametrize("pattern", FORMS)
@given(seed=st.integers(0, 10_000), batch=st.booleans())
def test_compress_and_expand(pattern, seed, batch) -> None:
    f, chunk = sparse(pattern), CHUNK[pattern]
    matrix = prune(f, numbers(np.random.default_rng(seed), (2, 3, 4 * chunk)))
    matrix = matrix if batch else matrix[0]
    stored, codes = compress(f, matrix)
    assert stored.shape[-1] * 2 == matrix.shape[-1]
    table = choices(pattern)
    for index, code in np.ndenumerate(codes):
        columns = table[int(code)]
        part = matrix[index[:-1]][index[-1] * chunk :][:chunk]
        mine = stored[index[:-1]][index[-1] * chunk // 2 :][: chunk // 2]
        assert mine.tolist() == [part[c] for c in columns]
        assert not any(part[c] for c in range(chunk) if c not in columns)
    assert (expand(f, stored, codes) == matrix).all()


@pytest.mark.parametrize("pattern", FORMS)
def test_too_many_elements_are_named(pattern) -> None:
    f, chunk = sparse(pattern), CHUNK[pattern]
    matrix = np.zeros((4, 3 * chunk), np.float32)
    last = chunk + chunk - 1
    matrix[2, chunk : 2 * chunk] = 1
    with pytest.raises(TilecError, match=rf"row 2, column {last - chunk // 2 + 1}: not zero, but "):
        compress(f, matrix)


def test_other_refusals() -> None:
    f = sparse("2:4")
    with pytest.raises(TilecError, match="rows of 6 elements are not whole chunks of 4"):
        prune(f, np.zeros((2, 6)))
    stored, codes = compress(f, np.zeros((2, 8)))
    codes[1, 1] = 0b0001
    with pytest.raises(TilecError, match=r"row 1, column 1: code 0b0001 is not legal; legal: 0b01"):
        expand(f, stored, codes)
    dense = form("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32")
    assert isinstance(dense, Mma)
    with pytest.raises(TilecError, match="is dense"):
        compress(dense, np.zeros((2, 8)))


def test_pruning_ranks_far_magnitudes_and_specials() -> None:
    f = sparse("2:4")
    row = np.array([[1e30, 1e-30, 2e-30, 0, np.inf, -3, np.nan, 5]])
    kept = prune(f, row)
    assert kept[0, :4].tolist() == [1e30, 0, 2e-30, 0]
    assert kept[0, 4] == np.inf
    assert np.isnan(kept[0, 6])
    assert kept[0, [5, 7]].tolist() == [0, 0]

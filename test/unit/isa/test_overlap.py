"""Whether two arrays have a byte in common, against the bytes themselves."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tilec.isa.overlap import Extent, extent, overlap


def bytes_of(memory: Extent) -> set[int]:
    """Addresses, one by one."""
    return {
        memory.pointer + sum(i * s for i, s in zip(index, memory.strides, strict=True)) + byte
        for index in product(*map(range, memory.shape))
        for byte in range(memory.itemsize)
    }


@st.composite
def extents(draw: st.DrawFn) -> Extent:
    rank = draw(st.integers(1, 3))
    shape = tuple(draw(st.integers(0, 4)) for _ in range(rank))
    strides = tuple(draw(st.integers(-9, 9)) for _ in range(rank))
    return Extent(draw(st.integers(1000, 1030)), shape, strides, draw(st.sampled_from((1, 2, 4))))


@settings(max_examples=500, derandomize=True)
@given(extents(), extents())
def test_any_two(one: Extent, other: Extent) -> None:
    assert overlap(one, other) == bool(bytes_of(one) & bytes_of(other))


@settings(max_examples=200, derandomize=True)
@given(extents())
def test_bounds(one: Extent) -> None:
    low, high = one.bounds
    held = bytes_of(one)
    assert (low, high - 1) == (min(held), max(held)) if held else low == high


def test_views_of_numpy() -> None:
    whole = np.zeros((8, 8), np.float16)
    left, right = extent(whole[:, :4]), extent(whole[:, 4:])
    assert not overlap(left, right)
    assert overlap(left, extent(whole[:, 3:]))
    assert overlap(extent(whole[::-1]), extent(whole.T))
    assert not overlap(extent(whole[::2]), extent(whole[1::2]))
    assert not overlap(extent(whole[:0]), extent(whole))


def test_memory_that_is_not_there_is_not_touched() -> None:
    assert overlap(Extent(1 << 47, (4, 4), (16, 4), 4), Extent((1 << 47) + 20, (4,), (4,), 4))


def test_what_is_too_hard_to_know_is_taken_for_common_memory(monkeypatch) -> None:
    monkeypatch.setattr("tilec.isa.overlap._WORK", 1)
    one = Extent(4096, (64, 64, 64), (1001, 1003, 1007), 1)
    assert overlap(one, one._replace(pointer=4101))


@pytest.mark.parametrize("shape", [(), (0,), (3, 0)])
def test_arrays_without_extents_or_elements(shape: tuple[int, ...]) -> None:
    memory = Extent(64, shape, (8,) * len(shape), 8)
    assert overlap(memory, memory) == (0 not in shape)

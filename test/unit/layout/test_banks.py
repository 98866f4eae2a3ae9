"""Wavefronts and conflicts, by address and by algebra, equal a simulation of the banks."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tilec.isa import MatrixMemory, form, warp_forms
from tilec.layout import LayoutError, banks, wavefronts

FAST = settings(max_examples=150, derandomize=True)
widths = st.sampled_from((1, 2, 4, 8, 16))


@FAST
@given(st.data(), widths, st.booleans())
def test_any_addresses(bank_simulation, data, width, store):
    warps = data.draw(st.integers(1, 3))
    few = data.draw(st.sampled_from((2, 8, 64, 2048)))  # few words make broadcasts
    lane = st.tuples(st.integers(0, few), st.sampled_from((True, True, True, False)))
    drawn = data.draw(st.lists(lane, min_size=32 * warps, max_size=32 * warps))
    if data.draw(st.booleans()):  # lanes in pairs
        distance = data.draw(st.sampled_from((1, 2)))
        drawn = [drawn[i & ~distance] for i in range(len(drawn))]
    addresses = np.array([a * width for a, _ in drawn]).reshape(warps, 32)
    active = np.array([on for _, on in drawn]).reshape(warps, 32)
    found = wavefronts.count(addresses, width, active, store=store)
    assert found.wavefronts.shape == (warps,)
    for warp in range(warps):
        lanes = [
            int(a) if on else None for a, on in zip(addresses[warp], active[warp], strict=True)
        ]
        expected = bank_simulation(lanes, width, store=store)
        assert (found.wavefronts[warp], found.conflicts[warp]) == expected


@FAST
@given(st.data(), widths, st.booleans())
def test_linear_addresses(bank_simulation, data, width, store):
    bits = [data.draw(st.integers(0, 127)) * width for _ in range(5)]
    addresses = []
    for lane in range(32):
        address = 0
        for i, bit in enumerate(bits):
            address ^= bit * (lane >> i & 1)
        addresses.append(address)
    expected = bank_simulation(addresses, width, store=store)
    assert banks.count(bits, width, store=store) == expected
    assert wavefronts.count(np.array(addresses), width, store=store) == expected


MOVES = [f for f in warp_forms().values() if isinstance(f, MatrixMemory)]


@FAST
@given(st.sampled_from(MOVES), st.data())
def test_matrix_moves(bank_simulation, form, data):
    supplying = form.rows * form.matrices
    rows = data.draw(st.lists(st.integers(0, 63), min_size=32, max_size=32))
    addresses = np.array(rows) * form.row_bytes
    expected = bank_simulation(
        addresses[:supplying].tolist(), form.row_bytes, store=True, rows=True
    )
    assert wavefronts.count_matrix(form, addresses) == expected
    stacked = np.stack([addresses, addresses[::-1]])
    assert wavefronts.count_matrix(form, stacked).wavefronts.shape == (2,)
    assert wavefronts.count_matrix(form, stacked).wavefronts[0] == expected[0]


def test_known_cases():
    lane = np.arange(32)
    assert wavefronts.count(lane * 4, 4) == (1, 0)
    assert wavefronts.count(lane * 0, 4) == (1, 0)  # a broadcast
    assert wavefronts.count(lane * 8, 4) == (2, 1)
    assert wavefronts.count(lane * 128, 4) == (32, 31)
    assert wavefronts.count(lane * 132, 4) == (1, 0)  # padding
    assert wavefronts.count(lane, 1) == (1, 0)
    assert wavefronts.count(lane * 8, 8) == (2, 0)
    assert wavefronts.count(lane * 16, 16) == (4, 0)
    assert wavefronts.count(lane * 128, 16, store=True) == (32, 28)
    # forums.developer.nvidia.com/t/77228: four requests, and two where lanes go in pairs
    assert wavefronts.count(lane % 4 * 16, 16) == (4, 0)
    assert wavefronts.count(lane // 2 % 4 * 16, 16) == (2, 0)
    assert wavefronts.count(lane * 4, 4, lane < 0) == (0, 0)
    x4 = form("ldmatrix.sync.aligned.m8n8.x4.b16")
    assert wavefronts.count_matrix(x4, lane * 16) == (4, 0)
    assert wavefronts.count_matrix(x4, lane * 128) == (32, 28)
    assert wavefronts.count_matrix(x4, lane * 144) == (4, 0)


def test_no_such_width():
    with pytest.raises(LayoutError, match="no shared-memory access of 3 bytes; legal: 1, 2, 4, 8"):
        wavefronts.count(np.zeros(32, int), 3)


@pytest.mark.parametrize("shift", [-4096, -128, 128])
def test_addresses_may_be_relative(shift: int) -> None:
    rng = np.random.default_rng(3)
    lanes = 16 * rng.integers(0, 64, (8, 32))
    active = rng.random((8, 32)) < 0.7
    four = form("ldmatrix.sync.aligned.m8n8.x4.b16")
    assert isinstance(four, MatrixMemory)
    here, there = (wavefronts.count_matrix(four, at) for at in (lanes, lanes + shift))
    np.testing.assert_array_equal(here, there)
    here, there = (wavefronts.count(at, 16, active) for at in (lanes, lanes + shift))
    np.testing.assert_array_equal(here, there)

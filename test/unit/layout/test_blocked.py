"""Layouts for memory: each access of a warp is one piece of it, each element is held.

Places are compared with what counting threads and vectors gives.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tilec.layout import LayoutError
from tilec.layout.blocked import blocked_tile


def offsets(layout, shape, fastest):
    """Offset in memory, whose fastest axis is `fastest`, of each (register, lane, warp)."""
    sizes = layout.in_sizes
    register, lane, warp = np.meshgrid(
        *(np.arange(sizes[name]) for name in ("register", "lane", "warp")), indexing="ij"
    )
    place = layout(register=register, lane=lane, warp=warp)
    order = [axis for axis in range(len(shape)) if axis != fastest] + [fastest]
    return np.ravel_multi_index([place[a] for a in order], [shape[a] for a in order])


@settings(max_examples=80, derandomize=True)
@given(st.data())
def test_any_tile(data) -> None:
    bits = data.draw(st.lists(st.integers(0, 6), min_size=1, max_size=3))
    shape = tuple(1 << bit for bit in bits)
    fastest = data.draw(st.integers(0, len(shape) - 1))
    vector = 1 << data.draw(st.integers(0, min(3, bits[fastest])))
    warps = 1 << data.draw(st.integers(0, 3))
    layout = blocked_tile(shape, vector, warps, fastest=fastest)
    assert layout.in_sizes["warp"] == warps
    at = offsets(layout, shape, fastest)
    assert set(at.ravel().tolist()) == set(range(np.prod(shape)))
    # A vector lies in consecutive registers, in one piece and aligned.
    assert (at[:vector] - at[:1] == np.arange(vector)[:, None, None]).all()
    assert (at[::vector] % vector == 0).all()
    # The lanes of an access are the vectors of one piece as long as there are any.
    run = min(32 * vector, shape[fastest])
    first = at[0, : run // vector, 0]
    np.testing.assert_array_equal(first, np.arange(run // vector) * vector)


def test_warps_take_the_outermost_axis_and_leave_what_is_reduced() -> None:
    assert blocked_tile((64, 512), 8, 4).bases["warp"] == [(1, 0), (2, 0)]
    across = blocked_tile((64, 512), 8, 4, together=frozenset({0}))
    assert across.bases["warp"] == [(0, 256), (1, 0)]


def test_copies_of_small_tiles() -> None:
    layout = blocked_tile((4, 8), 2, 2)
    assert layout.bases["lane"] == [(0, 2), (0, 4), (1, 0), (2, 0), (0, 0)]
    assert layout.bases["warp"] == [(0, 0)]


def test_refusals() -> None:
    with pytest.raises(LayoutError, match="a vector of 16 is longer than the 8 of col"):
        blocked_tile((64, 8), 16, 1)
    with pytest.raises(LayoutError, match="nearest: 32 and 64"):
        blocked_tile((48, 8), 1, 1)

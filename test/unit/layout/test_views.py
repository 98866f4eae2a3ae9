"""Views of layouts against numpy: an array of who holds what, seen through numpy's own views.

A layout is written out as the array of all (register, lane, warp) that hold each element; numpy
transposes, reshapes and reduces that array, and the view of the layout must say the same.
"""

from __future__ import annotations

from itertools import product
from math import prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tilec.layout import LayoutError, LinearLayout
from tilec.layout.views import (
    collapse,
    dims,
    drop_dim,
    expand,
    register_map,
    reshape,
    transpose,
)

FAST = settings(max_examples=60, derandomize=True)
INS = {"register": 8, "lane": 4, "warp": 2}


@st.composite
def layouts(draw):
    """Any linear map of a few registers, lanes and warps into a tile of rank 1 to 3."""
    shape = draw(st.lists(st.sampled_from([1, 2, 4]), min_size=1, max_size=3))
    bases = {
        name: [
            [draw(st.integers(0, extent - 1)) for extent in shape]
            for _ in range(size.bit_length() - 1)
        ]
        for name, size in INS.items()
    }
    return LinearLayout.of(bases, dict(zip(dims(len(shape)), shape, strict=True)))


def holders(layout: LinearLayout) -> np.ndarray:
    """An array of the tile's shape: the set of (register, lane, warp) that hold each element."""
    array = np.empty(tuple(layout.out_sizes.values()), dtype=object)
    for place in np.ndindex(array.shape):
        array[place] = frozenset()
    for index in product(*(range(size) for size in layout.in_sizes.values())):
        place = layout(**dict(zip(layout.in_sizes, index, strict=True)))
        array[place] |= {index}
    return array


def who(array: np.ndarray) -> np.ndarray:
    """The same of (lane, warp) alone."""
    changed = np.empty_like(array)
    for place in np.ndindex(array.shape):
        changed[place] = {index[1:] for index in array[place]}
    return changed


def same(a: np.ndarray, b: np.ndarray) -> bool:
    return a.shape == b.shape and all(a[place] == b[place] for place in np.ndindex(a.shape))


@FAST
@given(layouts(), st.data())
def test_transpose_is_numpys(layout, data):
    permutation = tuple(data.draw(st.permutations(range(len(layout.outs)))))
    assert same(holders(transpose(layout, permutation)), holders(layout).transpose(permutation))


@FAST
@given(layouts(), st.data())
def test_expand_is_numpys(layout, data):
    axis = data.draw(st.integers(0, len(layout.outs)))
    assert same(holders(expand(layout, axis)), np.expand_dims(holders(layout), axis))


@FAST
@given(layouts(), st.data())
def test_reshape_is_numpys(layout, data):
    left = prod(layout.out_sizes.values())
    shape = []
    while left > 1 or not shape:
        extent = data.draw(st.sampled_from([n for n in (1, 2, 4, 8, 16, 32, 64) if n <= left]))
        shape.append(extent)
        left //= extent
        if len(shape) == 4:
            shape.append(left)
            break
    assert same(holders(reshape(layout, tuple(shape))), holders(layout).reshape(shape))


@FAST
@given(layouts(), st.data())
def test_slice_is_a_reduction_by_union(layout, data):
    axis = data.draw(st.integers(0, len(layout.outs) - 1))
    slice_ = drop_dim(layout, axis)
    union = np.bitwise_or.reduce(holders(layout), axis=axis)
    if not isinstance(union, np.ndarray):  # of rank 0
        union = np.array(union, dtype=object)
    assert same(who(holders(slice_)), who(union))
    # No lane holds an element twice.
    for held in holders(slice_).reshape(-1):
        assert len(held) == len({index[1:] for index in held})


@FAST
@given(layouts(), st.data())
def test_collapse_keeps_the_holders(layout, data):
    axes = data.draw(st.sets(st.integers(0, len(layout.outs) - 1), max_size=3))
    union = np.bitwise_or.reduce(holders(layout), axis=tuple(axes), keepdims=True)
    assert same(holders(collapse(layout, tuple(axes))), union)


@FAST
@given(layouts(), layouts(), st.data())
def test_renaming_exists_where_lanes_hold_the_same(one, other, data):
    mixed = data.draw(st.permutations(one.columns_of("register")))
    shuffled = LinearLayout(
        one.ins, one.outs, (*mixed, *one.columns_of("lane"), *one.columns_of("warp"))
    )
    for source, result in ((one, shuffled), (one, other)):
        if len(source.outs) != len(result.outs):
            continue
        mine, its = (_by_register(layout) for layout in (source, result))
        found = register_map(source, result)
        sizes = source.out_sizes == result.out_sizes
        assert (found is not None) == (sizes and set(its) <= set(mine))
        for register, held in enumerate(its if found else ()):
            assert mine[found(register=register)[0]] == held


def _by_register(layout: LinearLayout) -> list[tuple[tuple[int, ...], ...]]:
    """Of each register what it holds, lane by lane."""
    threads = list(product(range(INS["lane"]), range(INS["warp"])))
    return [
        tuple(layout(register=register, lane=lane, warp=warp) for lane, warp in threads)
        for register in range(INS["register"])
    ]


def test_bad_arguments_are_refused():
    layout = LinearLayout.parse("register [0,1]; lane [1,0] -> row 2, col 2")
    with pytest.raises(LayoutError, match="axis 2 is outside the 2 dimensions"):
        drop_dim(layout, 2)
    with pytest.raises(LayoutError, match="axis 3 is outside the 3 dimensions"):
        expand(layout, 3)
    with pytest.raises(LayoutError, match="is not a permutation"):
        transpose(layout, (0, 0))
    with pytest.raises(LayoutError, match="2x2 elements cannot be 8"):
        reshape(layout, (8,))
    with pytest.raises(LayoutError, match="not a power of two"):
        reshape(layout, (3, 1))

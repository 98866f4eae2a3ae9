"""The algebra keeps its laws: composition, product, division, inverses, text.

Each law is checked on random layouts, by evaluating both sides at every index.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tilec.layout import LayoutError, LinearLayout
from tilec.layout.gf2 import Echelon, combine, independent, intersection, rank
from tilec.layout.linear import places

FAST = settings(max_examples=100, derandomize=True)
A = {"x": 2, "y": 1}
B = {"u": 1, "v": 2}
C = {"p": 2, "q": 2}
vectors = st.lists(st.integers(0, 63), max_size=7)
identity = LinearLayout.identity


def same(a: LinearLayout, b: LinearLayout) -> bool:
    """Equal up to the order of dimensions."""
    ins, outs = sorted(dict(a.ins)), sorted(dict(a.outs))
    return a.reorder(ins, outs) == b.reorder(ins, outs)


def span(given: list[int]) -> set[int]:
    reached = {0}
    for vector in given:
        reached |= {vector ^ other for other in reached}
    return reached


@FAST
@given(vectors, st.integers(0, 63))
def test_echelon_against_enumeration(given_, target):
    echelon = Echelon(given_)
    reached = span(given_)
    assert 1 << echelon.rank == len(reached) == 1 << rank(given_)
    assert (target in echelon) == (target in reached)
    selector = echelon.solve(target)
    assert (selector is not None) == (target in reached)
    if selector is not None:
        assert combine(selector, given_) == target
    assert len(echelon.kernel) == len(given_) - echelon.rank
    assert rank(echelon.kernel) == len(echelon.kernel)
    assert all(combine(k, given_) == 0 for k in echelon.kernel)


@FAST
@given(vectors, vectors)
def test_independent_and_intersection_against_enumeration(a, b):
    assert span(intersection(a, b)) == span(a) & span(b)
    assert rank(intersection(a, b)) == len(intersection(a, b))
    more = independent(a, beyond=b)
    assert span([*more, *b]) == span([*a, *b])
    assert rank([*more, *b]) == len(more) + rank(b)


@FAST
@given(st.data())
def test_linearity_and_arrays(layouts, indices, data):
    layout = data.draw(layouts(A, B))
    every = list(indices(layout.in_sizes))
    for i in every:
        for j in every:
            both = {n: i[n] ^ j[n] for n in i}
            apart = zip(layout(**i), layout(**j), strict=True)
            assert layout(**both) == tuple(a ^ b for a, b in apart)
    x, y = np.meshgrid(np.arange(4, dtype=np.uint8), np.arange(2, dtype=np.int32))
    u, v = layout(x=x, y=y)
    for a, b, got_u, got_v in zip(*(z.ravel() for z in (x, y, u, v)), strict=True):
        assert layout(x=int(a), y=int(b)) == (got_u, got_v)


def test_narrow_indices_reach_wide_places():
    wide = LinearLayout.of({"x": [[300], [70000]]}, {"p": 1 << 17})
    assert wide(x=np.arange(4, dtype=np.uint8))[0].tolist() == [0, 300, 70000, 300 ^ 70000]
    nothing = identity(1, "x", "p") * identity(4, "y", "p")
    assert nothing(x=np.zeros((3, 1), int), y=np.arange(4))[0].shape == (3, 4)
    assert wide(x=4) == (0,)  # bits beyond the size are ignored


@FAST
@given(st.data())
def test_composition(layouts, indices, data):
    f, g, h = (data.draw(layouts(*d)) for d in ((A, B), (B, C), (C, A)))
    for index in indices(f.in_sizes):
        inner = dict(zip(B, f(**index), strict=True))
        assert f.then(g)(**index) == g(**inner)
    assert f.then(g).then(h) == f.then(g.then(h))
    for name, one in (("left", LinearLayout.empty()), ("right", LinearLayout.empty())):
        del name
        assert f * one == f
    unit_in = identity(4, "x", "x") * identity(2, "y", "y")
    unit_out = identity(2, "u", "u") * identity(4, "v", "v")
    assert unit_in.then(f) == f == f.then(unit_out)


@FAST
@given(st.data())
def test_product_and_division(layouts, indices, data):
    f, g = data.draw(layouts(A, B)), data.draw(layouts({"y": 1, "z": 1}, {"v": 1, "w": 2}))
    both = f * g
    for index in indices(both.in_sizes):
        low = {"x": index["x"], "y": index["y"] & 1}
        high = {"y": index["y"] >> 1, "z": index["z"]}
        (u, v), (v2, w) = f(**low), g(**high)
        assert both(**index) == (u, v | v2 << 2, w)
    h = data.draw(layouts({"x": 1}, {"u": 1}))
    assert same(f * (g * h), (f * g) * h)
    quotient = both.divide_left(f)
    assert quotient is not None
    assert same(quotient, LinearLayout.empty(("x", "y"), ("u", "v")) * g)
    assert same(f * quotient, both)


@FAST
@given(st.data())
def test_division_finds_only_quotients(layouts, data):
    f = data.draw(layouts({"x": 2, "y": 1}, {"u": 2, "v": 2}))
    divisor = data.draw(layouts({"x": 1}, {"u": 1}))
    quotient = f.divide_left(divisor)
    if quotient is not None:
        assert same(divisor * quotient, f)
    larger = identity(8, "x", "u")
    assert f.divide_left(larger) is None
    assert f.divide_left(identity(2, "other", "u")) is None


@FAST
@given(st.data())
def test_inverses(bijections, surjections, indices, data):
    f, g = data.draw(bijections(A, B)), data.draw(bijections(B, {"r": 3}))
    assert f.is_bijective
    unit = identity(4, "x", "x") * identity(2, "y", "y")
    assert f.then(f.inverse()) == unit
    assert f.inverse().inverse() == f
    assert f.then(g).inverse() == g.inverse().then(f.inverse())
    assert f.left_inverse() == f.right_inverse() == f.inverse()

    onto = data.draw(surjections({"x": 3, "y": 2}, B))
    assert onto.is_surjective
    assert not onto.is_injective
    back = onto.right_inverse()
    for place in indices(onto.out_sizes):
        index = dict(zip(("x", "y"), back(**place), strict=True))
        assert onto(**index) == tuple(place.values())
        assert all(index[n] & onto.free(n) == 0 for n in index)
    into = f * LinearLayout.empty(outs=("more",))
    into = LinearLayout(into.ins, (("u", 1), ("v", 2), ("more", 2)), into.columns)
    assert into.is_injective
    assert not into.is_surjective
    assert into.then(into.left_inverse()) == unit


@FAST
@given(st.data())
def test_free_bits_hold_copies(layouts, indices, data):
    f = data.draw(layouts({"x": 3, "y": 2}, {"p": 3}))
    masks = {n: f.free(n) for n in ("x", "y")}
    kept = [i for i in indices(f.in_sizes) if all(i[n] & masks[n] == 0 for n in i)]
    places = [f(**i) for i in kept]
    assert len(set(places)) == len(places) == 1 << f.rank
    assert set(places) == {f(**i) for i in indices(f.in_sizes)}


@FAST
@given(st.data())
def test_text_reads_back(layouts, data):
    f = data.draw(layouts({"x": 2, "empty": 0, "y": 1}, {"u": 1, "none": 0, "v": 2}))
    assert LinearLayout.parse(str(f)) == f
    assert LinearLayout.of(f.bases, f.out_sizes) == f
    assert (
        f.reorder(("y", "empty", "x"), ("v", "u", "none")).reorder(
            ("x", "empty", "y"), ("u", "none", "v")
        )
        == f
    )
    assert hash(LinearLayout.parse(str(f))) == hash(f)


def test_parts_of_a_layout():
    f = LinearLayout.parse("x [1,0] [2,1]; y [0,2] -> u 4, v 4")
    assert f.restrict(("x",)) == LinearLayout.parse("x [1,0] [2,1] -> u 4, v 4")
    assert f.restrict(None, ("v",)) == LinearLayout.parse("x [0] [1]; y [2] -> v 4")
    assert f.flatten_outs("o") == LinearLayout.parse("x [1] [6]; y [8] -> o 16")
    assert f.flatten_ins("i") == LinearLayout.parse("i [1,0] [2,1] [0,2] -> u 4, v 4")
    assert f.rename({"x": "a", "v": "b"}) == LinearLayout.parse(
        "a [1,0] [2,1]; y [0,2] -> u 4, b 4"
    )
    assert f.columns_of("x") == (1, 6)
    assert f.columns_of("z") == ()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: identity(3, "x", "y"), "not a power of two; nearest: 2 and 4"),
        (lambda: identity(0, "x", "y"), "at least 1"),
        (lambda: LinearLayout.of({"x": [[4]]}, {"u": 4}), "leaves 'u' of size 4"),
        (lambda: LinearLayout.of({"x": [[1, 1]]}, {"u": 4}), "2 numbers for 1 output$"),
        (lambda: LinearLayout.parse("x [1]"), "no '->'"),
        (lambda: LinearLayout.parse("x 1 -> u 2"), "not an input dimension"),
        (lambda: LinearLayout.parse("x [1] -> u 3"), "not a power of two"),
        (lambda: LinearLayout.parse("x [1,,1] -> u 2"), "is not a list"),
        (lambda: LinearLayout.parse("x [1] -> u"), "not an output dimension"),
        (lambda: LinearLayout.parse("x [1]; x [1] -> u 2"), "not an input dimension"),
        (lambda: identity(4, "x", "y").then(identity(4, "z", "y")), "do not compose"),
        (lambda: identity(4, "x", "y").then(identity(2, "y", "z")), "only 2 indices"),
        (lambda: LinearLayout.zeros(2, "x").inverse(), "have the same image"),
        (lambda: LinearLayout.zeros(2, "x").left_inverse(), "have the same image"),
        (lambda: LinearLayout.of({"x": []}, {"u": 2}).right_inverse(), "has no index"),
        (lambda: identity(4, "x", "y")(z=1), "no input dimension 'z'"),
        (lambda: identity(4, "x", "y").reorder(("z",), ("y",)), "are not those"),
        (lambda: identity(4, "x", "y").restrict(("z",)), "no dimension 'z'"),
        (lambda: LinearLayout.of({"x": [], "y": []}, {}).rename({"x": "y"}), "the same name"),
    ],
)
def test_what_makes_no_layout_is_refused(make, message):
    with pytest.raises(LayoutError, match=message):
        make()


@FAST
@given(st.lists(st.tuples(st.integers(0, 7), st.integers(0, 15)), max_size=5))
def test_places_of_every_index(images):
    layout = LinearLayout.of({"x": images, "y": [(1, 1)]}, {"row": 8, "col": 16})
    index = np.arange(1 << len(images))
    rows, cols = np.zeros_like(index), np.zeros_like(index)
    for bit, (row, col) in enumerate(images):
        rows ^= (index >> bit & 1) * row
        cols ^= (index >> bit & 1) * col
    assert places(layout, "x") == tuple(zip(rows.tolist(), cols.tolist(), strict=True))

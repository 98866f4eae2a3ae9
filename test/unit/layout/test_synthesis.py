"""The swizzle that is found is free of conflicts: counted bank by bank, not by its own algebra."""

from __future__ import annotations

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tilec.isa import form
from tilec.layout import LayoutError, LinearLayout, fragment
from tilec.layout.access import matrix_access, vector_access
from tilec.layout.swizzle import shared_layout
from tilec.layout.synthesis import Pattern, find_swizzle

identity = LinearLayout.identity
X4 = form("ldmatrix.sync.aligned.m8n8.x4.b16")
X4_TRANS = form("ldmatrix.sync.aligned.m8n8.x4.trans.b16")


def rows_of_16_bytes(cols: int, bits: int) -> LinearLayout:
    """Each lane copies 16 bytes of a row, as cp.async does."""
    each = 128 // bits
    lanes = min(32, cols // each)
    layout = identity(each, "register", "col") * identity(lanes, "lane", "col")
    return layout * identity(32 // lanes, "lane", "row")


@pytest.fixture(scope="session")
def simulated(access_addresses, bank_simulation):
    def run(access) -> tuple[int, int]:
        counted = [
            bank_simulation(a, access.width, store=access.store, rows=access.form is not None)
            for a in access_addresses(access, 0, 1)
        ]
        return tuple(map(sum, zip(*counted, strict=True)))

    return run


TYPES = {4: ("m16n8k64", "s4"), 8: ("m16n8k32", "s8"), 16: ("m16n8k16", "f16")}
TYPES[32] = ("m16n8k8", "tf32")


@pytest.mark.parametrize(
    ("rows", "cols", "bits", "expected"),
    [
        (64, 64, 16, "128B"),
        (128, 32, 16, "64B"),
        (64, 16, 16, "32B"),
        (64, 128, 16, "swizzle<3,4,4>"),
        (32, 32, 32, "128B"),
        (64, 64, 8, "64B"),
        (128, 128, 8, "128B"),
        (64, 64, 4, "32B"),
    ],
)
def test_copies_by_rows_and_ldmatrix(simulated, rows, cols, bits, expected):
    shape, dtype = TYPES[bits]
    copied, held = rows_of_16_bytes(cols, bits), fragment(shape, "a", dtype)
    tile = shared_layout({"row": rows, "col": cols}, bits)
    run = [1 << i for i in range((128 // bits).bit_length() - 1)]
    patterns = [
        Pattern.vector(copied.then(tile.inverse()), bits, run, store=True),
        Pattern.matrix(X4, held.then(tile.inverse()), bits),
    ]
    assert any(p.count(identity(rows * cols, "offset", "offset"), bits).conflicts for p in patterns)
    found = find_swizzle(rows * cols, bits, patterns)
    assert str(found.swizzle) == expected
    assert found.conflicts == 0
    swizzled = shared_layout({"row": rows, "col": cols}, bits, found.swizzle)
    assert found.layout.inverse().then(tile) == swizzled
    store = vector_access(copied.then(swizzled.inverse()), bits, store=True)
    load = matrix_access(X4, held.then(swizzled.inverse()), bits)
    assert store.width == 16
    assert simulated(store) == (4, 0)
    assert simulated(load) == (4, 0)


def test_both_ways_of_ldmatrix(simulated):
    """One tile read as A and, transposed, as another's A, and written by rows."""
    tile = shared_layout({"row": 64, "col": 64}, 16)
    a = fragment("m16n8k16", "a", "f16")
    turned = a.rename({"row": "col", "col": "row"}).reorder(("register", "lane"), ("row", "col"))
    patterns = [
        Pattern.vector(rows_of_16_bytes(64, 16).then(tile.inverse()), 16, (1, 2, 4), store=True),
        Pattern.matrix(X4, a.then(tile.inverse()), 16),
        Pattern.matrix(X4_TRANS, turned.then(tile.inverse()), 16),
    ]
    found = find_swizzle(64 * 64, 16, patterns)
    assert str(found.swizzle) == "128B"
    swizzled = found.layout.inverse().then(tile)
    for one, held in ((X4, a), (X4_TRANS, turned)):
        assert simulated(matrix_access(one, held.then(swizzled.inverse()), 16)) == (4, 0)


@settings(max_examples=150, derandomize=True)
@given(st.data())
def test_two_accesses_can_always_be_free(simulated, bijections, data):
    """Random layouts, with as much side by side as both allow."""
    registers = data.draw(st.integers(1, 4))
    bits = data.draw(st.sampled_from((8, 16, 32)))
    total = 5 + registers
    run = data.draw(bijections({"i": 2}, {"o": 2})).columns[: data.draw(st.integers(0, 1))]
    layouts = []
    for _ in range(2):
        drawn = data.draw(bijections({"register": registers, "lane": 5}, {"offset": total}))
        layouts.append(drawn)
    patterns = [
        Pattern.vector(layout, bits, run, store=store)
        for layout, store in zip(layouts, (True, False), strict=True)
    ]
    shorter = min(patterns, key=lambda p: len(p.run)).run
    patterns = [
        Pattern.vector(layout, bits, shorter, store=store)
        for layout, store in zip(layouts, (True, False), strict=True)
    ]
    try:
        found = find_swizzle(1 << total, bits, patterns)
    except LayoutError:
        assume(not shorter)  # a lane of one begins within a run of the other's
        raise
    assert found.conflicts == 0
    assert found.layout.is_bijective
    for layout, store, counted in zip(layouts, (True, False), found.counts, strict=True):
        width = bits // 8 << len(shorter)
        access = vector_access(layout.then(found.layout), bits, store=store, widest=width)
        if access.width == width:
            assert simulated(access) == counted


def test_three_that_cannot_all_be_free(simulated):
    """Rows, columns and diagonals of two-way lines: the best has conflicts, and says how many."""
    size = 1 << 6
    lanes = [(1, 2, 4, 8, 16), (32, 2, 4, 8, 16), (33, 2, 4, 8, 16)]
    patterns = [Pattern(4, (), lane, 1) for lane in lanes]
    found = find_swizzle(size, 32, patterns)
    assert found.conflicts == 1
    brute = 0
    for lane in lanes:
        layout = LinearLayout((("register", 0), ("lane", 5)), (("offset", 6),), lane)
        brute += simulated(vector_access(layout.then(found.layout), 32, store=True))[1]
    assert brute == 1


def test_what_cannot_lie_side_by_side():
    patterns = [Pattern(8, (1,), (4, 8, 16, 32), 2), Pattern(8, (2,), (4, 8, 16, 32), 2)]
    with pytest.raises(LayoutError, match="different elements to be adjacent"):
        find_swizzle(64, 32, patterns)
    registers = LinearLayout.of({"register": [[1]], "lane": [[2]] * 5}, {"offset": 4})
    assert Pattern.vector(registers, 4, (), store=True) is None
    assert Pattern.matrix(X4, registers, 16) is None


def test_runs_begin_whole_in_every_phase() -> None:
    """16 bytes a lane, rows of 16 bytes: no swizzle may tear those of a later phase apart."""
    rows = LinearLayout.of(
        {"register": [[1], [2], [4], [8]], "lane": [[16 << bit] for bit in range(5)]},
        {"offset": 1 << 9},
    )
    words = LinearLayout.of(
        {"register": [[1], [2]], "lane": [[4], [8], [128], [256], [0]]}, {"offset": 1 << 9}
    )
    units = (1, 2, 4, 8)
    copy = Pattern.vector(rows, 8, units, store=True)
    load = Pattern.vector(words, 8, units, store=False)
    assert copy is not None
    assert load is not None
    found = find_swizzle(1 << 9, 8, [copy, load])
    for lane in range(32):
        at = [found.layout(offset=16 * lane + byte)[0] for byte in range(16)]
        assert at == list(range(at[0], at[0] + 16))
        assert at[0] % 16 == 0

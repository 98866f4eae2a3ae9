"""Accesses move every element of a fragment to its place, and count what the banks count."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tilec.isa import MatrixMemory, form, warp_forms
from tilec.layout import LayoutError, LinearLayout, fragment
from tilec.layout.access import fragment_wavefronts, matrix_access, vector_access
from tilec.layout.swizzle import SWIZZLES, Swizzle, shared_layout

SLOW = settings(max_examples=120, derandomize=True)
identity = LinearLayout.identity


@pytest.fixture(scope="session")
def check(access_pairs, access_addresses, bank_simulation):
    def run(access, offsets: LinearLayout, warps: int = 1) -> None:
        moved = set()
        for warp, lane, register, offset in access_pairs(access, warps):
            where = {"warp": warp} if warps > 1 else {}
            assert offsets(register=register, lane=lane, **where) == (offset,)
            moved.add((warp, lane, offset))
        for warp in range(warps):  # every element that a lane holds, once at least
            where = {"warp": warp} if warps > 1 else {}
            for lane in range(32):
                for register in range(offsets.in_sizes["register"]):
                    (offset,) = offsets(register=register, lane=lane, **where)
                    assert (warp, lane, offset) in moved
            total = (0, 0)
            for addresses in access_addresses(access, warp, warps):
                assert all(a % access.width == 0 for a in addresses)
                counted = bank_simulation(
                    addresses, access.width, store=access.store, rows=access.form is not None
                )
                total = (total[0] + counted[0], total[1] + counted[1])
            assert total == access.count()

    return run


@SLOW
@given(st.data())
def test_plain_accesses_of_random_layouts(check, layouts, data):
    warp = data.draw(st.integers(0, 1))
    bits = data.draw(st.sampled_from((8, 16, 32, 64)))
    ins = {"register": data.draw(st.integers(0, 4)), "lane": 5, "warp": warp}
    offsets = data.draw(layouts(ins, {"offset": data.draw(st.integers(1, 10))}))
    store = data.draw(st.booleans())
    access = vector_access(offsets, bits, store=store)
    assert access is not None
    check(access, offsets, 1 << warp)
    narrow = vector_access(offsets, bits, store=store, widest=4)
    assert narrow.width <= max(4, bits // 8)
    check(narrow, offsets, 1 << warp)


FRAGMENTS = [
    ("m16n8k16", "a", "f16", 16),
    ("m16n8k16", "b", "f16", 16),
    ("m16n8k8", "a", "tf32", 32),
    ("m16n8k32", "a", "s8", 8),
    ("m16n8k32", "b", "s8", 8),
    ("m16n8k64", "a", "s4", 4),
    ("m16n8k16", "c", "f16", 16),
]


@pytest.mark.parametrize(("shape", "operand", "dtype", "bits"), FRAGMENTS)
@pytest.mark.parametrize("swizzle", [*SWIZZLES, "swizzle<3,4,4>"])
@pytest.mark.parametrize("fastest", ["row", "col"])
def test_matrix_moves_of_fragments(check, shape, operand, dtype, bits, swizzle, fastest):
    held = fragment(shape, operand, dtype)
    other = "row" if fastest == "col" else "col"
    held = held * identity(2, "register", other) * identity(2, "register", fastest)
    tile = shared_layout(held.out_sizes, bits, Swizzle.parse(swizzle), (fastest, other))
    offsets = held.then(tile.inverse())
    matched = set()
    for one in (f for f in warp_forms().values() if isinstance(f, MatrixMemory)):
        access = matrix_access(one, offsets, bits)
        if access:
            matched.add(one.ptx)
            check(access, offsets)
    packs_along = "row" if operand == "b" else "col"
    if fastest == packs_along:
        assert "ldmatrix.sync.aligned.m8n8.x4.b16" in matched
    elif bits == 16:
        assert "ldmatrix.sync.aligned.m8n8.x4.trans.b16" in matched
    elif bits == 8 and operand == "a":
        assert "ldmatrix.sync.aligned.m16n16.x2.trans.b8" in matched
    elif bits != 4:
        assert not any(name.startswith("ldmatrix.sync.aligned.m8n8") for name in matched)


@SLOW
@given(st.data())
def test_matrix_moves_of_random_layouts(check, bijections, data):
    """What matches by chance is right as well: fragments after random changes of offset."""
    held = fragment("m16n8k16", data.draw(st.sampled_from("ab")), "f16")
    bits = len(held.columns)
    high = data.draw(bijections({"i": bits - 3}, {"o": bits - 3})).columns
    ordered = data.draw(st.sampled_from((("col", "row"), ("row", "col"))))
    columns = (1, 2, 4, *(column << 3 for column in high))
    change = LinearLayout((("offset", bits),), (("offset", bits),), columns)
    tile = shared_layout(held.out_sizes, 16, order=ordered)
    offsets = held.then(tile.inverse()).then(change)
    count = 0
    for one in (f for f in warp_forms().values() if isinstance(f, MatrixMemory)):
        access = matrix_access(one, offsets, 16)
        if access:
            count += 1
            check(access, offsets)
    assert count >= 2


def test_no_match():
    held = fragment("m16n8k16", "a", "f16")
    tile = shared_layout({"row": 16, "col": 16}, 16)
    offsets = held.then(tile.inverse())
    x1, x4 = (form(f"ldmatrix.sync.aligned.m8n8.x{n}.b16") for n in (1, 4))
    assert matrix_access(x1, offsets, 16).instructions == 4
    assert matrix_access(form("ldmatrix.sync.aligned.m8n8.x1.trans.b16"), offsets, 16) is None
    small = fragment("m16n8k8", "b", "f16")
    offsets = small.then(shared_layout({"row": 8, "col": 8}, 16, order=("row", "col")).inverse())
    assert matrix_access(x4, offsets, 16) is None  # one matrix, not four
    assert matrix_access(x1, offsets, 16).instructions == 1
    padded = form("ldmatrix.sync.aligned.m8n16.x1.b8x16.b4x16_p64")
    assert matrix_access(padded, offsets, 8) is None


def test_count_of_a_register_layout_in_a_shared_layout():
    held = identity(8, "register", "col") * identity(8, "lane", "col") * identity(4, "lane", "row")
    tile = shared_layout({"row": 4, "col": 64}, 16)
    assert fragment_wavefronts(held, tile, 16, 16, store=True) == (4, 0)
    assert fragment_wavefronts(held, tile, 16, 4) == (16, 12)
    across = identity(8, "register", "row") * identity(32, "lane", "col")
    plain = shared_layout({"row": 8, "col": 32}, 32, order=("row", "col"))
    assert fragment_wavefronts(across, plain, 32, 16) == (16, 8)
    assert fragment_wavefronts(across, plain, 32, 4) == (64, 56)
    with pytest.raises(
        LayoutError, match="no access of 16 bytes moves this fragment; accesses of 4 do"
    ):
        fragment_wavefronts(across, shared_layout({"row": 8, "col": 32}, 32), 32, 16)
    with pytest.raises(LayoutError, match="accesses of 2 do"):
        fragment_wavefronts(held, tile, 16, 1)
    with pytest.raises(LayoutError, match="are not adjacent"):
        fragment_wavefronts(across, shared_layout({"row": 8, "col": 32}, 4), 4, 1)
    with pytest.raises(LayoutError, match="no shared-memory access of 5 bytes"):
        fragment_wavefronts(held, tile, 16, 5)

"""Conversion plans, carried out on numpy arrays, put every element where it belongs.

All plans that are offered are executed, not the cheapest alone: for fragments, and for random
layouts with and without copies, one warp and several. Their price counts the wavefronts that a
bank simulation counts.
"""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tilec.isa import form, target
from tilec.layout import LayoutError, LinearLayout, fragment
from tilec.layout.conversion import best_access, conversion_plans, convert
from tilec.layout.plans import Nothing, Permutation, SharedTrip, Shuffles, Transposition
from tilec.layout.swizzle import SWIZZLES, shared_layout
from tilec.layout.tiling import operand_tile, row_tile

SLOW = settings(max_examples=150, derandomize=True)
identity = LinearLayout.identity


def turned(layout: LinearLayout) -> LinearLayout:
    """The layout of the transposed tile."""
    swapped = layout.rename({"row": "col", "col": "row"})
    return swapped.reorder([n for n, _ in layout.ins], [n for n, _ in layout.outs])


@pytest.fixture(scope="session")
def check(hold, execute, access_addresses, bank_simulation):
    """Execute every plan, and count the banks of those that go through shared memory."""

    def run(source: LinearLayout, result: LinearLayout, bits: int, warps: int = 1) -> list[type]:
        values, wanted = hold(source, warps), hold(result, warps)
        order = [n for n, _ in source.outs]
        if [n for n, _ in result.outs] != order:
            wanted = hold(result.reorder([n for n, _ in result.ins], order), warps)
        offered = conversion_plans(source, result, bits)
        assert offered
        for plan in offered:
            got = execute(plan, values, result)
            assert (got == wanted).all(), plan
            if isinstance(plan, SharedTrip):
                for one in (plan.store, plan.load):
                    for warp in range(warps):
                        counted = [
                            bank_simulation(a, one.width, store=one.store, rows=bool(one.form))
                            for a in access_addresses(one, warp, warps)
                        ]
                        assert tuple(map(sum, zip(*counted, strict=True))) == one.count()
        totals = [plan.price.total for plan in offered]
        assert totals == sorted(totals)
        return [type(plan) for plan in offered]

    return run


def test_accumulators_are_the_next_a(check):
    c = fragment("m16n8k16", "c", "f16") * identity(2, "register", "col")
    assert check(c, fragment("m16n8k16", "a", "f16"), 16) == [Nothing]


def test_renamed_registers(check):
    a = fragment("m16n8k16", "a", "f16")
    (names,) = ({n: list(b) for n, b in a.bases.items()},)
    names["register"] = [names["register"][0], names["register"][2], names["register"][1]]
    other = LinearLayout.of(names, a.out_sizes)
    assert check(a, other, 16) == [Permutation]
    assert convert(a, other, 16).price.total == 0
    names["register"] = names["register"][::-1]
    assert convert(a, LinearLayout.of(names, a.out_sizes), 16).price.total > 0


@pytest.mark.parametrize("bits", [8, 16])
def test_transposing_fragments_is_movmatrix(check, bits):
    a = fragment("m16n8k16", "a", "f16")
    # two bytes that stay neighbours are moved as one half
    pair = identity(16 // bits, "register", "byte")
    kinds = check(pair * a, pair * turned(a), bits)
    assert kinds[0] is Transposition
    assert {SharedTrip, Shuffles} <= set(kinds)


def test_movmatrix_needs_a_target_that_has_it():
    a = fragment("m16n8k16", "a", "f16")
    assert isinstance(convert(a, turned(a), 16, target("sm_75")), Transposition)
    offered = conversion_plans(a, turned(a), 16, target("sm_70"))
    assert not any(isinstance(p, Transposition) for p in offered)
    assert not any(
        one.form for p in offered if isinstance(p, SharedTrip) for one in (p.store, p.load)
    )


@pytest.mark.parametrize(
    ("first", "second", "bits"),
    [
        (("m16n8k8", "c", "f32"), ("m16n8k8", "a", "tf32"), 32),
        (("m16n8k8", "a", "tf32"), ("m16n8k8", "c", "f32"), 32),
        (("m16n8k8", "a", "f64"), ("m16n8k8", "c", "f64"), 64),
    ],
)
def test_words_go_by_shuffles(check, first, second, bits):
    kinds = check(fragment(*first), fragment(*second), bits)
    assert {Shuffles, SharedTrip} == set(kinds)
    # a double takes two shuffles, which is more than its trip costs
    assert kinds[0] is (Shuffles if bits == 32 else SharedTrip)


def test_int8_accumulators_to_a(check):
    c = fragment("m16n8k32", "c", "s32") * identity(4, "register", "col")
    check(c, fragment("m16n8k32", "a", "s8"), 8)


def test_nibbles(check):
    """Elements of less than a byte, in fragments and in rows."""
    nibbles = form("mma.sync.aligned.m16n8k64.row.col.s32.s4.s4.s32")
    held, rows = operand_tile(nibbles, "a", 16, 128, (1, 1)), row_tile(16, 128, 32, 1)
    assert SharedTrip in check(held, rows, 4)
    check(rows, held, 4)
    apart = (
        identity(2, "warp", "col") * identity(32, "lane", "col") * identity(2, "register", "row")
    )
    along = (
        identity(2, "register", "col") * identity(32, "lane", "col") * identity(2, "warp", "row")
    )
    with pytest.raises(LayoutError, match="cannot move elements of 4 bits one by one"):
        convert(apart, along, 4)
    check(apart, along, 8, warps=2)


def test_between_warps(check):
    mma = fragment("m16n8k16", "c", "f32")
    tiled = mma * identity(2, "warp", "row") * identity(2, "warp", "col")
    tiled = tiled * identity(4, "register", "col")
    rows = identity(8, "register", "col") * identity(8, "lane", "col")
    rows = rows * identity(4, "lane", "row") * identity(4, "warp", "row")
    rows = rows * identity(2, "register", "row")
    kinds = check(tiled, rows, 16, warps=4)
    assert set(kinds) == {SharedTrip}
    best = convert(tiled, rows, 16)
    assert isinstance(best, SharedTrip)
    assert best.store.form is not None
    assert not best.within_warp
    assert best.bytes == 32 * 64 * 2
    assert best.store.count().conflicts == best.load.count().conflicts == 0
    assert str(best.swizzle) == "128B"


@SLOW
@given(st.data())
def test_random_bijections(check, bijections, data):
    registers, warp = data.draw(st.integers(0, 3)), data.draw(st.integers(0, 1))
    rows = data.draw(st.integers(0, 5 + registers + warp))
    ins = {"register": registers, "lane": 5, "warp": warp}
    outs = {"row": rows, "col": 5 + registers + warp - rows}
    source, result = (data.draw(bijections(ins, outs)) for _ in range(2))
    check(source, result, data.draw(st.sampled_from((8, 16, 32, 64))), warps=1 << warp)


@SLOW
@given(st.data())
def test_random_layouts_with_copies(check, surjections, data):
    warp = data.draw(st.integers(0, 1))
    total = data.draw(st.integers(1, 6))
    rows = data.draw(st.integers(0, total))
    outs = {"row": rows, "col": total - rows}
    source, result = (
        data.draw(
            surjections({"register": data.draw(st.integers(1, 3)), "lane": 5, "warp": warp}, outs)
        )
        for _ in range(2)
    )
    check(source, result, data.draw(st.sampled_from((8, 16, 32))), warps=1 << warp)


@SLOW
@given(st.data())
def test_shuffles_alone_always_do_within_a_warp(hold, execute, surjections, data):
    """The claim of the algorithm: a surjective layout of one warp converts by shuffles."""
    total = data.draw(st.integers(1, 7))
    outs = {"place": total}
    source, result = (
        data.draw(surjections({"register": data.draw(st.integers(2, 3)), "lane": 5}, outs))
        for _ in range(2)
    )
    bits = data.draw(st.sampled_from((8, 16, 32)))
    ways = [p for p in conversion_plans(source, result, bits) if not isinstance(p, SharedTrip)]
    assert ways
    for plan in ways:
        assert (execute(plan, hold(source, 1), result) == hold(result, 1)).all()


def test_refusals():
    a = fragment("m16n8k16", "a", "f16")
    with pytest.raises(LayoutError, match="different tiles: row 16, col 16 and row 16, col 8"):
        convert(a, fragment("m16n8k16", "c", "f16"), 16)
    with pytest.raises(LayoutError, match="different lanes or warps: lane 32 and lane 32, warp 2"):
        convert(a, a * LinearLayout.zeros(2, "warp"), 16)
    with pytest.raises(LayoutError, match="not a power of two"):
        convert(a, a, 24)
    zero = LinearLayout.of({"register": [], "lane": [[0]] * 5}, {"col": 2})
    one = LinearLayout.of({"register": [[1]], "lane": [[0]] * 5}, {"col": 2})
    with pytest.raises(LayoutError, match="does not hold all elements"):
        convert(zero, one, 16)


def test_the_access_of_choice():
    tile = shared_layout({"row": 16, "col": 64}, 16, SWIZZLES["128B"])
    a = fragment("m16n8k16", "a", "f16") * identity(4, "register", "col")
    best = best_access(a, tile, 16, store=False, target=target("sm_80"))
    assert best.name == "ldmatrix.sync.aligned.m8n8.x4.shared.b16"
    assert best.instructions == 4
    assert best.count() == (16, 0)
    plain = best_access(a, tile, 16, store=True, target=target("sm_80"))
    assert plain.name == "st.shared.b32"  # stmatrix is of sm_90
    four = shared_layout({"row": 64, "col": 16}, 4)
    with pytest.raises(LayoutError, match="less than a byte"):
        best_access(turned(fragment("m16n8k64", "a", "s4")), four, 4, store=True)

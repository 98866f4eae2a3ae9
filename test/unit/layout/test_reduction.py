"""Reductions carried out on sets of elements: each goes in once, and no exchange is idle.

A register holds the set of elements combined so far, and combining two sets that share an
element is an error, as it would be for a sum.
"""

from __future__ import annotations

from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st
from tilec.layout import LinearLayout, fragment
from tilec.layout.reduction import Reduction, reduction
from tilec.layout.tiling import row_tile
from tilec.layout.views import dims

FAST = settings(max_examples=150, derandomize=True)
INS = {"register": 8, "lane": 8, "warp": 4}


@st.composite
def layouts(draw):
    """Any linear map of a few registers, lanes and warps into a tile of rank 1 to 3."""
    shape = draw(st.lists(st.sampled_from([1, 2, 4, 8]), min_size=1, max_size=3))
    bases = {
        name: [
            [draw(st.integers(0, extent - 1)) for extent in shape]
            for _ in range(size.bit_length() - 1)
        ]
        for name, size in INS.items()
    }
    return LinearLayout.of(bases, dict(zip(dims(len(shape)), shape, strict=True)))


def sums(basis):
    reached = [0]
    for vector in basis:
        reached += [vector ^ other for other in reached]
    return reached


def joined(sets):
    whole = frozenset().union(*sets)
    assert len(whole) == sum(len(one) for one in sets), "an element is combined twice"
    return whole


def carried_out(plan: Reduction) -> dict[tuple[int, int, int], frozenset]:
    """What (register, lane, warp) of the result has combined when all warps are done alone."""
    sizes = plan.source.in_sizes
    registers = plan.result.in_sizes["register"]
    threads = list(product(range(sizes["lane"]), range(sizes.get("warp", 1))))

    def place(register, lane, warp):
        index = {"register": register, "lane": lane, "warp": warp}
        return plan.source(**{name: index[name] for name in sizes})

    held = {}
    for lane, warp in threads:
        for register in range(registers):
            (own,) = plan.kept(register=register)
            combined = [{place(own ^ step, lane, warp)} for step in sums(plan.registers)]
            held[register, lane, warp] = joined(combined)
    for exchange in plan.exchanges:
        held = {
            (register, lane, warp): joined(
                [mine, held[register ^ exchange.registers, lane ^ exchange.mask, warp]]
            )
            for (register, lane, warp), mine in held.items()
        }
    return held


def check(layout: LinearLayout, axis: int) -> None:
    plan = reduction(layout, axis)
    sizes = layout.in_sizes
    everything = {
        layout(**dict(zip(sizes, index, strict=True)))
        for index in product(*(range(size) for size in sizes.values()))
    }
    of_warp = {
        warp: {
            layout(register=register, lane=lane, **({"warp": warp} if "warp" in sizes else {}))
            for register, lane in product(range(sizes["register"]), range(sizes["lane"]))
        }
        for warp in range(sizes.get("warp", 1))
    }
    for (register, lane, warp), combined in carried_out(plan).items():
        index = {"register": register, "lane": lane, "warp": warp}
        left = plan.result(**{name: index[name] for name in plan.result.in_sizes})
        wanted = {e for e in everything if (*e[:axis], *e[axis + 1 :]) == left}
        assert combined == wanted & of_warp[warp]
        # Warps share the work in equal parts.
        assert len(wanted) == plan.partials * len(combined)
        assert len(combined) == 1 << len(plan.registers) + len(plan.exchanges)


@FAST
@given(layouts(), st.data())
def test_every_element_goes_in_once(layout, data):
    check(layout, data.draw(st.integers(0, len(layout.outs) - 1)))


def test_of_an_accumulator():
    """m16n8: of a row four lanes hold two elements each; of a column eight lanes, two each."""
    layout = fragment("m16n8k16", "c", "f32")
    for axis, masks in ((1, [1, 2]), (0, [4, 8, 16])):
        check(layout, axis)
        plan = reduction(layout, axis)
        assert [exchange.mask for exchange in plan.exchanges] == masks
        assert len(plan.registers) == 1
        assert plan.result.in_sizes["register"] == 2


def test_of_rows_over_warps():
    """A row of 256 over two warps of 128 elements, four a lane."""
    layout = row_tile(4, 256, 4, 2)
    check(layout, 1)
    plan = reduction(layout, 1)
    assert plan.partials == 2
    assert len(plan.exchanges) == 5
    assert plan.across == (128,)

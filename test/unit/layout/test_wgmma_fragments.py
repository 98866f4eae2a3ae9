"""Fragments of a warpgroup: the ISA's figures as formulas, coded apart, for every form.

PTX ISA 9.7.15.5.1, "Register Fragments", and 9.7.15.6 for metadata.
"""

from __future__ import annotations

import json

import numpy as np
import pytest
from tilec.isa import LANES, ExecutionScope, TilecError, form, forms
from tilec.layout import (
    LayoutError,
    LinearLayout,
    RepeatedLayout,
    any_fragment_of,
    find_form,
    fragment,
    fragment_of,
)
from tilec.layout.formula import formulas
from tilec.tools import tile_layout

ALL = [found for found in forms().values() if found.scope is ExecutionScope.WARPGROUP]
D80 = "wgmma.mma_async.sync.aligned.m64n80k16.f32.f16.f16"


def d_place(t, i):
    """Row and column of element i of thread t."""
    group, quad = (t >> 2) & 7, t & 3
    return 16 * (t >> 5) + group + 8 * ((i >> 1) & 1), 8 * (i >> 2) + 2 * quad + (i & 1)


def a_place(e, t, i):
    """Row and k of element i of thread t; e elements to a register."""
    r, j = i // e, i % e
    return 16 * (t >> 5) + ((t >> 2) & 7) + 8 * (r & 1), e * (t & 3) + j + 4 * e * (r >> 1)


def places_of(found, name):
    """Row and column of each element (down) of each thread (across), by the layout."""
    operand = found.operand(name)
    elements, threads = np.meshgrid(np.arange(operand.elements), np.arange(128), indexing="ij")
    layout = any_fragment_of(found, name)
    return layout(register=elements, lane=threads % LANES, warp=threads // LANES)


def distinct(name):
    """A form for each different operand of a name."""
    return {found.operand(name): found for found in ALL if found.operand(name).threads}.values()


@pytest.mark.parametrize("name", ["d", "c"])
def test_accumulators(name):
    found = list(distinct(name))
    assert {one.shape.n for one in found} == set(range(8, 257, 8))
    for one in found:
        elements = np.arange(one.shape.n // 2)[:, None]
        wanted = d_place(np.arange(128)[None, :], elements)
        for got, place in zip(places_of(one, name), wanted, strict=True):
            assert (got == np.broadcast_to(place, got.shape)).all()
        layout = any_fragment_of(one, name)
        assert layout.is_bijective
        assert layout.out_sizes == {"row": 64, "col": one.shape.n}
        linear = one.shape.n & (one.shape.n - 1) == 0
        assert isinstance(layout, LinearLayout if linear else RepeatedLayout)


def test_multiplicands():
    found = list(distinct("a"))
    assert {one.operand("a").type.bits for one in found} == {1, 8, 16, 32}
    for one in found:
        operand = one.operand("a")
        e = 32 // operand.type.bits
        wanted = a_place(e, np.arange(128)[None, :], np.arange(4 * e)[:, None])
        for got, place in zip(places_of(one, "a"), wanted, strict=True):
            assert (got == np.broadcast_to(place, got.shape)).all()
        assert fragment_of(one, "a").is_bijective


def metadata_bits(bits, selector, t):
    """(row, first bit of K's codes) of each 4-bit code of a thread's register, or None.

    PTX ISA, figures of sparse metadata of m16n8k32 and m16n8k16 (16 bits), m16n8k16 and m16n8k8
    (tf32), m16n8k64 (8 bits): two threads of each four hold a row's codes at selector 0 or 1, all
    four where a byte is an element.
    """
    group, quad, base = (t >> 2) & 7, t & 3, 16 * (t >> 5)
    if bits == 8:
        row, first = base + group + 8 * (quad & 1), 8 * (quad >> 1)
        return [(row, first + n) for n in range(8)]
    if quad >> 1 != selector:
        return None
    first = 4 * (quad & 1)
    return [(base + group + 8 * (n >> 2), first + (n & 3)) for n in range(8)]


def test_metadata(capsys):
    shown = {}
    for one in (found for found in ALL if found.sparsity):
        bits = one.operand("a").type.bits
        shown.setdefault((bits, one.shape.k), one)
    assert set(shown) == {(16, 32), (32, 16), (8, 64)}
    for (bits, _), one in shown.items():
        for selector in one.sparsity.selectors:
            argv = [one.ptx, "--operand", "e", "--selector", str(selector), "--format", "json"]
            assert tile_layout.main(argv) == 0
            lanes = json.loads(capsys.readouterr().out)["lanes"]
            assert len(lanes) == 128
            for t, held in enumerate(lanes):
                codes = metadata_bits(bits, selector, t)
                wanted = codes and [[row, 4 * code + b] for row, code in codes for b in range(4)]
                assert held == wanted


def test_there_and_back():
    layout = any_fragment_of(form(D80, "registers"), "d")
    back = layout.inverse()
    assert (layout.count, layout.in_sizes["register"], layout.out_sizes["col"]) == (10, 40, 80)
    for t in range(128):
        for i in range(40):
            row, col = layout(register=i, lane=t % 32, warp=t // 32)
            assert back(row=row, col=col) == (i, t % 32, t // 32)
    assert layout() == (0, 0)
    with pytest.raises(LayoutError, match="no register 40: there are 40"):
        layout(register=40)
    with pytest.raises(LayoutError, match="no input dimension 'column'"):
        layout(column=1)
    with pytest.raises(LayoutError, match="is 10 copies of a linear layout"):
        fragment_of(form(D80, "registers"), "d")


def test_the_written_formula_holds_for_every_element():
    layout = any_fragment_of(form(D80, "registers"), "d")
    written = formulas(layout, {"register": "i"})
    for t in range(0, 128, 5):
        for i in range(40):
            names = {"i": i, "lane": t % 32, "warp": t // 32}
            assert tuple(eval(one, names) for one in written.values()) == d_place(t, i)


def test_fragments_by_shape_and_by_mnemonic():
    assert fragment(D80, "d") == fragment("m64n80k16", "d", "f32") != fragment(D80, "a")
    assert find_form(D80, "a").a_kind == "registers"
    assert fragment("m64n16k32", "e", "bf16") == fragment("m64n8k32", "e", "f16")
    with pytest.raises(TilecError, match="lies in shared memory: no register holds it"):
        fragment(D80, "b")
    with pytest.raises(TilecError, match="lies in shared memory: no register holds it"):
        fragment(f"{D80}.a::descriptor", "a")


def test_tile_layout_in_every_format(capsys):
    for format_ in ("text", "json", "csv", "md", "svg", "html"):
        assert tile_layout.main([D80, "--operand", "d", "--format", format_]) == 0
        assert len(capsys.readouterr().out) > 10000
    assert tile_layout.main([D80, "--operand", "d", "--element", "50,75"]) == 0
    assert capsys.readouterr().out == "thread 105, register 37, bits 0-31\n"
    assert d_place(105, 37) == (50, 75)
    assert tile_layout.main([D80, "--operand", "a", "--format", "json"]) == 0
    lanes = json.loads(capsys.readouterr().out)["lanes"]
    assert lanes == [[list(a_place(2, t, i)) for i in range(8)] for t in range(128)]

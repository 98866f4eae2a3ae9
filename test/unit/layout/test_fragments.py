"""Every fragment of every form equals the documentation's formulas, and is a bijection.

The formulas are written down here apart from the rule that the package uses: those of the dense
and sparse fragments, of m8n8k4, of metadata and scale factors, of the matrix moves.
"""

from __future__ import annotations

import re
from itertools import product

import numpy as np
import pytest
from tilec.isa import Family, MatrixMemory, Mma, WmmaMemory, WmmaMma, form, warp_forms
from tilec.layout import LayoutError, fragment, logical_column, row_addresses

MMA = [f for f in warp_forms().values() if isinstance(f, Mma)]
MOVES = [f for f in warp_forms().values() if isinstance(f, MatrixMemory)]
LANE = np.arange(32)[:, None]
g, t = LANE >> 2, LANE & 3


def named(forms_):
    return [pytest.param(f, id=f.ptx) for f in forms_]


def packing(type_name: str, k: int, kind: str | None) -> int:
    """E: elements in a register."""
    width = {"b1": 1, "s4": 4, "u4": 4, "e2m1": 4, "f16": 16, "bf16": 16, "tf32": 32, "f64": 64}
    if kind in ("f8f6f4", "mxf8f6f4"):
        return 4
    return max(1, 32 // width.get(type_name, 8))


def a_formula(rows, e, i):
    r, j = i // e, i % e
    if rows == 8:
        return g, e * t + j
    return g + 8 * (r & 1), e * t + j + 4 * e * (r >> 1)


def b_formula(e, i):
    return e * t + i % e + 4 * e * (i // e), g


def c_formula(i):
    return g + 8 * (i >> 1), 2 * t + (i & 1)


def volta(operand, i):
    """m8n8k4 on f16."""
    x, h = LANE & 3, np.where(LANE >= 16, 4, 0)
    match operand.name, operand.type.name, operand.major:
        case "a", _, "row":
            return x + h, i
        case "a", _, "col":
            return i + h, x
        case "b", _, "row":
            return x, i + h
        case "b", _, "col":
            return i, x + h
        case _, "f16", _:
            return x + h, i
        case _, "f32", _:
            return (LANE & 1) + (i & 2) + h, (i & 4) + (LANE & 2) + (i & 1)
    raise AssertionError(operand)


def held(layout, elements):
    """What the package says: one array for each output, of shape (lane, element)."""
    places = layout(register=np.arange(elements), lane=LANE)
    return dict(zip(layout.out_sizes, places, strict=True))


def equal(found, *expected):
    shape = found[0].shape
    return all(
        (one == np.broadcast_to(other, shape)).all()
        for one, other in zip(found, expected, strict=True)
    )


@pytest.mark.parametrize("form", named(MMA))
def test_products(form):
    shape = re.search(r"m(\d+)n(\d+)k(\d+)", form.ptx)
    m, n, k = map(int, shape.groups())
    extents = {"a": (m, k // (2 if form.sparsity else 1)), "b": (k, n), "c": (m, n), "d": (m, n)}
    for name, (rows, cols) in extents.items():
        operand = form.operand(name)
        kind = re.search(r"kind::(\w+)", form.ptx)
        e = packing(operand.type.name, k, kind and kind[1])
        per_warp = rows * cols * (4 if (m, k) == (8, 4) and "f16.f16" in form.ptx else 1)
        i = np.arange(per_warp // 32)
        layout = fragment(form, name)
        found = held(layout, per_warp // 32)
        assert layout.in_sizes == {"register": per_warp // 32, "lane": 32}
        assert layout.is_bijective
        pair = found["row"], found["col"]
        if form.products == 4:
            assert equal(pair, *volta(operand, i))
            assert equal((found["product"],), (LANE >> 2) & 3)
        elif name == "a":
            assert equal(pair, *a_formula(m, e, i))
        elif name == "b":
            assert equal(pair, *b_formula(e, i))
        else:
            assert equal(pair, *c_formula(i))
        places = set(zip(*(p.ravel().tolist() for p in found.values()), strict=True))
        assert len(places) == per_warp


def metadata_source(bits, k, width, row, chunk, sel):
    """Lane, and first bit of the 4-bit code."""
    h, n = row >> 3, k // width
    group = 4 * (row & 7)
    if bits >= 16:
        if n == 4:
            return group + sel, 4 * (4 * h + chunk)
        return group + 2 * sel + (chunk >> 2), 4 * (4 * h + (chunk & 3))
    if n == 8:
        return group + 2 * sel + h, 4 * chunk
    return group + 2 * (chunk >> 3) + h, 4 * (chunk & 7)


@pytest.mark.parametrize("form", named(f for f in MMA if f.sparsity))
def test_metadata(form):
    a = form.operand("a")
    bits = 32 // packing(a.type.name, form.shape.k, form.kind)
    width = {32: 2, 16: 4, 8: 4, 4: 8}[bits]
    layout = fragment(form, "e")
    assert layout.is_bijective
    source = layout.inverse()
    selectors = {2: (4, 2), 4: (4, 2), 8: (2, 1)}[width if bits != 8 else 8]
    legal = selectors[form.shape.k > {32: 8, 16: 16, 8: 32, 4: 64}[bits]]
    assert layout.out_sizes["selector"] == legal
    for row, chunk, sel in product(range(16), range(form.shape.k // width), range(legal)):
        lane, first = metadata_source(bits, form.shape.k, width, row, chunk, sel)
        assert source(row=row, col=chunk, selector=sel) == (first // 4, lane)


@pytest.mark.parametrize("form", named(f for f in MMA if f.scaling))
def test_scale_factors(form):
    s = form.scaling.chunks
    ids = {1: (0, 1, 2, 3), 2: (0, 2), 4: (0,)}[s]
    a, b = fragment(form, "sfa"), fragment(form, "sfb")
    assert a.is_injective
    assert b.is_injective
    for byte, c in product(ids, range(s)):
        for m, thread in product(range(16), range(2)):
            lane = 4 * (m % 8) + 2 * thread + (m >> 3)
            assert a(register=byte + c, lane=lane) == (m, c, byte, thread)
            back = a.left_inverse()(row=m, col=c, byte_id_a=byte, thread_id_a=thread)
            assert back == (byte + c, lane)
        for n, thread in product(range(8), range(4)):
            assert b(register=byte + c, lane=4 * n + thread) == (c, n, byte, thread)


def logical(width, code, ccol):
    index = (code & 3, code >> 2)
    if width == 4:
        return 4 * (ccol // 2) + index[ccol % 2]
    if width == 2:
        return 2 * ccol + (0 if code == 0b0100 else 1)
    c, p, q = ccol // 4, (ccol % 4) // 2, ccol % 2
    return 8 * c + 2 * index[p] + q


@pytest.mark.parametrize("width", [2, 4, 8])
def test_logical_columns(width):
    sparse = next(f for f in MMA if f.sparsity and f.sparsity.chunk == width)
    codes = (0b0100, 0b1110) if width == 2 else (0b0100, 8, 12, 9, 13, 14, 0b0001, 0b0110)
    cols = np.arange(32)
    for code in codes:
        expected = [logical(width, code, int(col)) for col in cols]
        assert logical_column(sparse, code, cols).tolist() == expected
        assert [logical_column(sparse, code, int(col)) for col in cols] == expected
        assert logical_column(sparse, np.full(32, code), cols).tolist() == expected
    with pytest.raises(LayoutError, match="dense"):
        logical_column(form("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16"), 4, 0)


@pytest.mark.parametrize("form", named(MOVES))
def test_matrix_moves(form, matrix_place):
    layout = fragment(form, "r")
    assert layout.is_bijective
    operand = form.operand("r")
    per = 32 // {"b16": 16, "b8": 8, "s8": 8}[operand.type.name]
    for lane, i in product(range(32), range(operand.registers * per)):
        assert layout(register=i, lane=lane) == matrix_place(form, lane, *divmod(i, per))
    rows = 16 if ".m16n16." in form.ptx else 8
    addresses = row_addresses(form)
    for lane in range(32):
        used = lane % (rows * form.matrices)
        assert addresses(lane=lane) == (used // rows, used % rows)


def test_movmatrix():
    moved = form("movmatrix.sync.aligned.m8n8.trans.b16")
    source = fragment(moved, "a").inverse()
    for lane, j in product(range(32), range(2)):
        row, col = 2 * (lane & 3) + j, lane >> 2
        place = dict(
            zip(
                ("matrix", "row", "element"),
                fragment(moved, "d")(register=j, lane=lane),
                strict=True,
            )
        )
        assert place == {"matrix": 0, "row": row, "element": col}
        assert source(**place) == (col & 1, 4 * row + (col >> 1))


def test_identities_that_kernels_rely_on():
    from tilec.layout import LinearLayout

    a = fragment("m16n8k16", "a", "f16")
    half = fragment("m16n8k8", "a", "f16")
    assert half * LinearLayout.identity(2, "register", "col") == a
    c = fragment("m16n8k16", "c", "f32")
    assert c == half
    assert fragment("m16n8k16", "c", "f16") == c == fragment("m16n8k8", "d", "f16")


def test_wmma_has_no_fragment():
    for f in warp_forms().values():
        if isinstance(f, WmmaMma | WmmaMemory):
            with pytest.raises(LayoutError, match="the ISA does not define"):
                fragment(f, (*f.results, *f.operands)[0].name)
    assert any(f.family is Family.WMMA_MMA for f in warp_forms().values())

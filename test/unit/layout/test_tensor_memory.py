"""Where operands lie in tensor memory: formulas of the ISA's and CuTe's tables, coded apart."""

from __future__ import annotations

import json
from itertools import product

import numpy as np
import pytest
from tilec.layout import LayoutError
from tilec.layout.tensor_memory import (
    accumulator,
    layout_name,
    left_operand,
    metadata,
    scale_factors,
)
from tilec.tools import tile_layout

#: Letter: M, CTAs, .ws, sparse.
CASES = {
    "D": (128, 1, False, False),
    "A": (256, 2, False, False),
    "F": (64, 1, False, False),
    "C": (128, 2, False, True),
    "B": (128, 2, False, False),
    "E": (64, 1, True, False),
    "G": (32, 1, True, False),
}


def place(letter, m, n, cols):
    """CTA, lane and column of element (m, n) of D."""
    match letter:
        case "D":
            return 0, m, n
        case "A":
            return m // 128, m % 128, n
        case "F":
            return 0, 32 * (m // 16) + m % 16, n
        case "C":
            return m // 64, 32 * (m % 64 // 16) + m % 16, n
        case "B":
            return m // 64, m % 64 + 64 * (n // (cols // 2)), n % (cols // 2)
        case "E":
            return 0, m + 64 * (n // (cols // 2)), n % (cols // 2)
    return 0, m + 32 * (n // (cols // 4)), n % (cols // 4)


@pytest.mark.parametrize("letter", CASES)
def test_every_accumulator(letter):
    """Of every N: each element once, in its place, and no place twice."""
    m, group, stationary, sparse = CASES[letter]
    given = {"stationary": stationary, "sparse": sparse}
    assert layout_name(m, group, **given) == letter
    for n in (64, 128, 256) if stationary else range(16, 257, 16):
        layout = accumulator(m, n, group, **given)
        cta, lane, column = layout.places()
        seen = set(zip(cta.flat, lane.flat, column.flat, strict=True))
        assert len(seen) == m * n
        assert column.max() + 1 == layout.columns
        for row, col in product(
            (0, 1, 15, 16, 31, m // 2, m - 1), (0, 1, n // 2 - 1, n // 2, n - 1)
        ):
            assert layout.place(row, col) == place(letter, row, col, n)
            at = (cta[row, col], lane[row, col], column[row, col])
            assert at == place(letter, row, col, n)
    assert list(layout.held(0, 0))[1] == (1, (0, 1))


def test_eights_of_columns():
    """N of one CTA need not be a power of two."""
    for m, n in product((64, 128), range(8, 257, 8)):
        cta, lane, column = accumulator(m, n).places()
        rows = np.arange(m)[:, None]
        assert (lane == (rows if m == 128 else rows // 16 * 32 + rows % 16)).all()
        assert (column == np.arange(n)).all()
        assert not cta.any()


@pytest.mark.parametrize(("container", "k"), [(16, 16), (32, 8), (8, 32), (4, 64)])
def test_a_takes_eight_columns_a_step(container, k):
    for letter, (m, group, stationary, sparse) in CASES.items():
        layout, packed = left_operand(m, k, container, group, stationary=stationary, sparse=sparse)
        assert (layout.columns, packed) == (8, 32 // container)
        for row, word in product((0, 17, m - 1), (0, 5, 7)):
            assert layout.place(row, word) == place(letter, row, word, 1 << 20)


@pytest.mark.parametrize("rows", [32, 64, 96, 128, 192, 256])
def test_scale_factors(rows):
    layout = scale_factors(rows)
    for row, scale in product(range(rows), range(4)):
        assert layout(row=row, scale=scale) == (row % 32, row // 32, scale)


def test_metadata():
    """By the formulas of the logical k of each chunk's first element."""
    for bits, chunk, count in ((16, 4, 8), (32, 2, 8), (8, 4, 16), (4, 8, 16)):
        layout = metadata(bits)
        assert layout.is_bijective
        for m, code in product(range(128), range(count)):
            k = code * chunk
            if bits == 16:
                lane, column = m % 8 + 8 * (k // 16) + 16 * (m // 16), 0
                bit = 16 * (m // 8 % 2) + k % 16
            elif bits == 32:
                lane, column = m % 8 + 8 * (k // 8) + 16 * (m // 16), 0
                bit = 16 * (m // 8 % 2) + 2 * (k % 8)
            elif bits == 8:
                lane, column, bit = m, k // 32, k % 32
            else:
                lane, column, bit = m, k // 64, k // 2 % 32
            assert layout(row=m, col=code) == (lane, column, bit // 4)


def test_what_there_is_not():
    with pytest.raises(LayoutError, match="no D of 96 rows with cta_group::1"):
        accumulator(96, 64)
    with pytest.raises(LayoutError, match="no element 0,64 in 128×64"):
        accumulator(128, 64).place(0, 64)


@pytest.fixture
def show(capsys):
    def show(*argv):
        code = tile_layout.main(argv)
        out, err = capsys.readouterr()
        return code, out, err

    return show


def test_tile_layout_shows_them(show):
    name = "tcgen05.mma.cta_group::2.kind::f16"
    code, out, _ = show(name, "--operand", "d", "--shape", "128x64", "--format", "json")
    data = json.loads(out)
    assert (code, data["columns"], data["shape"]) == (0, 32, [128, 64, 16])
    lanes = data["lanes"]
    for row, col in product((0, 63, 64, 127), (0, 31, 32, 63)):
        cta, lane, column = place("B", row, col, 64)
        assert [column, 0, row, col] in lanes[cta][lane]
    assert sum(len(lane) for cta in lanes for lane in cta) == 128 * 64
    _, out, _ = show(name, "--shape", "128x64", "--element", "70,40")
    assert out == "CTA 1, lane 70, column 8, from bit 0\n"
    _, out, _ = show(name, "--shape", "256x16")
    assert "CTA 1, lanes 112-127, columns 8-15: rows 240-255, cols 8-15" in out
    _, out, _ = show(name, "--shape", "256x32", "--format", "svg")
    assert out.startswith("<svg")
    assert "rows 240-255, cols 24-31" in out


def test_tile_layout_shows_a_scales_and_metadata(show):
    _, out, _ = show("tcgen05.mma.cta_group::1.kind::f8f6f4", "--operand", "a", "--element", "3,6")
    assert out == "lane 3, column 1, from bit 16\n"
    scaled = "tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.block16"
    _, out, _ = show(scaled, "--operand", "sfa", "--element", "70,2")
    assert out.splitlines() == [f"lane {6 + 32 * n}, column 2, from bit 16" for n in range(4)]
    pair = "tcgen05.mma.cta_group::2.kind::mxf4.block_scale"
    _, out, _ = show(pair, "--operand", "sfb", "--shape", "128x128", "--element", "100,1")
    wanted = [(cta, lane) for cta in (0, 1) for lane in (64 + 4, 96 + 4)]
    assert out.splitlines() == [f"CTA {c}, lane {n}, column 1, from bit 8" for c, n in wanted]
    sparse = "tcgen05.mma.sp.cta_group::1.kind::f16"
    _, out, _ = show(sparse, "--operand", "e", "--shape", "128x64", "--element", "9,5")
    assert out == "lane 9, column 0, from bit 20\n"
    # With .ws those of 32 rows stand in four banks of lanes, as CuTe's `tmem_e_frg_ws` has them.
    stationary = "tcgen05.mma.ws.sp.cta_group::1.kind::f16"
    _, out, _ = show(stationary, "--operand", "e", "--shape", "32x64", "--element", "9,5")
    assert out.splitlines() == [f"lane {9 + 32 * n}, column 0, from bit 20" for n in range(4)]
    code, _, error = show(sparse, "--operand", "e", "--shape", "64x64")
    assert code == 1
    assert "64 rows of a CTA is published only as a picture; legal: M = 128" in error


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["--operand", "sfa"], "has no operand 'sfa' in tensor memory; it has d"),
        (["--shape", "96x64"], "M = 96 is not legal for kind::f16, cta_group::1; legal: 64, 128"),
        (["--format", "csv"], "tensor memory is text, json, svg, png"),
        (["--element", "200,0"], "no element 200,0 in operand d"),
        (["--types", "f32.e4m3.e4m3"], "kind::f16 has no f32 e4m3 e4m3 of D, A, B"),
        (["--lane", "0"], "--lane does not apply to tcgen05.mma, whose operands are in tensor"),
        (["--selector", "0"], "--selector does not apply to tcgen05.mma"),
        (["--byte-id", "1"], "--byte-id does not apply to tcgen05.mma"),
        (["--type", "f16"], "--type does not apply to tcgen05.mma"),
        (["--sparse"], "--sparse does not apply to tcgen05.mma"),
        (["--swizzle", "128B"], "--swizzle does not apply to tcgen05.mma"),
    ],
)
def test_mistakes(show, argv, message):
    code, out, err = show("tcgen05.mma.cta_group::1.kind::f16", *argv)
    assert (code, out) == (1, "")
    assert message in err


def test_types_of_a_product_in_registers(show):
    code, out, err = show("m16n8k16", "--operand", "a", "--type", "f16", "--types", "f32.f16.f16")
    assert (code, out) == (1, "")
    assert "--types has those of tcgen05.mma; of others --type has the operand's" in err

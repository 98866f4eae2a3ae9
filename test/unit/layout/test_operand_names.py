"""Names of operands' layouts: one each, whatever says the layout."""

from __future__ import annotations

import pytest
from tilec.isa import TilecError, form
from tilec.layout import fragment
from tilec.layout.operand_names import operand_name, operand_of
from tilec.layout.tiling import operand_tile, row_tile

F16 = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
NAMED = {
    ("m16n8k16", "a", "f16"): "a, m16k16, b16",
    ("m16n8k16", "a", "bf16"): "a, m16k16, b16",
    ("m16n8k16", "b", "f16"): "b, k16n8, b16",
    ("m16n8k16", "c", "f32"): "c, m16n8",
    ("m16n8k32", "c", "s32"): "c, m16n8",
    ("m16n8k32", "a", "s8"): "a, m16k32, b8",
    ("m8n8k4", "c", "f64"): "c, m8n8",
}


@pytest.mark.parametrize("operand", NAMED, ids=" ".join)
def test_fragments(operand: tuple[str, str, str]) -> None:
    layout = fragment(*operand)
    assert operand_name(str(layout)) == NAMED[operand]
    assert operand_of(NAMED[operand]) == layout


@pytest.mark.parametrize("warps", [(1, 1), (4, 2), (2, 4), (1, 8)])
@pytest.mark.parametrize("operand", ["a", "b", "c"])
def test_tiles(operand: str, warps: tuple[int, int]) -> None:
    layout = operand_tile(form(F16), operand, 128, 64, warps)
    name = operand_name(str(layout))
    assert name is not None
    assert name.endswith(f"128x64, warps {warps[0]}x{warps[1]}")
    assert operand_of(name) == layout


def test_what_is_no_operand() -> None:
    assert operand_name(str(row_tile(64, 64, 8, 4))) is None
    assert operand_name("m16n8k16 a f16") is None
    assert operand_name("register [0,1 -> row 2") is None


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("a, m16k17, b16", "unknown operand 'a, m16k17, b16'; nearest legal: a, m16k16, b16"),
        ("a m16k16", "names no operand"),
        ("c, m16n8, 24x8, warps 1x1", "24"),
    ],
)
def test_what_names_none(name: str, message: str) -> None:
    with pytest.raises(TilecError, match=message):
        operand_of(name)

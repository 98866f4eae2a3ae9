"""What a warp holds of tensor memory: the formulas of the ISA's pictures, coded apart."""

from __future__ import annotations

import json

import pytest
from tilec.isa import forms, forms_of
from tilec.isa.tensor_moves import TensorMove
from tilec.layout import LayoutError, fragment, fragment_of
from tilec.tools import tile_layout

forms()["tcgen05.ld.sync.aligned.32x32b.x1.b32"]
EVERY = forms_of(TensorMove)


def place(shape, t, i):
    """Lane and column of register i of thread t, and whether it is of the second half."""
    match shape:
        case "32x32b":
            return t, i, 0
        case "16x64b":
            return t // 4 + 8 * (t % 2), t // 2 % 2 + 2 * i, 0
        case "16x128b":
            return t // 4 + 8 * (i % 2), t % 4 + 4 * (i // 2), 0
        case "16x256b":
            return t // 4 + 8 * (i // 2 % 2), i % 2 + 2 * (t % 4) + 8 * (i // 4), 0
        case "16x32bx2":
            return t % 16, i, t // 16
    raise AssertionError(shape)


REGISTERS = {"32x32b": 1, "16x64b": 1, "16x128b": 2, "16x256b": 4, "16x32bx2": 1}


@pytest.mark.parametrize("ptx", [one.ptx for one in EVERY])
def test_every_register(ptx):
    form = forms()[ptx]
    words = ptx.split(".")
    at = next(n for n, word in enumerate(words) if word in REGISTERS)
    shape, count = words[at], words[at + 1]
    registers = REGISTERS[shape] * int(count[1:])
    assert form.fragment.registers == registers
    layout = fragment_of(form, form.fragment.name)
    packed = "16b" in ptx
    for t in (0, 1, 2, 6, 13, 16, 31):
        for i in range(registers):
            lane, column, half = place(shape, t, i)
            for part in range(2 if packed else 1):
                found = layout(register=2 * i + part if packed else i, lane=t)
                wanted = (lane, 2 * column + part if packed else column)
                assert found == (wanted if shape != "16x32bx2" else (*wanted, half))
    assert layout.is_bijective


def test_what_a_reduction_gives():
    form = forms()["tcgen05.ld.red.sync.aligned.32x32b.x4.max.f32"]
    for t in range(32):
        assert fragment(form, "red")(register=0, lane=t) == (t, 0)
    halves = forms()["tcgen05.ld.red.sync.aligned.16x32bx2.x4.max.f32"]
    with pytest.raises(LayoutError, match="the ISA does not define"):
        fragment(halves, "red")


def test_tile_layout_lists_lanes_and_columns(capsys):
    name = "tcgen05.ld.sync.aligned.16x128b.x4.b32"
    assert tile_layout.main([name, "--operand", "d", "--format", "json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert (data["shape"], data["registers"], data["bits"]) == ("16x128b", 8, 32)
    held = [[list(place("16x128b", t, i)[:2]) for i in range(8)] for t in range(32)]
    assert data["lanes"] == held


def test_tile_layout_says_it_in_words(capsys):
    name = "tcgen05.st.sync.aligned.16x256b.x2.b32"
    assert tile_layout.main([name]) == 0
    out = capsys.readouterr().out
    assert "lane = (t >> 2) + 8 * (i >> 1 & 1)" in out
    assert "column = (i & 1) + 2 * (t & 3) + 8 * (i >> 2)" in out
    assert tile_layout.main([name, "--operand", "r", "--element", "9,13"]) == 0
    assert capsys.readouterr().out == "lane 6, register 7, bits 0-31\n"
    for kind in ("svg", "csv", "md", "html"):
        assert tile_layout.main([name, "--operand", "r", "--format", kind]) == 0
        assert len(capsys.readouterr().out) > 500
    assert tile_layout.main([name, "--operand", "t"]) == 0
    assert "No register holds operand t: it lies in tensor memory." in capsys.readouterr().out

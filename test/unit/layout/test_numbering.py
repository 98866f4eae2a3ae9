"""One numbering of registers: a fragment's picture, a conversion's, a layout's and an editor's."""

from __future__ import annotations

import re

import pytest
from tilec.layout import LinearLayout, fragment
from tilec.layout.drawing import layout_grid
from tilec.tools.tile_layout import main

TITLE = re.compile(r"<title>lane (\d+), (register \d+(?:, bits \d+-\d+)?|element \d+)")


def shown(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main([*arguments]) == 0
    return capsys.readouterr().out


def a_of_m16n8k16(row: int, col: int) -> tuple[int, int, int]:
    """Lane, 32-bit register and half. PTX ISA, "Matrix Fragments for mma.m16n8k16", .f16 A."""
    lane = row % 8 * 4 + col % 8 // 2
    i = (4 if col >= 8 else 0) + (2 if row >= 8 else 0) + col % 2
    return lane, i // 2, i % 2


def test_a_layout_with_the_width_of_its_elements() -> None:
    grid = layout_grid(fragment("m16n8k16", "a", "f16"), bits=16)
    assert grid.title.startswith("lane:register")
    for row in range(16):
        for col in range(16):
            lane, register, half = a_of_m16n8k16(row, col)
            cell = grid.cells[row][col]
            assert cell.text == f"{lane}:{register}"
            assert (
                cell.about == f"lane {lane}, register {register}, bits {16 * half}-{16 * half + 15}"
            )


def test_without_it_elements_are_counted() -> None:
    grid = layout_grid(fragment("m16n8k16", "a", "f16"))
    assert grid.title.startswith("lane:element")
    assert grid.cells[8][9][:3] == ("0:7", "lane 0, element 7", 0)


def test_a_conversion_is_drawn_as_its_fragments_are(capsys: pytest.CaptureFixture[str]) -> None:
    """Both ends of it have the registers that `--element` answers with."""
    out = shown(capsys, "--convert", "m16n8k16:c:f16", "m16n8k16:a:f16", "--format", "svg")
    assert "lane:register" in out
    after = TITLE.findall(out)[-256:]
    for row, col in ((0, 0), (3, 5), (12, 9)):
        question = ("m16n8k16", "--operand", "a", "--type", "f16", "--element", f"{row},{col}")
        lane, where = after[16 * row + col]
        assert shown(capsys, *question).strip() == f"lane {lane}, {where}"


@pytest.mark.parametrize(
    ("bits", "said"), [((), "lane:element"), (("--bits", "8"), "lane:register")]
)
def test_a_layout_by_its_bases(
    capsys: pytest.CaptureFixture[str], bits: tuple[str, ...], said: str
) -> None:
    out = shown(capsys, "register [0,1] [0,2]; lane [1,0] -> row 2, col 4", *bits)
    assert said in out
    last = out.splitlines()[-1].split()
    assert last == (["1", *["1:0"] * 4] if bits else ["1", "1:0", "1:1", "1:2", "1:3"])


def test_a_wide_element_has_a_register(capsys: pytest.CaptureFixture[str]) -> None:
    out = shown(capsys, "register [0,1]; lane [1,0] -> row 2, col 2", "--bits", "64")
    assert out.splitlines()[-1].split() == ["1", "1:0", "1:1"]


def test_one_output_goes_across_in_rows_of_sixteen():
    layout = LinearLayout.parse(
        "register [1] [2] [512]; lane [4] [8] [16] [32] [64]; warp [128] [256] -> row 1024"
    )
    whole, part = layout_grid(layout), layout_grid(layout, fixed={"warp": 1})
    assert (len(whole.rows), len(whole.cols)) == (64, 16)
    for grid in (whole, part):
        for row, cells in zip(grid.rows, grid.cells, strict=True):
            for col, cell in zip(grid.cols, cells, strict=True):
                warp, lane, register = map(int, cell.text.split(":"))
                high, low = divmod(register, 4)
                assert int(row) + int(col) == low + 4 * lane + 128 * warp + 512 * high
    assert [*part.rows[:2], *part.rows[-2:]] == ["128", "144", "736", "752"]
    strided = layout_grid(LinearLayout.parse("lane [1] [2] [8] [16] [32] -> x 64"), fixed={})
    assert len(strided.cols) == 16  # with cells of nobody

"""Which loads of tensor memory bring a wanted fragment; what each brings is coded here apart."""

from __future__ import annotations

import json
from itertools import product
from typing import Any

import pytest
from tilec.layout import LinearLayout
from tilec.layout.tensor_memory import accumulator, left_operand
from tilec.layout.tensor_reads import Moves, moves_for
from tilec.tools import tile_layout

REGISTERS = {"32x32b": 1, "16x64b": 1, "16x128b": 2, "16x256b": 4, "16x32bx2": 1}


def place(shape: str, t: int, i: int, apart: int) -> tuple[int, int]:
    """Lane and column of register i of thread t: PTX ISA 9.7.16.2.3."""
    match shape:
        case "32x32b":
            return t, i
        case "16x64b":
            return t // 4 + 8 * (t % 2), t // 2 % 2 + 2 * i
        case "16x128b":
            return t // 4 + 8 * (i % 2), t % 4 + 4 * (i // 2)
        case "16x256b":
            return t // 4 + 8 * (i // 2 % 2), i % 2 + 2 * (t % 4) + 8 * (i // 4)
    return t % 16, i + t // 16 * apart


def brought(moves: Moves, *, packed: bool) -> list[set[tuple[int, int]]]:
    """Rows and columns of D that each thread gets, of M = 128 from row 0 on."""
    words = moves.move.ptx.split(".")
    shape = next(word for word in words if word in REGISTERS)
    count = int(words[words.index(shape) + 1][1:])
    found: list[set[tuple[int, int]]] = [set() for _ in range(32)]
    for t, i, (row, col) in product(range(32), range(REGISTERS[shape] * count), moves.places):
        lane, column = place(shape, t, i, count)
        for part in range(2 if packed else 1):
            at = 2 * column + part if packed else column
            found[t].add((row + lane, col + at))
    return found


def held(wanted: LinearLayout) -> list[set[tuple[int, int]]]:
    count = wanted.in_sizes["register"]
    return [
        {tuple(wanted(register=r, lane=t)) for r in range(count)}  # type: ignore[misc]
        for t in range(32)
    ]


ROWS = "lane [1,0] [2,0] [4,0] [8,0] [16,0] -> row 32"
MMA = "lane [0,2] [0,4] [1,0] [2,0] [4,0]"
#: A layout, whether D is of 16 bits, and the first of its loads, and how many.
WANTED: list[tuple[str, bool, str, int]] = [
    (f"register [0,1] [0,2] [0,4]; {ROWS}, col 8", False, "32x32b.x8", 1),
    (f"register [0,4] [0,1] [0,2]; {ROWS}, col 8", False, "32x32b.x8", 1),
    (f"register [0,1] [0,2] [0,16]; {ROWS}, col 32", False, "32x32b.x4", 2),
    (f"register [0,1] [8,0] [0,8]; {MMA} -> row 16, col 16", False, "16x256b.x2", 1),
    (f"register [0,1] [8,0] [0,8] [0,16] [16,0]; {MMA} -> row 32, col 32", False, "16x256b.x4", 2),
    (f"register [0,1] [8,0] [0,8]; {MMA} -> row 16, col 16", True, "16x128b.x2.pack::16b", 1),
    ("register [0,1]; lane [1,0] [2,0] [4,0] [8,0] [0,2] -> row 16, col 4",
     False, "16x32bx2.x2", 1),
    ("register [0,2]; lane [8,0] [0,1] [1,0] [2,0] [4,0] -> row 16, col 4", False, "16x64b.x2", 1),
]  # fmt: skip


@pytest.mark.parametrize(("text", "halves", "best", "count"), WANTED)
def test_every_way(text: str, halves: bool, best: str, count: int) -> None:
    wanted = LinearLayout.parse(text)
    found = moves_for(accumulator(128, 64), 1, wanted, store=False, halves=halves)
    assert found[0].move.ptx == f"tcgen05.ld.sync.aligned.{best}.b32"
    assert [one.count for one in found] == sorted(one.count for one in found)
    assert found[0].count == count
    for one in found:
        assert brought(one, packed=halves) == held(wanted)
    stores = moves_for(accumulator(128, 64), 1, wanted, store=True, halves=halves)
    names = [one.move.ptx.replace(".st.", ".ld.").replace("unpack", "pack") for one in stores]
    assert names == [one.move.ptx for one in found]


def test_a_packs_its_elements() -> None:
    wanted = LinearLayout.parse(f"register [0,1] [0,2] [0,4]; {ROWS}, col 8")
    matrix, packed = left_operand(128, 16, 16)
    found = moves_for(matrix, packed, wanted, store=True)
    assert [(one.move.count, one.count) for one in found] == [(4, 1), (2, 2), (1, 4)]


@pytest.mark.parametrize(
    "text",
    [
        f"register [0,2]; {ROWS}, col 4",  # which leaves columns between
        "register [0,1]; lane [1,0] [2,0] [4,0] [0,2] [8,0] -> row 16, col 4",
        "register; lane [1,0] [2,0] [4,0] [8,0] [0,0] -> row 16, col 1",
    ],
)
def test_what_no_load_brings(text: str) -> None:
    found = moves_for(accumulator(128, 64), 1, LinearLayout.parse(text), store=False)
    for one in found:  # single columns, one by one
        assert one.move.columns == 1


def test_tile_layout_tells(capsys: Any) -> None:
    name = "tcgen05.mma.cta_group::1.kind::f16"
    argv = [name, "--operand", "d", "--types", "f32.f16.f16", "--shape", "128x64", "--registers"]
    layout = f"register [0,1] [8,0] [0,8] [16,0]; {MMA} -> row 32, col 16"
    assert tile_layout.main([*argv, layout]) == 0
    first, *_ = capsys.readouterr().out.splitlines()
    assert first == "tcgen05.ld.sync.aligned.16x256b.x2.b32, 2 times, at row,col 0,0 16,0"
    assert tile_layout.main([*argv, layout, "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found[0] == {
        "form": "tcgen05.ld.sync.aligned.16x256b.x2.b32", "places": [[0, 0], [16, 0]],
    }  # fmt: skip
    for wrong, says in (
        ("register [1]; lane [2] -> row 4", "registers are (register, lane) -> (row, col), not"),
        ("register; lane [0,1] [0,2] [1,0] [2,0] [4,0] -> row 8, col 4", "no tcgen05.ld brings a"),
    ):
        assert tile_layout.main([*argv, wrong]) == 1
        assert says in capsys.readouterr().err

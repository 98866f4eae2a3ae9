"""Loads and stores whose halves lie apart, rows that move, and columns that no other CTA gets."""

# ruff: noqa: E501 (programs have long lines)

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tilec
from tilec.backend.ptx import written_version
from tilec.dialects.tile import builders as tile
from tilec.isa import PtxVersion, TilecError, target
from tilec.sim import PtxError

from .tensor_agreement import agree

#: By element: what 16x32bx2 of 16 columns moves, and what a shape of 16x64b does of the same.
FRAGMENTS = {
    "f32": (
        "register [0,1] [0,2] [0,4]; lane [1,0] [2,0] [4,0] [8,0] [0,8]", "x8",
        "register [0,2] [0,4] [0,8]; lane [8,0] [0,1] [1,0] [2,0] [4,0]", "x8",
    ),
    "f16": (
        "register [0,1] [0,2] [0,4]; lane [1,0] [2,0] [4,0] [8,0] [0,8]", "x4",
        "register [0,1] [0,4] [0,8]; lane [8,0] [0,2] [1,0] [2,0] [4,0]", "x4",
    ),
}  # fmt: skip


def program(element: str, *, store: bool) -> str:
    """Each warp stores 16 rows of a quarter of the lanes by one shape, and loads them by the other."""
    halves, x, others, y = FRAGMENTS[element]
    pack, unpack = (".pack::16b", ".unpack::16b") if element == "f16" else ("", "")
    names = (f"16x32bx2.{x}", f"16x64b.{y}")
    first, second = names if store else names[::-1]
    one, two = (halves, others) if store else (others, halves)
    return f"""
!M = memref<?x?x{element}, strided<[?, 1]>>
!D = memref<64x32x{element}, #tile.tensor<"d">>
!X = !tile.frag<tensor<16x16x{element}>, #tile.layout<"{one} -> row 16, col 16">>
!Y = !tile.frag<tensor<16x16x{element}>, #tile.layout<"{two} -> row 16, col 16">>
gpu.module @m {{
  gpu.func @k(%from: !M, %to: !M) kernel attributes {{known_block_size = array<i32: 128, 1, 1>}} {{
    %c0 = arith.constant 0 : index
    %c5 = arith.constant 5 : index
    %c16 = arith.constant 16 : index
    %d = tile.alloc_tensor : !D
    %thread = gpu.thread_id x
    %warp = arith.shrui %thread, %c5 : index
    %row = arith.muli %warp, %c16 : index
    %x = tile.load %from[%row, %c0] : !M -> !X
    tile.tcgen05_st %x, %d[%row, %c16] {{form = "tcgen05.st.sync.aligned.{first}{unpack}.b32"}} : !X, !D
    tile.tcgen05_wait_st
    %y = tile.tcgen05_ld %d[%row, %c16] {{form = "tcgen05.ld.sync.aligned.{second}{pack}.b32"}} : !D -> !Y
    %all = tile.tcgen05_wait_ld %y : !Y
    tile.store %all, %to[%row, %c0] : !Y, !M
    gpu.return
  }}
}}
"""


@pytest.mark.parametrize("store", [True, False])
@pytest.mark.parametrize("element", FRAGMENTS)
def test_halves(element: str, store: bool, assemblers_for: Callable[..., list[Any]]) -> None:
    """The second half of the columns is told to be where the first ends."""
    type_ = np.float32 if element == "f32" else np.float16
    given = np.arange(64 * 16).reshape(64, 16).astype(type_)
    ptx = agree(program(element, store=store), [given, given * 0], given, assemblers_for)
    assert (", 8, {" if store else "}, [") in ptx


def shifted() -> str:
    with tile.module("m", target="sm_100a") as module, tile.kernel("k", {}, block=128):
        a = tile.alloc_tensor('memref<128x64xf16, #tile.tensor<"a">>')
        tile.tcgen05_shift(a, 32, 16)
    return str(module)


def test_rows_that_move(assemblers_for: Callable[..., list[Any]]) -> None:
    """Which way is shown by a picture alone: emitted, and not executed."""
    compiled = tilec.compile(shifted(), target="sm_100a", cache=False)
    assert "tcgen05.shift.cta_group::1.down [" in compiled.ptx
    for ptxas in assemblers_for(target("sm_100a"))[-1:]:
        assert ptxas.run(compiled.ptx, "sm_100a") == (0, "")
    says = r":\d+:\d+: 'tcgen05\.shift\.cta_group::1\.down' is not simulated: which way rows move"
    with pytest.raises(PtxError, match=says):
        compiled.launch(grid=1, device="sim")


@pytest.mark.parametrize("name", ["sm_100f", "sm_120a"])
def test_rows_do_not_move_everywhere(name: str) -> None:
    with pytest.raises(TilecError, match=rf"'tile\.tcgen05_shift' op .* does not exist on {name};"):
        _ = tilec.compile(shifted(), target=name, cache=False).ptx


def test_columns_that_no_other_cta_gets(assemblers_for: Callable[..., list[Any]]) -> None:
    with tile.module("m", target="sm_100f") as module, tile.kernel("k", {}, block=32):
        slot = tile.alloc_shared((1, 1), "i32")
        tile.tcgen05_alloc(slot, 32, exclusive=True)
        tile.tcgen05_dealloc(slot, 32, exclusive=True)
    for name in ("sm_100a", "sm_103a", "sm_107f"):
        compiled = tilec.compile(str(module), target=name, cache=False)
        assert written_version(compiled.ptx) == PtxVersion(9, 4)
        for word in ("alloc", "dealloc"):
            assert f"tcgen05.{word}.exclusive.cta_group::1.sync.aligned" in compiled.ptx
        for ptxas in assemblers_for(target(name), PtxVersion(9, 4))[-1:]:
            assert ptxas.run(compiled.ptx, name) == (0, "")
    with pytest.raises(TilecError, match=r"exclusive.* does not exist on sm_120a"):
        _ = tilec.compile(str(module), target="sm_120a", cache=False).ptx

"""Builders of what happens in tensor memory: types are inferred, and what they make round-trips."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import tilec
from tilec.dialects.tile import builders as tile
from tilec.ir.mlir import ir
from tilec.isa import TilecError

F16 = "tcgen05.mma.cta_group::1.kind::f16.a::descriptor"
MX = "tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale.block32.a::descriptor"
LOAD = "tcgen05.ld.sync.aligned.16x256b.x2.b32"


@pytest.fixture
def module() -> Iterator[ir.Module]:
    """A module with a kernel that is being built."""
    with tile.module("m", target="sm_100a") as built, tile.kernel("k", {}, block=128):
        yield built


def test_a_product_and_its_sums(module: ir.Module) -> None:
    a, bars = tile.alloc_shared((128, 64), "f16", "128B"), tile.alloc_shared((1,), "i64")
    d = tile.alloc_tensor('memref<128x128xf32, #tile.tensor<"d">>')
    tile.tcgen05_mma(F16, "f32.f16.f16", a, a, d, *[0] * 6, accumulate=False, flags=["negate_b"])
    tile.tcgen05_commit(bars, 0)
    tile.tcgen05_fence("after")
    loaded = tile.tcgen05_ld(LOAD, d, 16, 32)
    assert loaded.type.tile.shape == [16, 16]
    # As mma.m16n8 holds C: two columns of a row, and two of the row eight below.
    registers = "register [0,1] [8,0] [0,8]; lane [0,2] [0,4] [1,0] [2,0] [4,0]"
    assert str(loaded.type.layout) == f'#tile.layout<"{registers} -> row 16, col 16">'
    (waited,) = tile.tcgen05_wait_ld(loaded)
    assert waited.type == loaded.type
    tile.tcgen05_st(LOAD.replace(".ld.", ".st."), waited, d, 0, 64)
    tile.tcgen05_wait_st()
    assert "negate_b" in str(module)


def test_columns_by_hand(module: ir.Module) -> None:
    slot = tile.alloc_shared((1, 1), "i32")
    tile.tcgen05_alloc(slot, 64)
    tile.tcgen05_relinquish()
    buffer = tile.tensor_buffer(slot, 32, 'memref<128x4xi8, #tile.tensor<"scale">>')
    atoms = tile.alloc_shared((32, 16), "i8")
    tile.tcgen05_cp("tcgen05.cp.cta_group::1.32x128b.warpx4", atoms, buffer, *[0] * 4)
    tile.tcgen05_dealloc(slot, 64)
    text = str(module)
    for name in ("alloc", "relinquish", "cp", "dealloc"):
        assert f"tile.tcgen05_{name}" in text


def test_scale_factors(module: ir.Module) -> None:
    a = tile.alloc_shared((128, 128), "f8E4M3FN", "128B")
    d = tile.alloc_tensor('memref<128x128xf32, #tile.tensor<"d">>')
    s = tile.alloc_tensor('memref<128x4xf8E8M0FNU, #tile.tensor<"scale">>')
    tile.tcgen05_mma_scaled(MX, "f32.e4m3.e4m3", a, a, d, s, s, *[0] * 9, 3)
    with pytest.raises(TilecError, match="flags are negate_a"):
        tile.tcgen05_mma_scaled(MX, "f32.e4m3.e4m3", a, a, d, s, s, *[0] * 10, flags=["minus"])
    assert "scale" in str(module)


def test_mistakes_are_told_where_they_are(module: ir.Module) -> None:
    d = tile.alloc_tensor('memref<64x128xf32, #tile.tensor<"d">>')
    with pytest.raises(TilecError, match="reaches 32 lanes of 4 columns, not all"):
        tile.tcgen05_ld("tcgen05.ld.sync.aligned.32x32b.x4.b32", d, 0, 0)
    assert tilec.__version__
    del module

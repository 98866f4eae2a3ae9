"""Sparse and block-scaled products of a CTA's tiles: what the simulator computes is numpy's.

Every warp grid, tiles with room for several instructions in a register of metadata or scale
factors, and tiles with less.
"""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
import tilec
from numpy.typing import NDArray
from tilec.dialects.tile import builders as tile
from tilec.isa import form as find_form
from tilec.runtime import sparse

from ..combinations import in_turn

SPARSE = {
    # form, of mma.sp: what memory holds of A and B, of C
    "mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32": ("f16", "f32"),
    "mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32": ("f16", "f32"),
    "mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.tf32.tf32.f32": ("f32", "f32"),
    "mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.s32.s8.s8.s32": ("i8", "i32"),
    "mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32": ("i8", "i32"),
}
GRIDS = [(1, 1), (2, 1), (1, 2), (2, 2), (4, 2)]
DTYPES = {"f16": np.float16, "f32": np.float32, "i8": np.int8, "i32": np.int32}
TILES = [(1, 1, 1), (2, 2, 2), (1, 2, 4), (4, 1, 2)]
"""Instructions of a warp along M, N and K."""


def program(
    form: str, memory: dict[str, Any], grid: tuple[int, int], dot: Any, *, transposed: str = ""
) -> Any:
    """A kernel that loads every operand, multiplies and stores to `c`.

    Args:
        form: the instruction.
        memory: of each operand, its memref and the extents of its tile.
        grid: warps along M and N.
        dot: the builder.
        transposed: the operand whose memory holds the transpose, if any.
    """
    arguments = {name: memref for name, (memref, _) in memory.items()}
    warps = grid[0] * grid[1]
    with (
        tile.module("m", target="sm_120a") as module,
        tile.kernel("k", arguments, block=32 * warps) as values,
    ):
        named = dict(zip(arguments, values, strict=True))
        loaded = [
            tile.load(
                named[name],
                0,
                0,
                type=tile.operand_tensor(form, name, *shape, warps=grid),
                transposed=name == transposed,
            )
            for name, (_, shape) in memory.items()
        ]
        tile.store(dot(form, *loaded), named["c"], 0, 0)
    return module


def extents(form: Any, name: str, counts: dict[str, int]) -> tuple[int, int]:
    rows, cols = {"a": "mk", "b": "kn", "c": "mn", "e": "mk", "sfa": "mk", "sfb": "kn"}[name]
    operand = form.operand(name)
    return operand.rows * counts[rows], operand.cols * counts[cols]


def counted(tiles: tuple[int, int, int], grid: tuple[int, int]) -> dict[str, int]:
    return {"m": tiles[0] * grid[0], "n": tiles[1] * grid[1], "k": tiles[2]}


def random(rng: np.random.Generator, shape: tuple[int, int], name: str) -> NDArray[Any]:
    return rng.integers(-8, 8, shape).astype(DTYPES[name])


@pytest.mark.parametrize(("grid", "name", "tiles"), in_turn(GRIDS, SPARSE, TILES))
def test_sparse(name: str, grid: tuple[int, int], tiles: tuple[int, int, int]) -> None:
    form, rng = find_form(name), np.random.default_rng(1)
    counts = counted(tiles, grid)
    shapes = {operand: extents(form, operand, counts) for operand in "abce"}
    element, total = SPARSE[name]
    dense = random(rng, (shapes["a"][0], shapes["b"][0]), element)
    pruned = sparse.prune(form, dense)
    stored, codes = sparse.compress(form, pruned)
    assert codes.shape == shapes["e"]
    packed = codes[:, ::2] | codes[:, 1::2] << 4
    b, c = random(rng, shapes["b"], element), random(rng, shapes["c"], total)
    memory = {
        "a": (f"memref<{shapes['a'][0]}x{shapes['a'][1]}x{element}>", shapes["a"]),
        "b": (f"memref<{shapes['b'][0]}x{shapes['b'][1]}x{element}>", shapes["b"]),
        "c": (f"memref<{shapes['c'][0]}x{shapes['c'][1]}x{total}>", shapes["c"]),
        "e": (f"memref<{packed.shape[0]}x{packed.shape[1]}xi8>", shapes["e"]),
    }
    expected = pruned.astype(np.float64) @ b.astype(np.float64) + c
    module = program(name, memory, grid, tile.dot_sp)
    compiled = tilec.compile(module, target="sm_90")
    compiled.launch(stored, b, c, packed.astype(np.int8), grid=1, device="sim")
    np.testing.assert_array_equal(c, expected.astype(c.dtype))


SCALED = {
    # form: bytes of A and B an element, elements of a block
    "mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X"
    ".f32.e4m3.e4m3.f32.ue8m0": ml_dtypes.float8_e4m3fn,
    "mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.scale_vec::2X"
    ".f32.e2m1.e2m1.f32.ue8m0": ml_dtypes.float4_e2m1fn,
}


@pytest.mark.parametrize("tiles", TILES)
@pytest.mark.parametrize("grid", GRIDS)
@pytest.mark.parametrize("name", SCALED)
def test_scaled(name: str, grid: tuple[int, int], tiles: tuple[int, int, int]) -> None:
    form, rng = find_form(name), np.random.default_rng(2)
    counts = counted(tiles, grid)
    shapes = {operand: extents(form, operand, counts) for operand in ("a", "b", "c", "sfa", "sfb")}
    narrow = SCALED[name] is ml_dtypes.float4_e2m1fn
    a, b = (rng.integers(-4, 5, shapes[n]).astype(SCALED[name]) for n in "ab")
    sfa, sfb = (
        np.exp2(rng.integers(-2, 3, shapes[n])).astype(ml_dtypes.float8_e8m0fnu)
        for n in ("sfa", "sfb")
    )
    c = rng.integers(-8, 8, shapes["c"]).astype(np.float32)
    block = shapes["a"][1] // shapes["sfa"][1]
    left = a.astype(np.float64) * np.repeat(sfa.astype(np.float64), block, axis=1)
    right = b.astype(np.float64) * np.repeat(sfb.astype(np.float64), block, axis=0)
    expected = left @ right + c
    # B of four bits lies with K along its rows' bytes: it is stored transposed.
    held = {"a": in_bytes(a, narrow), "b": in_bytes(b.T, narrow) if narrow else in_bytes(b, False)}
    held |= {"sfa": sfa.view(np.int8), "sfb": sfb.view(np.int8)}
    memory = {
        name: (f"memref<{'x'.join(map(str, array.shape))}xi8>", shapes[name])
        for name, array in held.items()
    }
    rows, cols = shapes["c"]
    memory = {
        "a": memory["a"], "b": memory["b"], "c": (f"memref<{rows}x{cols}xf32>", shapes["c"]),
        "sfa": memory["sfa"], "sfb": memory["sfb"],
    }  # fmt: skip
    module = program(name, memory, grid, tile.dot_scaled, transposed="b" if narrow else "")
    compiled = tilec.compile(module, target="sm_120a")
    arrays = [c if n == "c" else held[n] for n in memory]
    compiled.launch(*arrays, grid=1, device="sim")
    np.testing.assert_array_equal(c, expected.astype(np.float32))


def in_bytes(array: NDArray[Any], narrow: bool) -> NDArray[np.int8]:
    codes = np.ascontiguousarray(array).view(np.uint8)
    packed = codes[:, ::2] | codes[:, 1::2] << 4 if narrow else codes
    return np.ascontiguousarray(packed).view(np.int8)

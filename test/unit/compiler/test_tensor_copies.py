"""Copies from shared to tensor memory of every shape, compiled, simulated and interpreted.

Which lanes the rows of a source go to is coded here once more, from PTX ISA 9.7.16.9.2.
"""

# ruff: noqa: E501 (programs have long lines)

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from .tensor_agreement import agree
from .tensor_programs import Product

LANES = "lane [1,0] [2,0] [4,0] [8,0] [16,0]"
SHAPES = {
    "128x256b": 128,
    "128x128b": 128,
    "64x128b.warpx2::02_13": 64,
    "64x128b.warpx2::01_23": 64,
    "32x128b.warpx4": 32,
    "4x256b": 4,
}
FIRST = 17
"""The row of the target where four rows begin."""


def program(shape: str) -> str:
    """Rows of 64 bytes to shared memory, some of their columns to tensor memory, and all of that out.

    The second half of a row is copied, where that is wide enough, by an instruction for each piece.
    """
    rows = max(SHAPES[shape], 8)
    words = 8 if shape.endswith("256b") else 4
    first = FIRST if shape == "4x256b" else 0
    copies = "\n      ".join(
        f'tile.tcgen05_cp %a[%c0, %c{at}] to %e[%first, %c{at - 8}] {{form = "tcgen05.cp.cta_group::1.{shape}"}} : !A to !E'
        for at in range(8, 16, words)
    )
    return f"""
!MA = memref<?x?xi32, strided<[?, 1]>>
!A = memref<{rows}x16xi32, #tile.shared<"64B">>
!E = memref<128x8xi32, #tile.tensor<"e">>
!Bar = memref<1xi64, #tile.shared<"none">>
!X = !tile.frag<tensor<32x8xi32>, #tile.layout<"register [0,1] [0,2] [0,4]; {LANES} -> row 32, col 8">>
gpu.module @m {{
  gpu.func @k(%ma: !MA, %before: !MA, %to: !MA) kernel attributes {{known_block_size = array<i32: 128, 1, 1>}} {{
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : index
    %c5 = arith.constant 5 : index
    %c8 = arith.constant 8 : index
    %c12 = arith.constant 12 : index
    %c32 = arith.constant 32 : index
    %first = arith.constant {first} : index
    %false = arith.constant false
    %a = tile.alloc_shared : !A
    %full = tile.alloc_shared : !Bar
    %done = tile.alloc_shared : !Bar
    %e = tile.alloc_tensor : !E
    %thread = gpu.thread_id x
    %warp = arith.shrui %thread, %c5 : index
    %row = arith.muli %warp, %c32 : index
    %is_first = arith.cmpi eq, %thread, %c0 : index
    scf.if %is_first {{
      tile.barrier_init %full[%c0] count 1 : !Bar
      tile.barrier_init %done[%c0] count 1 : !Bar
      nvvm.fence.mbarrier.init
    }}
    %words = tile.load %before[%row, %c0] : !MA -> !X
    tile.tcgen05_st %words, %e[%row, %c0] {{form = "tcgen05.st.sync.aligned.32x32b.x8.b32"}} : !X, !E
    tile.tcgen05_wait_st
    tile.tcgen05_fence before
    gpu.barrier
    tile.tcgen05_fence after
    scf.if %is_first {{
      tile.barrier_expect %full[%c0] bytes {rows * 64} : !Bar
      tile.tma_load %ma[%c0, %c0] to %a[%c0, %c0] signal %full[%c0] shape [{rows}, 16] : !MA to !A signal !Bar
      tile.barrier_wait %full[%c0] parity %false : !Bar
      {copies}
      tile.tcgen05_commit %done[%c0] : !Bar
    }}
    tile.barrier_wait %done[%c0] parity %false : !Bar
    tile.tcgen05_fence after
    %x = tile.tcgen05_ld %e[%row, %c0] {{form = "tcgen05.ld.sync.aligned.32x32b.x8.b32"}} : !E -> !X
    %all = tile.tcgen05_wait_ld %x : !X
    tile.store %all, %to[%row, %c0] : !X, !MA
    gpu.return
  }}
}}
"""


def source_row(shape: str, lane: int) -> int | None:
    """The row of the source that a lane gets; None of one that it leaves."""
    match shape:
        case "64x128b.warpx2::02_13":
            return lane % 64
        case "64x128b.warpx2::01_23":
            return 32 * (lane // 64) + lane % 32
        case "32x128b.warpx4":
            return lane % 32
        case "4x256b":
            return lane // 32 if lane % 32 == FIRST else None
    return lane


@pytest.mark.parametrize("shape", SHAPES)
def test_rows(shape: str, assemblers_for: Callable[..., list[Any]]) -> None:
    rng = np.random.default_rng(len(shape))
    given = rng.integers(-(2**31), 2**31, (max(SHAPES[shape], 8), 16)).astype(np.int32)
    before = rng.integers(-99, 99, (128, 8)).astype(np.int32)
    wanted = before.copy()
    for lane in range(128):
        row = source_row(shape, lane)
        if row is not None:
            wanted[lane] = given[row, 8:]
    agree(program(shape), [given, before, np.zeros_like(before)], wanted, assemblers_for)


def copied_left(product: Product, shape: str) -> str:
    """The program of a product whose A goes from shared to tensor memory by copies."""
    text, count = re.subn(
        r"(?s)%left = tile\.load .*?tile\.tcgen05_fence after", "", product.text()
    )
    assert count == 1
    size = 4 if product.elements[1] == "f32" else 2 if product.elements[1] == "f16" else 1
    width = (32 if "256b" in shape else 16) // size
    pieces, constants = [], []
    for at in range(0, product.k, width):
        constants.append(f"%p{at} = arith.constant {at} : index")
        pieces.append(
            f'tile.tcgen05_cp %a[%c0, %p{at}] to %p[%c0, %p{at}] {{form = "tcgen05.cp.cta_group::1.{shape}"}} : !A to !P'
        )
    wait = "tile.barrier_wait %full[%c0] parity %false : !Bar\n"
    assert text.count(wait) == 1
    return text.replace(wait, wait + "\n".join((*constants, *pieces)) + "\n")


STATIONARY = Product(
    "cta_group::1.kind::f16", "f32.f16.f16", ("f32", "f16", "f16"), 32, 64, 32, 16, "64B",
    a_in_tensor=True, stationary=True,
)  # fmt: skip


@pytest.mark.parametrize(
    ("m", "shape"),
    [(32, "32x128b.warpx4"), (64, "64x128b.warpx2::02_13"), (128, "128x256b")],
)
def test_a_in_every_bank(m: int, shape: str, assemblers_for: Callable[..., list[Any]]) -> None:
    """With `.ws` fewer rows of A stand in two or four banks of lanes, which one copy fills."""
    product = replace(STATIONARY, m=m, stationary=m < 128)
    rng = np.random.default_rng(m)
    a, b = (rng.integers(-3, 4, (rows, 32)).astype(np.float16) for rows in (m, 64))
    given = [a, b, np.zeros((m, 64), np.float32)]
    wanted = a.astype(np.float64) @ b.astype(np.float64).T
    agree(copied_left(product, shape), given, wanted, assemblers_for)


@pytest.mark.parametrize(
    ("narrow", "bits", "source"), [("e3m2", 6, "b6x16_p32"), ("e2m1", 4, "b4x16_p64")]
)
def test_a_of_packed_elements(
    narrow: str, bits: int, source: str, assemblers_for: Callable[..., list[Any]]
) -> None:
    """Sixteen stand at the beginning of every sixteen bytes, and each gets a byte."""
    product = Product(
        "cta_group::1.kind::f8f6f4", f"f32.{narrow}.e4m3", ("f32", "i8", "f8E4M3FN"), 128, 16, 64,
        32, "64B", a_in_tensor=True,
    )  # fmt: skip
    kind = {"e3m2": ml_dtypes.float6_e3m2fn, "e2m1": ml_dtypes.float4_e2m1fn}[narrow]
    rng = np.random.default_rng(bits)
    a = rng.choice([-2, -1, 0, 1, 3], (128, 64)).astype(kind)
    b = rng.integers(-3, 4, (16, 64)).astype(ml_dtypes.float8_e4m3fn)
    codes = a.view(np.uint8).reshape(128, -1, 16, 1)
    each = np.unpackbits(codes, axis=-1, bitorder="little")[..., :bits]
    packed = np.packbits(each.reshape(128, 4, -1), axis=-1, bitorder="little")
    image = np.pad(packed, ((0, 0), (0, 0), (0, 16 - packed.shape[-1]))).reshape(128, 64)
    given = [image.view(np.int8), b, np.zeros((128, 16), np.float32)]
    wanted = a.astype(np.float64) @ b.astype(np.float64).T
    text = copied_left(product, f"128x256b.b8x16.{source}")
    agree(text, given, wanted, assemblers_for)

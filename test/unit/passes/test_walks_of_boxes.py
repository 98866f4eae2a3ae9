"""Copies of boxes by multicast, by pixels (im2col) and with element strides, against numpy."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest
import tilec
from tilec.isa import TilecError, target

HEAD = """
!S = memref<64x32xi32, #tile.shared<"128B">>
!B = memref<1xi64, #tile.shared<"none">>
gpu.module @m [#nvvm.target<chip = "sm_90">] {{
  gpu.func @k({arguments}, %out: memref<{outs}x64x32xi32>) kernel attributes {{
      known_block_size = array<i32: 32, 1, 1>{cluster}}} {{
    %s = tile.alloc_shared : !S
    %b = tile.alloc_shared : !B
    %even = arith.constant false
    {constants}
    %thread = gpu.thread_id x
    %block = gpu.block_id x
    %rank = gpu.cluster_block_id x
    %is_first = arith.cmpi eq, %thread, %c0 : index
    scf.if %is_first {{
      tile.barrier_init %b[%c0] count 1 : !B
      nvvm.fence.mbarrier.init
    }}
    {sync}
    scf.if %is_first {{
      {body}
      tile.barrier_wait %b[%c0] parity %even : !B
      tile.tma_store %out[%block, %c0, %c0] from %s[%c0, %c0] shape [64, 32]
          : memref<{outs}x64x32xi32> from !S
      nvvm.cp.async.bulk.commit.group
      nvvm.cp.async.bulk.wait_group 0
    }}
    {sync}
    gpu.return
  }}
}}
"""
SYNC = "nvvm.cluster.arrive {aligned}\n    nvvm.cluster.wait {aligned}"


def _program(arguments: str, body: str, ctas: int = 1) -> str:
    names = range(65)
    constants = "\n    ".join(f"%c{n} = arith.constant {n} : index" for n in names)
    constants += "\n    %m1 = arith.constant -1 : index"
    cluster = f", known_cluster_size = array<i32: {ctas}, 1, 1>" if ctas > 1 else ""
    sync = SYNC if ctas > 1 else "gpu.barrier"
    return HEAD.format(
        arguments=arguments, body=body, constants=constants, cluster=cluster, sync=sync, outs=ctas
    )


def _run(program: str, arrays: list[Any], ctas: int, ptxases: list[Any]) -> Any:
    compiled = tilec.compile(program)
    for ptxas in ptxases:
        status, report = ptxas.run(compiled.ptx, "sm_90")
        assert status == 0, report
    out = np.full((ctas, 64, 32), -7, np.int32)
    compiled.launch(*arrays, out, grid=ctas, device="sim")
    return out


def _numbers(*shape: int) -> Any:
    return np.random.default_rng(shape).integers(1, 1 << 30, shape).astype(np.int32)


def test_multicast(assemblers_for: Callable[..., list[Any]]) -> None:
    """Each of four CTAs sends 16 rows to all of an odd or even rank."""
    body = """
      %parity = arith.remui %rank, %c2 : index
      %mask5 = arith.addi %c5, %c0 : index
      %mask = arith.shli %mask5, %parity : index
      %half = arith.divui %rank, %c2 : index
      %at = arith.muli %half, %c32 : index
      %from = arith.muli %rank, %c32 : index
      tile.barrier_expect %b[%c0] bytes 8192 : !B
      tile.tma_load %x[%from, %c0] to %s[%at, %c0] signal %b[%c0] multicast %mask shape [32, 32]
          : memref<?x?xi32> to !S signal !B"""
    x = _numbers(128, 32)
    out = _run(_program("%x: memref<?x?xi32>", body, 4), [x], 4, assemblers_for(target("sm_90")))
    rows = x.reshape(4, 32, 32)
    for rank in range(4):
        expected = np.concatenate([rows[rank % 2], rows[rank % 2 + 2]])
        np.testing.assert_array_equal(out[rank], expected)


def test_element_strides(assemblers_for: Callable[..., list[Any]]) -> None:
    body = """
      tile.barrier_expect %b[%c0] bytes 8192 : !B
      tile.tma_load %x[%c1, %c3, %c4] to %s[%c0, %c0] signal %b[%c0] shape [64, 32]
          {element_strides = array<i64: 1, 3, 1>} : memref<?x?x?xi32> to !S signal !B"""
    x = _numbers(2, 150, 60)
    program = _program("%x: memref<?x?x?xi32>", body)
    out = _run(program, [x], 1, assemblers_for(target("sm_90")))
    expected = np.zeros((64, 32), np.int32)
    taken = x[1, 3::3, 4:36]
    expected[: len(taken)] = taken
    np.testing.assert_array_equal(out[0], expected)


def test_stores_with_element_strides(assemblers_for: Callable[..., list[Any]]) -> None:
    """Every second row is stored, and those between stay."""
    body = """
      tile.barrier_expect %b[%c0] bytes 8192 : !B
      tile.tma_load %x[%c0, %c0] to %s[%c0, %c0] signal %b[%c0] shape [64, 32]
          : memref<?x?xi32> to !S signal !B
      tile.barrier_wait %b[%c0] parity %even : !B
      tile.tma_store %y[%c1, %c0] from %s[%c0, %c0] shape [64, 32]
          {element_strides = array<i64: 2, 1>} : memref<?x?xi32> from !S
      nvvm.cp.async.bulk.commit.group"""
    x, y = _numbers(64, 32), np.zeros((100, 32), np.int32)
    program = _program("%x: memref<?x?xi32>, %y: memref<?x?xi32>", body)
    _run(program, [x, y], 1, assemblers_for(target("sm_90")))
    np.testing.assert_array_equal(y[1::2], x[:50])
    assert not y[::2].any()


@pytest.mark.parametrize(
    ("first", "lower", "upper", "offsets", "steps"),
    [
        ((0, -1, -1), (-1, -1), (-1, -1), (0, 0), (1, 1)),  # a 3x3 filter's first tap, padded
        ((0, -1, -1), (-1, -1), (-1, -1), (2, 1), (1, 1)),  # another tap of it
        ((1, 2, 3), (0, 0), (-2, -2), (2, 2), (1, 1)),  # in the middle of an image, no padding
        ((0, 0, 0), (0, 0), (0, 0), (0, 0), (2, 2)),  # a stride of two
    ],
)
def test_im2col(
    first: Any,
    lower: Any,
    upper: Any,
    offsets: Any,
    steps: Any,
    assemblers_for: Callable[..., list[Any]],
) -> None:
    written = ", ".join("%m1" if n < 0 else f"%c{n}" for n in first)
    by = ", ".join(f"%c{n}" for n in offsets)
    body = f"""
      tile.tma_prefetch %x[{written}, %c4] im2col {[*lower]} to {[*upper]} offsets [{by}]
          shape [64, 32] : memref<?x?x?x?xi32>
      tile.barrier_expect %b[%c0] bytes 8192 : !B
      tile.tma_load %x[{written}, %c4] to %s[%c0, %c0] signal %b[%c0]
          im2col {[*lower]} to {[*upper]} offsets [{by}] shape [64, 32]
          {{element_strides = array<i64: 1, {steps[0]}, {steps[1]}, 1>}}
          : memref<?x?x?x?xi32> to !S signal !B"""
    images, height, width, channels = 3, 6, 7, 40
    x = _numbers(images, height, width, channels)
    program = _program("%x: memref<?x?x?x?xi32>", body)
    out = _run(program, [x], 1, assemblers_for(target("sm_90")))
    rows = range(lower[0], height + upper[0], steps[0])
    columns = range(lower[1], width + upper[1], steps[1])
    pixels = [(n, y, z) for n, y, z in product(range(images), rows, columns)]
    begun = pixels[pixels.index(tuple(first)) :]
    expected = np.zeros((64, 32), np.int32)
    for at, (n, y, z) in enumerate(begun[:64]):
        y, z = y + offsets[0], z + offsets[1]  # noqa: PLW2901
        if 0 <= y < height and 0 <= z < width:
            expected[at] = x[n, y, z, 4:36]
    np.testing.assert_array_equal(out[0], expected)


@pytest.mark.parametrize(
    ("mask", "message"),
    [
        ("%c0", "multicasts to the CTAs of mask 0x0; legal: one bit at least, of the 2 lowest"),
        ("%c4", "multicasts to the CTAs of mask 0x4; legal: one bit at least, of the 2 lowest"),
    ],
)
def test_masks_that_name_nobody(mask: str, message: str) -> None:
    body = f"""
      tile.tma_load %x[%c0, %c0] to %s[%c0, %c0] signal %b[%c0] multicast {mask} shape [64, 32]
          : memref<?x?xi32> to !S signal !B"""
    with pytest.raises(TilecError, match=message):
        tilec.compile(_program("%x: memref<?x?xi32>", body, 2))

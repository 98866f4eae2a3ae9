"""`tile.barrier_*` and `tile.tma_*` down to PTX: beside ptxas, and numpy on the simulator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tilec
from tilec.isa import target

BARRIERS = """
gpu.module @m [#nvvm.target<chip = "{target}">] {{
  gpu.func @k(%out: memref<32xi32>) kernel attributes {{known_block_size = array<i32: 32, 1, 1>}} {{
    %b = tile.alloc_shared : memref<2xi64, #tile.shared<"none">>
    %c1 = arith.constant 1 : index
    tile.barrier_init %b[%c1] count 32 : memref<2xi64, #tile.shared<"none">>
    tile.barrier_arrive %b[%c1] : memref<2xi64, #tile.shared<"none">>
    {more}
    gpu.return
  }}
}}
"""
WAITS = """tile.barrier_expect %b[%c1] bytes 0 : memref<2xi64, #tile.shared<"none">>
    %odd = arith.constant true
    tile.barrier_wait %b[%c1] parity %odd : memref<2xi64, #tile.shared<"none">>"""
REDUCES = """
!M = memref<?x?xi32>
!S = memref<32x32xi32, #tile.shared<"128B">>
!B = memref<1xi64, #tile.shared<"none">>
gpu.module @m [#nvvm.target<chip = "sm_90">] {{
  gpu.func @k(%a: !M, %c: !M) kernel attributes {{known_block_size = array<i32: 32, 1, 1>}} {{
    %s = tile.alloc_shared : !S
    %b = tile.alloc_shared : !B
    %c0 = arith.constant 0 : index
    %even = arith.constant false
    %thread = gpu.thread_id x
    %is_first = arith.cmpi eq, %thread, %c0 : index
    scf.if %is_first {{
      tile.barrier_init %b[%c0] count 1 : !B
      nvvm.fence.mbarrier.init
      tile.tma_prefetch %a[%c0, %c0] shape [32, 32] : !M
      tile.barrier_expect %b[%c0] bytes 4096 : !B
      tile.tma_load %a[%c0, %c0] to %s[%c0, %c0] signal %b[%c0] shape [32, 32] : !M to !S signal !B
      tile.barrier_wait %b[%c0] parity %even : !B
      tile.tma_reduce {fn} %c[%c0, %c0] from %s[%c0, %c0] shape [32, 32] : !M from !S
      nvvm.cp.async.bulk.commit.group
      nvvm.cp.async.bulk.wait_group 0
    }}
    gpu.return
  }}
}}
"""


@pytest.mark.parametrize(("name", "more"), [("sm_80", ""), ("sm_90", ""), ("sm_90", WAITS)])
def test_barriers_assemble(name: str, more: str, assemblers_for: Callable[..., list[Any]]) -> None:
    program = tilec.compile(BARRIERS.format(target=name, more=more))
    for ptxas in assemblers_for(target(name)):
        status, report = ptxas.run(program.ptx, name)
        assert status == 0, report


@pytest.mark.parametrize(
    ("fn", "expected"),
    [("add", np.add), ("min", np.minimum), ("max", np.maximum), ("xor", np.bitwise_xor)],
)
def test_reductions(
    fn: str, expected: Callable[..., Any], assemblers_for: Callable[..., list[Any]]
) -> None:
    program = tilec.compile(REDUCES.format(fn=fn))
    for ptxas in assemblers_for(target("sm_90")):
        status, report = ptxas.run(program.ptx, "sm_90")
        assert status == 0, report
    rng = np.random.default_rng(0)
    a, c = rng.integers(0, 1000, (2, 20, 24)).astype(np.int32)
    wanted = expected(np.pad(a, ((0, 12), (0, 8))), np.pad(c, ((0, 12), (0, 8))))[:20, :24]
    program.launch(a, c, grid=1, device="sim")
    np.testing.assert_array_equal(c, wanted)

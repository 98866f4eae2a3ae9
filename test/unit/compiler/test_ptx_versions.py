"""Modules name a PTX version that has what they use: ptxas takes them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import tilec
from tilec.isa import target

MODULE = """
gpu.module @m [#nvvm.target<chip = "{target}">] {{
  gpu.func @k(%a: memref<64xi32>, %b: i32) kernel attributes {{
      known_block_size = array<i32: 32, 1, 1>, known_cluster_size = array<i32: 2, 1, 1>}} {{
    %p = memref.extract_aligned_pointer_as_index %a : memref<64xi32> -> index
    %i = arith.index_cast %p : index to i64
    %g = llvm.inttoptr %i : i64 to !llvm.ptr
    %s = llvm.inttoptr %b : i32 to !llvm.ptr<3>
    {line}
    gpu.return
  }}
}}
"""
ASM = "llvm.inline_asm has_side_effects"
LINES = {
    "8.0": "nvvm.fence.mbarrier.init",
    "8.1": f'{ASM} "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [$0], 1, [$0];",'
           ' "r" %b : (i32) -> ()',
    "8.3": "nvvm.fence.proxy.release #nvvm.mem_scope<gpu>",
    "8.6": f'{ASM} "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [$0], [$1], 16, '
           '[$0];", "r,l" %b, %i : (i32, i64) -> ()',
}  # fmt: skip


@pytest.mark.parametrize("version", LINES)
def test_what_is_needed(version: str, assemblers_for: Callable[..., list[Any]]) -> None:
    program = tilec.compile(MODULE.format(target="sm_90a", line=LINES[version]))
    assert f".version {version}\n" in program.ptx
    for ptxas in assemblers_for(target("sm_90a")):
        status, report = ptxas.run(program.ptx, "sm_90a")
        assert status == 0, report
        older = {"8.0": "7.8", "8.1": "8.0", "8.3": "8.2", "8.6": "8.5"}[version]
        lowered = program.ptx.replace(f".version {version}\n", f".version {older}\n")
        assert ptxas.run(lowered, "sm_90a")[0], f"PTX {older} has it, too"

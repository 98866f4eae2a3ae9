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


UPDATE = """
gpu.module @m [#nvvm.target<chip = "sm_70">] {{
  gpu.func @k(%m: memref<128x{element}>) kernel attributes {{known_block_size = array<i32: 128, 1, 1>}} {{
    %z = arith.constant 0 : index
    %t = tile.load %m[%z] : memref<128x{element}> -> tensor<128x{element}>
    %old = tile.{op}, %m[%z] : tensor<128x{element}>, memref<128x{element}>
    tile.store %old, %m[%z] : tensor<128x{element}>, memref<128x{element}>
    gpu.return
  }}
}}
"""  # noqa: E501


@pytest.mark.parametrize(
    ("op", "element", "version"),
    [
        ("atomic_cas %t, %t", "i16", "6.3"),
        ("atomic_rmw arith.addf %t", "f16", "6.3"),
        ("atomic_cas %t, %t", "i32", "6.0"),
    ],
)
def test_atomics_are_younger_than_volta(
    op: str, element: str, version: str, assemblers_for: Callable[..., list[Any]]
) -> None:
    """PTX ISA, "atom": 16 bits came with PTX 6.3, sm_70 with 6.0."""
    program = tilec.compile(UPDATE.format(op=op, element=element))
    assert f".version {version}\n" in program.ptx
    for ptxas in assemblers_for(target("sm_70")):
        where = ptxas.architecture(target("sm_70"))
        status, report = ptxas.run(program.ptx, where)
        assert status == 0, report
        if version != "6.0":
            lowered = program.ptx.replace(f".version {version}\n", ".version 6.2\n")
            assert ptxas.run(lowered, where)[0], "PTX 6.2 has it, too"

"""The flag "Debug Info Version" goes where there is no debug information, and nothing else does."""

from __future__ import annotations

import llvmlite.binding as llvm
import tilec
from tilec.backend.llvm_ir import without_unused_flags
from tilec.frontend.contexts import new_context
from tilec.ir.mlir import ir, translate_to_llvm_ir

VERSION = "Debug Info Version"
KERNEL = """
llvm.func @k(%p: !llvm.ptr<1>, %x: f32) attributes {nvvm.kernel} {
  llvm.store %x, %p : f32, !llvm.ptr<1>
  llvm.return
}
"""
FLAGS = """
llvm.module_flags [#llvm.mlir.module_flag<error, "first", 1 : i32>,
                   #llvm.mlir.module_flag<max, "second", 7 : i32>]
"""
PROGRAM = """
gpu.module @m {
  gpu.func @k(%x: memref<?xf32>) kernel attributes {gpu.known_block_size = array<i32: 1, 1, 1>} {
    %i = arith.constant 0 : index
    %v = memref.load %x[%i] : memref<?xf32>
    memref.store %v, %x[%i] : memref<?xf32>
    gpu.return
  }
}
"""


def printed(program: str) -> str:
    """LLVM IR as MLIR prints it."""
    return translate_to_llvm_ir(ir.Module.parse(program, new_context()).operation)


def test_a_module_without_debug_information_has_no_flag() -> None:
    text = printed(KERNEL)
    assert VERSION in text
    bare = without_unused_flags(text)
    assert VERSION not in bare
    assert "!llvm.module.flags" not in bare
    assert bare.partition("\n!llvm")[0].strip() == text.partition("\n!llvm")[0].strip()
    llvm.parse_assembly(bare).verify()


def test_other_flags_stay() -> None:
    text = without_unused_flags(printed(FLAGS + KERNEL))
    assert VERSION not in text
    module = llvm.parse_assembly(text)
    module.verify()
    again = str(module)
    assert '!"first", i32 1}' in again
    assert '!"second", i32 7}' in again
    assert "!llvm.module.flags = !{!0, !1}" in again


def test_debug_information_keeps_the_flag() -> None:
    """Without it, LLVM drops all places."""
    with_lines = tilec.compile(PROGRAM, target="sm_80", cache=False, lineinfo=True)
    assert VERSION in with_lines.llvm
    assert ".loc" in with_lines.ptx
    without = tilec.compile(PROGRAM, target="sm_80", cache=False, lineinfo=False)
    assert VERSION not in without.llvm
    assert ".loc" not in without.ptx

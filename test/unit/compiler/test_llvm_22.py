"""LLVM 22 refuses, or makes wrong code of, what each rewrite is for, and takes it rewritten.

A test that fails with a newer llvmlite names a rewrite that can go.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import tilec
from tilec.backend.codegen import CodegenError, generate
from tilec.backend.cubin import AssemblerError, assemble, tools
from tilec.backend.llvm_22 import NEWEST, REWRITES, with_version
from tilec.backend.ptx import ptx_version, written_version
from tilec.dialects.tile.form_program import form_kernel, form_program
from tilec.frontend.contexts import new_context
from tilec.ir.mlir import ir, translate_to_llvm_ir
from tilec.isa import target, warp_forms
from tilec.sim import launch

CONSTANT = """
llvm.func @k(%p: !llvm.ptr<1>) attributes {{nvvm.kernel}} {{
  %c = llvm.mlir.constant({value} : {type}) : {type}
  llvm.store %c, %p : {type}, !llvm.ptr<1>
  llvm.return
}}
"""
FMA = """
llvm.func @k(%p: !llvm.ptr<1>, %x: f32) attributes {nvvm.kernel} {
  %y = llvm.intr.fma(%x, %x, %x) : (f32, f32, f32) -> f32
  llvm.store %y, %p : f32, !llvm.ptr<1>
  llvm.return
}
"""
# All lanes of a warp meet at the barrier, wherever they came from.
ASSEMBLY = """
llvm.func @k(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>) attributes {nvvm.kernel} {
  %yes = llvm.mlir.constant(true) : i1
  %no = llvm.mlir.constant(false) : i1
  %five = llvm.mlir.constant(5 : i32) : i32
  %t = nvvm.read.ptx.sreg.tid.x : i32
  %m = llvm.alloca %five x i32 : (i32) -> !llvm.ptr
  llvm.store %t, %m : i32, !llvm.ptr
  %c = llvm.icmp "slt" %t, %five : i32
  llvm.cond_br %c, ^a, ^b
^a:
  llvm.store %five, %p : i32, !llvm.ptr<1>
  llvm.br ^meet(%yes : i1)
^b:
  llvm.store %five, %q : i32, !llvm.ptr<1>
  llvm.br ^meet(%no : i1)
^meet(%again: i1):
  llvm.inline_asm has_side_effects "bar.warp.sync -1;", "" : () -> ()
  llvm.cond_br %again, ^c, ^d
^c:
  llvm.store %t, %p : i32, !llvm.ptr<1>
  llvm.br ^done
^d:
  llvm.store %t, %q : i32, !llvm.ptr<1>
  llvm.br ^done
^done:
  llvm.return
}
"""
# A shift of 64 bits, or 0 where the count has as many.
SHIFT = """
llvm.func @k(%p: !llvm.ptr<1>, %x: i64, %n: i64) attributes {{nvvm.kernel}} {{
  %width = llvm.mlir.constant(64 : i64) : i64
  %zero = llvm.mlir.constant(0 : i64) : i64
  %y = llvm.{op} %x, %n : i64
  %c = llvm.icmp "ult" %n, %width : i64
  %r = llvm.select %c, %y, %zero : i1, i64
  llvm.store %r, %p : i64, !llvm.ptr<1>
  llvm.return
}}
"""


def printed(program: str) -> str:
    """LLVM IR as MLIR prints it."""
    module = ir.Module.parse(program, new_context())
    return translate_to_llvm_ir(module.operation)


def ptx(text: str) -> str:
    return generate(text, cpu="sm_80", features="+ptx70", level=3)


def refused(text: str) -> bool:
    try:
        ptx(text)
    except CodegenError as error:
        return "LLVM rejects the module: LLVM IR parsing error" in str(error)
    return False


def under_divergence(text: str) -> bool:
    """Whether each side of the divergent branch has a barrier of its own."""
    return ptx(text).count("bar.warp.sync") == 2


def shifts_wrongly(text: str) -> bool:
    """Whether a count of more than 32 bits is taken for what its low ones are."""
    out, code, value = np.zeros(1, np.uint64), ptx(text), 3 << 40
    wrong = False
    for count in (1, 63, 64, 1 << 32, (1 << 32) + 1, (1 << 64) - 1):
        launch(code, "k", 1, 1, [out, np.uint64(value), np.uint64(count)]).require_ok()
        expected = 0
        if count < 64:
            expected = value << count if " shl " in text else value >> count
        wrong |= int(out[0]) != expected % (1 << 64)
    return wrong


WITH_A_NEWER_WORD = printed(FMA).replace("nocallback", "nocallback wordofsomelaterllvm")
"""As intrinsics are printed when MLIR's LLVM has given them an attribute that is new."""

CASES: dict[str, list[tuple[str, Callable[[str], bool]]]] = {
    "floating-point constants": [
        (printed(CONSTANT.format(value=value, type=type_)), refused)
        for type_, value in (
            ("f32", "0.1"),
            ("f16", "0.1"),
            ("bf16", "0.1"),
            ("f32", "0x7F800000"),
            ("f64", "0xFFF0000000000000"),
            ("f32", "0x7FC00000"),
            ("f16", "0x7C01"),
        )
    ],
    "attributes of intrinsics": [(WITH_A_NEWER_WORD, refused)],
    "convergent inline assembly": [(printed(ASSEMBLY), under_divergence)],
    "counts of 64-bit shifts": [
        (printed(SHIFT.format(op=op)), shifts_wrongly) for op in ("shl", "lshr")
    ],
}


def test_each_rewrite_has_a_case() -> None:
    assert sorted(CASES) == sorted(rewrite.name for rewrite in REWRITES)


@pytest.mark.parametrize(
    ("name", "text", "goes_wrong"),
    [(name, text, goes_wrong) for name, cases in CASES.items() for text, goes_wrong in cases],
)
def test_a_rewrite_is_needed(name: str, text: str, goes_wrong: Callable[[str], bool]) -> None:
    without = text
    for rewrite in REWRITES:
        if rewrite.name != name:
            without = rewrite.apply(without)
    assert goes_wrong(without)
    (needed,) = (rewrite for rewrite in REWRITES if rewrite.name == name)
    assert not goes_wrong(needed.apply(without))


def test_rewrites_leave_the_rest() -> None:
    text = printed(FMA.replace("fma(%x, %x, %x)", "fmuladd(%x, %x, %x)"))
    bare = text
    for rewrite in REWRITES:
        bare = rewrite.apply(bare)
    assert bare.partition("\ndefine")[2].partition("}")[0] in text
    assert ptx(bare) == ptx(text)


def test_a_group_of_attributes_that_a_function_has_stays() -> None:
    """MLIR's LLVM prints those of intrinsics and of functions together, each once."""
    text = (
        "\ndeclare float @llvm.fabs.f32(float) #0\n\ndeclare void @f() #1\n"
        "\ndefine void @k() #0 {\n  call void @f() #2\n  ret void\n}\n"
        "\nattributes #0 = { nounwind }\nattributes #1 = { cold }\n"
        "attributes #2 = { convergent }\nattributes #3 = { nofree }\n"
    )
    (rewrite,) = (one for one in REWRITES if one.name == "attributes of intrinsics")
    assert rewrite.apply(text) == text.replace("(float) #0", "(float)").replace(
        "\nattributes #3 = { nofree }", ""
    )


# Of PTX 9.1 on sm_120a.
SCALED = (
    "mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X"
    ".f32.e2m1.e2m1.f32.ue8m0"
)


@pytest.mark.skipif(not tools("ptxas"), reason="there is no ptxas")
def test_a_version_above_the_newest_is_needed_and_not_written() -> None:
    form, on = warp_forms()[SCALED], target("sm_120a")
    text = tilec.compile(form_program([form_kernel(form, on)], on), emit="llvm").llvm
    needed = ptx_version(text, on)
    assert needed > NEWEST
    for version in (needed, NEWEST):  # LLVM takes a feature that it does not know for none
        code = generate(text, cpu="sm_120a", features=version.llvm_feature, level=3)
        assert written_version(code) <= NEWEST
        with pytest.raises(AssemblerError, match=rf"requires PTX ISA \.version {needed}|\.version"):
            assemble(code, on)
    assert written_version(with_version(code, needed)) == needed
    assert assemble(with_version(code, needed), on).cubin
    assert with_version(code, NEWEST) == code

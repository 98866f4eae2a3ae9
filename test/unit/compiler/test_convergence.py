"""A warp's instruction stays where the program has it, at every optimisation level.

LLVM sinks a call that is not convergent under a divergent branch. The same kernel without the
attribute is checked first to be moved, so that the test can fail.
"""

from __future__ import annotations

import re

import pytest
from tilec.backend.llvm_ir import to_llvm_ir
from tilec.backend.ptx import to_ptx
from tilec.frontend.contexts import new_context
from tilec.frontend.parsing import parse
from tilec.isa import target
from tilec.report.diagnostics import Source

LOAD = "llvm.nvvm.wmma.m16n16k16.load.a.row.f16.p1"
FRAGMENT = "!llvm.struct<(" + ", ".join(["vector<2xf16>"] * 8) + ")>"

# A load of a fragment that only one branch of a divergent `if` uses.
PROGRAM = f"""
gpu.module @m {{
  llvm.func @{LOAD}(!llvm.ptr<1>) -> {FRAGMENT}
  llvm.func @k(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>) attributes {{nvvm.kernel}} {{
    %five = llvm.mlir.constant(5 : i32) : i32
    %f = llvm.call @{LOAD}(%p) CONVERGENT : (!llvm.ptr<1>) -> {FRAGMENT}
    %t = nvvm.read.ptx.sreg.tid.x : i32
    %c = llvm.icmp "slt" %t, %five : i32
    llvm.cond_br %c, ^then, ^done
  ^then:
    %e = llvm.extractvalue %f[0] : {FRAGMENT}
    llvm.store %e, %q : vector<2xf16>, !llvm.ptr<1>
    llvm.br ^done
  ^done:
    llvm.return
  }}
}}
"""
ASSEMBLY = """
gpu.module @m {
  llvm.func @k(%q: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %five = llvm.mlir.constant(5 : i32) : i32
    %e = llvm.inline_asm has_side_effects "movmatrix.sync.aligned.m8n8.trans.b16 $0, $1;", "=r,r" %five : (i32) -> i32
    %t = nvvm.read.ptx.sreg.tid.x : i32
    %c = llvm.icmp "slt" %t, %five : i32
    llvm.cond_br %c, ^then, ^done
  ^then:
    llvm.store %e, %q : i32, !llvm.ptr<1>
    llvm.br ^done
  ^done:
    llvm.return
  }
}
"""  # noqa: E501


def _ptx(program: str, level: int) -> str:
    module = parse(Source("program", program), new_context())
    with module.context:
        return to_ptx(to_llvm_ir(module.body.operations[0]), target("sm_80"), level=level)


def _before_branch(ptx: str, instruction: str) -> bool:
    """Whether the instruction stands before the first branch."""
    branch = re.search(r"@%p\d+ bra|@%p\d+ ", ptx)
    return branch is None or ptx.index(instruction) < branch.start()


def test_without_the_attribute_it_is_moved() -> None:
    assert not _before_branch(_ptx(PROGRAM.replace("CONVERGENT", ""), 3), "wmma.load")


@pytest.mark.parametrize("level", range(4))
def test_convergent_call_stays(level: int) -> None:
    assert _before_branch(_ptx(PROGRAM.replace("CONVERGENT", "{convergent}"), level), "wmma.load")


@pytest.mark.parametrize("level", range(4))
def test_inline_assembly_is_made_convergent(level: int) -> None:
    module = parse(Source("program", ASSEMBLY), new_context())
    with module.context:
        text = to_llvm_ir(module.body.operations[0])
    (line,) = [line for line in text.splitlines() if " asm sideeffect " in line]
    assert line.endswith(") convergent")
    assert _before_branch(_ptx(ASSEMBLY, level), "movmatrix")

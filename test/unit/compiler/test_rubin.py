"""sm_107, which LLVM 22 does not know: code for its family, whose header says what it is for."""

from __future__ import annotations

import pytest
import tilec
from tilec.backend.codegen import CodegenError, generate
from tilec.backend.cubin import AssemblerError, assemble, find_ptxas
from tilec.backend.llvm_22 import NEWEST, known_as
from tilec.backend.ptx import ptx_version, written_version
from tilec.dialects.tile.form_program import form_kernel, form_program
from tilec.isa import PtxVersion, TilecError, form, target

NAMES = ("sm_107", "sm_107a", "sm_107f")
HALF = form("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32")
BLACKWELL = form("ldmatrix.sync.aligned.m16n16.x1.trans.b8")


def program(form, name):
    return form_program([form_kernel(form, target(name))], target(name))


def test_llvm_22_does_not_know_it() -> None:
    """The day it does, nothing need stand in."""
    text = tilec.compile(program(HALF, "sm_107a"), emit="llvm").llvm
    with pytest.raises(CodegenError, match="Cannot select"):
        generate(text, cpu="sm_107a", features=NEWEST.llvm_feature, level=3)
    assert [known_as(target(name)) for name in NAMES] == ["sm_100", "sm_100f", "sm_100f"]
    assert known_as(target("sm_103a")) == "sm_103a"


@pytest.mark.parametrize("name", NAMES)
def test_the_header_says_what_it_is_for_and_ptxas_takes_it(name: str) -> None:
    compiled = tilec.compile(program(HALF, name), emit="ptx")
    assert f"\n.target {name}\n" in compiled.ptx
    assert written_version(compiled.ptx) == PtxVersion(9, 4)
    try:
        find_ptxas(target(name))
    except AssemblerError as error:
        pytest.skip(str(error))
    assert assemble(compiled.ptx, target(name)).cubin


def test_what_the_family_has_is_only_there_with_a_suffix() -> None:
    assert tilec.compile(program(BLACKWELL, "sm_107f"), emit="ptx").ptx
    with pytest.raises(TilecError, match="is not available on sm_107; it needs sm_100a"):
        ptx_version(
            tilec.compile(program(BLACKWELL, "sm_107f"), emit="llvm").llvm, target("sm_107")
        )

"""MLIR's and LLVM's verifiers accept what every stage leaves: each example, for each target.

A compilation verifies less: MLIR's verifier runs once, and LLVM's parser trusts what it reads. A
program that a target cannot execute must be refused with an error that names the target.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import llvmlite.binding as llvm
import pytest
import tilec
from tilec.backend import codegen_worker
from tilec.isa import TARGETS
from tilec.passes.base import ProgramError

EXAMPLES = Path(__file__).parents[3] / "examples"
PROGRAMS = sorted(str(path.relative_to(EXAMPLES)) for path in EXAMPLES.rglob("*.mlir"))
IN_CI = ("sm_75", "sm_80", "sm_89", "sm_90a", "sm_100a", "sm_120a")
"""One of each generation; the others are tried with `-m slow`."""
OTHERS = sorted(set(TARGETS) - set(IN_CI))


@cache
def machine(cpu: str) -> llvm.TargetMachine:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    found = llvm.Target.from_triple(codegen_worker.TRIPLE)
    return found.create_target_machine(cpu=cpu, opt=2)


def verify_llvm(text: str, cpu: str) -> None:
    """Verify LLVM IR as it is given and after LLVM's optimisations.

    Raises:
        RuntimeError: if LLVM refuses it.
    """
    module = llvm.parse_assembly(text)
    module.verify()
    module.triple = codegen_worker.TRIPLE
    module.data_layout = str(machine(cpu).target_data)
    codegen_worker._optimize(module, machine(cpu), 3, flat=codegen_worker._is_flat(text))
    module.verify()


def check_stages(program: str, target: str) -> None:
    """Compile, with verifiers, a program for a target, or see it refused for that target."""
    try:
        compiled = tilec.compile(EXAMPLES / program, target=target, emit="llvm", verify_each=True)
    except ProgramError as error:
        messages = [one.message for one in error.diagnostics]
    else:
        verify_llvm(compiled.llvm, target)
        messages = []
    assert all(target in message for message in messages)


@pytest.mark.parametrize("target", IN_CI)
@pytest.mark.parametrize("program", PROGRAMS)
def test_every_stage(program: str, target: str) -> None:
    check_stages(program, target)


@pytest.mark.slow
@pytest.mark.parametrize("target", OTHERS)
@pytest.mark.parametrize("program", PROGRAMS)
def test_every_stage_for_other_targets(program: str, target: str) -> None:
    check_stages(program, target)


@pytest.mark.parametrize("program", PROGRAMS)
def test_some_target_executes_it(program: str) -> None:
    """So that not all targets refuse it, and nothing is verified."""
    text = (EXAMPLES / program).read_text(encoding="utf-8")
    assert tilec.compile(text, name=program).llvm


def test_llvm_refuses_what_its_parser_takes() -> None:
    text = "declare ptx_kernel i32 @f()\ndefine i32 @g() alwaysinline noinline {\n  ret i32 0\n}\n"
    llvm.parse_assembly(text)
    with pytest.raises(RuntimeError):
        verify_llvm(text, "sm_80")

"""What ends the process in MLIR's bindings or in LLVM is an error of the program instead.

Each program here was seen to end the process where nothing guards the call; each is compiled in a
process of its own, which must live, say why, and still compile a good program.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import pytest
import tilec
from tilec.backend import llvm_ir as llvm

EXAMPLES = Path(__file__).parents[3] / "examples"
Outcome = subprocess.CompletedProcess[str]

DRIVER = """
import sys
import tilec
try:
    tilec.compile(sys.stdin.read())
except tilec.TilecError as error:
    print(error)
else:
    print("compiled")
print("alive:", len(tilec.compile(sys.argv[1]).ptx) > 100)
"""

STAGES = """
import sys
from tilec import TilecError
from tilec.report.diagnostics import Source
from tilec.isa import target
from tilec.backend.llvm_ir import to_llvm_ir
from tilec.backend.ptx import to_ptx
from tilec.frontend.contexts import new_context
from tilec.frontend.parsing import parse
def stages(text):
    module = parse(Source("program", text), new_context())
    with module.context:
        return to_ptx(to_llvm_ir(module.body.operations[0]), target("sm_80"))
try:
    stages(sys.stdin.read())
except TilecError as error:
    print(error)
else:
    print("compiled")
good = "gpu.module @m { llvm.func @k() attributes {nvvm.kernel} { llvm.return } }"
print("alive:", len(stages(good)) > 100)
"""

# Bodies of an `llvm.func` that reach the translation, or LLVM, as they are.
LOWERED = {
    # SIGSEGV in translate_module_to_llvmir
    "unknown intrinsic": (
        'llvm.call_intrinsic "llvm.no.such.thing"() : () -> ()',
        "could not find LLVM intrinsic",
    ),
    "unlowered operation": (
        "%c = arith.constant 1 : i32",
        "'arith.constant' is not lowered to the LLVM dialect",
    ),
    "leftover cast": (
        "%c = builtin.unrealized_conversion_cast %n : i32 to index",
        "'builtin.unrealized_conversion_cast' is not lowered to the LLVM dialect",
    ),
    "macro for PTX": ('nvvm.inline_ptx "bar.sync 0;"', "nvvm.inline_ptx"),
    # Cannot select, in LLVM's code generator
    "exponential": (
        "%e = llvm.intr.exp(%x) : (f32) -> f32\nllvm.store %e, %p : f32, !llvm.ptr<1>",
        "'llvm.intr.exp' has no lowering on NVPTX; write llvm.intr.exp2",
    ),
    "logarithm": (
        "%e = llvm.intr.log2(%x) : (f32) -> f32\nllvm.store %e, %p : f32, !llvm.ptr<1>",
        "'llvm.intr.log2' has no lowering on NVPTX",
    ),
    "power": (
        "%e = llvm.intr.pow(%x, %x) : (f32, f32) -> f32\nllvm.store %e, %p : f32, !llvm.ptr<1>",
        "'llvm.intr.pow' has no lowering on NVPTX",
    ),
    "exact sine": (
        "%e = llvm.intr.sin(%x) : (f32) -> f32\nllvm.store %e, %p : f32, !llvm.ptr<1>",
        "'llvm.intr.sin' exists on NVPTX only as an approximation",
    ),
    "instruction of a later target": (
        "nvvm.wgmma.fence.aligned",
        "LLVM cannot generate code: Cannot select",
    ),
    "unknown constraint": (
        'llvm.inline_asm has_side_effects "mov.u32 $0, $1;", "=q,zz" %n : (i32) -> i32',
        "LLVM cannot generate code",
    ),
}


@pytest.mark.parametrize("name", LOWERED)
def test_killer_of_a_stage_is_an_error(name: str, python: Callable[..., Outcome]) -> None:
    body, message = LOWERED[name]
    program = (
        "gpu.module @m { llvm.func @k(%p: !llvm.ptr<1>, %n: i32, %x: f32)"
        f" attributes {{nvvm.kernel}} {{\n{body}\nllvm.return\n}} }}"
    )
    done = python(STAGES, stdin=program)
    assert done.returncode == 0, done.stderr
    assert message in done.stdout
    assert done.stdout.endswith("alive: True\n")


def test_operation_outside_functions_is_an_error(
    scale: str, python: Callable[..., Outcome]
) -> None:
    """Translating it is a SIGSEGV."""
    program = scale.replace("  gpu.func", "  gpu.barrier\n  gpu.func", 1)
    done = python(DRIVER, scale, stdin=program)
    assert done.returncode == 0, done.stderr
    assert "<string>:2:3: error: 'nvvm.barrier' is outside a function\n" in done.stdout
    assert done.stdout.endswith("alive: True\n")


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ('llvm.call_intrinsic "llvm.no.such.thing"() : () -> ()', "could not find LLVM intrinsic"),
        (
            "%e = llvm.intr.exp(%x) : (f32) -> f32\nllvm.store %e, %p : f32, !llvm.ptr<1>",
            "failed to legalize operation 'llvm.intr.exp'",
        ),
        ('"test.op"() : () -> ()', "unregistered dialect"),
        (
            "%t = tensor.empty() : tensor<4xf32>\n%i = arith.constant 0 : index\n"
            "%e = tensor.extract %t[%i] : tensor<4xf32>\nllvm.store %e, %p : f32, !llvm.ptr<1>",
            "'tensor.empty' op takes no tiles without layouts",
        ),
        ("acc.wait", "'acc.wait' is not lowered to the LLVM dialect"),
    ],
)
def test_killer_of_the_whole_road_is_an_error(
    body: str, message: str, kernel: Callable[..., str], scale: str, python: Callable[..., Outcome]
) -> None:
    done = python(DRIVER, scale, stdin=kernel(body))
    assert done.returncode == 0, done.stderr
    assert message in done.stdout
    assert done.stdout.endswith("alive: True\n")


SIGNATURES = {
    # Accepted by LLVM, and an undefined function in the PTX
    "unknown name": ("llvm.nvvm.no.such.thing", "LLVM 22 has no intrinsic"),
    # Aborts where the module carries the flag "Debug Info Version"
    "changed signature": ("llvm.nvvm.barrier0", "LLVM cannot generate code: Assertion"),
}


@pytest.mark.parametrize("name", SIGNATURES)
def test_wrong_intrinsic_is_an_error(
    name: str, kernel: Callable[..., str], scale: str, python: Callable[..., Outcome]
) -> None:
    callee, message = SIGNATURES[name]
    program = kernel(
        f"%r = llvm.call @{callee}(%n) {{convergent}} : (i32) -> i32\n"
        "llvm.store %r, %p : i32, !llvm.ptr<1>",
        outside=f"llvm.func @{callee}(i32) -> i32",
    )
    done = python(DRIVER, scale, stdin=program)
    assert done.returncode == 0, done.stderr
    assert message in done.stdout
    assert done.stdout.endswith("alive: True\n")


def test_library_call_is_an_error(
    kernel: Callable[..., str], python: Callable[..., Outcome]
) -> None:
    program = kernel(
        "%e = llvm.call @__nv_expf(%x) : (f32) -> f32\nllvm.store %e, %p : f32, !llvm.ptr<1>",
        outside="llvm.func @__nv_expf(f32) -> f32",
    )
    done = python(DRIVER, program, stdin=program)
    assert "the function '__nv_expf' is not defined: it belongs to libdevice" in done.stdout


@pytest.mark.parametrize(
    "body",
    [
        'nvvm.inline_ptx "bar.sync 0;"',
        "%s = llvm.mlir.zero : !llvm.ptr<3>\n"
        "nvvm.mbarrier.try_wait.parity %s, %n, %n : !llvm.ptr<3>, i32, i32",
        "nvvm.barrier",
    ],
)
def test_macros_for_ptx_are_expanded(
    body: str, kernel: Callable[..., str], python: Callable[..., Outcome], scale: str
) -> None:
    """Translating these without `convert-nvvm-to-llvm` is a SIGSEGV."""
    done = python(DRIVER, scale, stdin=kernel(body, target="sm_90a"))
    assert done.returncode == 0, done.stderr
    assert done.stdout == "compiled\nalive: True\n"


def test_what_gets_no_closer_look_translates() -> None:
    assert [name for name in llvm._USUAL if not llvm._TRANSLATES.fullmatch(name)] == []
    assert not set(llvm._USUAL) & set(llvm._DOUBTFUL)


@pytest.mark.parametrize("name", ["tiles", "pingpong", "persistent"])
def test_kernels_of_clusters_are_translated_here(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process to try it in takes three times as long as all else of a warm compilation."""

    def refuse(_: object) -> NoReturn:
        pytest.fail("translated in another process first")

    monkeypatch.setattr(llvm, "try_translation", refuse)
    path = EXAMPLES / "hopper" / f"{name}.mlir"
    assert "wgmma" in tilec.compile(path, target="sm_90a", cache=False).ptx

"""What importing tilec does not import: MLIR, llvmlite, CUDA and numpy load when first needed."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from importlib import import_module

import pytest

Outcome = subprocess.CompletedProcess[str]
HEAVY = ("torch_mlir", "mlir", "llvmlite", "cuda", "numpy", "ml_dtypes", "torch", "subprocess")
LOADED = f"import sys; print(*sorted({{m.partition('.')[0] for m in sys.modules}} & set({HEAVY})))"


@pytest.mark.parametrize(
    "module",
    ["tilec", "tilec.isa", "tilec.isa.kernel", "tilec.tools.tilec", "tilec.tools.tile_opt"],
)
def test_light(module: str, python: Callable[..., Outcome]) -> None:
    done = python(f"import {module}\n{LOADED}")
    assert done.stdout == "\n", done.stderr


def test_exports_load_when_used(python: Callable[..., Outcome]) -> None:
    code = (
        "import tilec\nassert tilec.Target is __import__('tilec.isa').isa.Target\n"
        f"{LOADED}\ntilec.compile, tilec.Compiled\n{LOADED}\n"
        "try: tilec.compile('')\nexcept tilec.TilecError: pass\n"
        f"{LOADED}"
    )
    exported, named, second = python(code).stdout.splitlines()
    assert exported == named == ""
    assert "torch_mlir" in second or "mlir" in second
    assert "llvmlite" not in second


def test_no_such_export(python: Callable[..., Outcome]) -> None:
    done = python("import tilec\ntry: tilec.compiel\nexcept AttributeError as e: print(e)")
    said = "module 'tilec' has no attribute 'compiel'; nearest: compile, "
    assert done.stdout.startswith(said)


@pytest.mark.parametrize("tool", ["tilec", "tile_opt"])
def test_command_line_does_without_numpy(
    tool: str, python: Callable[..., Outcome], scale: str
) -> None:
    """And the numpy that it hid from MLIR's bindings can be imported afterwards."""
    code = (
        f"import sys\nfrom tilec.tools import common, {tool} as tool\ncommon.hurry()\n"
        "code = tool.main(['-', '-o', '/dev/null'])\n"
        "print(code, 'numpy' in sys.modules)\nimport numpy\nprint(numpy.ones(1).sum())\n"
    )
    assert python(code, stdin=scale).stdout == "0 False\n1.0\n"


def test_numpy_that_is_there_is_left_alone(python: Callable[..., Outcome]) -> None:
    code = (
        "import sys, numpy\nfrom tilec.ir import mlir\nmlir.with_numpy = False\nmlir.ir\n"
        "print(sys.modules['numpy'] is numpy)"
    )
    assert python(code).stdout == "True\n"


@pytest.mark.parametrize(
    ("name", "home"),
    [
        ("tilec.arguments.passed", "tilec.launch.arguments"),
        ("tilec.cache.through_cache", "tilec.cache.compilations"),
        ("tilec.remembered.through_cache", "tilec.cache.compilations"),
        ("tilec.dialect_plugins.load_dialect", "tilec.dialect_plugins"),
        ("tilec.pipelines.pipeline", "tilec.pipelines"),
    ],
)
def test_what_code_out_of_tree_imports(name: str, home: str) -> None:
    module, _, attribute = name.rpartition(".")
    assert getattr(import_module(module), attribute).__module__ == home


def test_codegen_for_code_out_of_tree() -> None:
    from tilec import codegen

    assert codegen is import_module("tilec.backend.codegen")


MET = """
import sys, tilec
from tilec.ir.mlir import dialect, ir
text = sys.stdin.read()
with tilec.compile(text, emit="nvvm") as compiled:
    compiled.ptx
    print(sorted(name for name in sys.modules if name.endswith(("_llvm_ops_gen", "_nvvm_ops_gen"))))
    module = ir.Module.parse(compiled.nvvm, compiled.module.context)
inside = module.body.operations[0].regions[0].blocks[0].operations
print(type(inside[0]) is ir.OpView, inside[0].name)
llvm = dialect("llvm")
print(type(inside[0]) is llvm.LLVMFuncOp, inside[0].sym_name.value)
pointer = ir.Type.parse("!llvm.ptr<3>", module.context)
print(type(pointer) is llvm.PointerType, pointer.address_space)
"""


def test_classes_of_the_llvm_dialects_are_imported_by_who_wants_them(
    scale: str, python: Callable[..., Outcome]
) -> None:
    """They take as long to import as tilec, which never asks for them."""
    done = python(MET, stdin=scale)
    assert done.stdout.splitlines() == ["[]", "True llvm.func", "True scale", "True 3"], done.stderr

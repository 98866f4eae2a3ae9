"""The JSON beside the PTX says what the PTX takes: its `.param`s, its block, its shared memory."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import tilec
from tilec.launch.abi import Abi, KernelEntry, MemRef, Scalar

EXAMPLES = sorted((Path(__file__).parents[3] / "examples").glob("*.mlir"))
# What LLVM calls a parameter of each type.
PTX_TYPES = {"ptr": "u64", "i64": "u64", "i32": "u32", "f32": "f32", "f64": "f64", "i16": "u16"}


def parameters(ptx: str, kernel: str) -> list[str]:
    """Types of the parameters of an `.entry`, read from the PTX."""
    header = re.search(rf"\.entry {kernel}\((.*?)\)", ptx, re.DOTALL)
    assert header
    return re.findall(r"\.param (?:\.align \d+ )?\.(\w+)", header[1])


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_examples(path: Path) -> None:
    compiled = tilec.compile(path)
    for kernel in compiled.kernels:
        passed = [type_ for argument in kernel.arguments for type_ in argument.parameters]
        assert parameters(compiled.ptx, kernel.name) == [PTX_TYPES[t] for t in passed]
        limits = re.search(r"\.(?:maxntid|reqntid) (\d+), (\d+), (\d+)", compiled.ptx)
        assert kernel.block == (tuple(map(int, limits.groups())) if limits else None)
        dynamic = "extern .shared" in compiled.ptx
        assert (kernel.dynamic_shared > 0) == dynamic


def test_memref_with_everything_dynamic(scale: str) -> None:
    compiled = tilec.compile(scale)
    (kernel,) = compiled.kernels
    memref, n, f = kernel.arguments
    assert memref == MemRef("arg0", "f32", (None, 64), (None, 1), None, 0)
    assert memref.parameters == ("ptr", "i64", "i64", "i64")
    assert (n, f) == (Scalar("arg1", "i32"), Scalar("arg2", "f32"))
    assert parameters(compiled.ptx, "scale") == ["u64"] * 4 + ["u32", "f32"]
    assert kernel.block == (64, 1, 1)


def test_kernel_in_the_llvm_dialect() -> None:
    text = (
        "gpu.module @m { llvm.func @k(%p: !llvm.ptr<1>, %n: i32) attributes {nvvm.kernel,"
        " nvvm.reqntid = array<i32: 32>} { llvm.return } }"
    )
    (kernel,) = tilec.compile(text).kernels
    assert kernel == KernelEntry("k", (Scalar("arg0", "ptr"), Scalar("arg1", "i32")), (32, 1, 1))


def test_comes_back_from_json(scale: str) -> None:
    abi = tilec.compile(scale, target="sm_90a").abi
    assert Abi.parse(str(abi)) == abi
    document = json.loads(str(abi))
    assert document["target"] == "sm_90a"
    assert document["ptx"] == "8.0"
    (kernel,) = document["kernels"]
    assert set(kernel) == {"name", "block", "dynamic_shared", "arguments"}
    assert kernel["arguments"][0] == {
        "name": "arg0",
        "kind": "memref",
        "type": "f32",
        "shape": [None, 64],
        "strides": [None, 1],
        "offset": None,
        "space": 0,
    }
    assert kernel["arguments"][1] == {"name": "arg1", "kind": "scalar", "type": "i32"}

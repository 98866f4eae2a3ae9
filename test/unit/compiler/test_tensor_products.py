"""Products in tensor memory, from level 3 to the simulator against numpy, and through LLVM."""

# ruff: noqa: E501 (programs have long lines)

from __future__ import annotations

import re
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import tilec
from tilec.backend.codegen import generate
from tilec.frontend.contexts import new_context
from tilec.frontend.parsing import parse
from tilec.interpret import arithmetic_of, interpret
from tilec.isa import TARGETS, TilecError
from tilec.isa.instructions import instructions, named
from tilec.report.diagnostics import Source
from tilec.sim import SimulationError

from ..interpret.arrays import contents, kernel_of, views
from .tensor_programs import Product

NUMPY = {
    "f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "i32": np.int32,
    "i8": np.int8, "f8E4M3FN": ml_dtypes.float8_e4m3fn, "f8E5M2": ml_dtypes.float8_e5m2,
}  # fmt: skip
_ONE = "cta_group::1.kind::"
HALVES, BYTES = ("f32", "f16", "f16"), ("f32", "f8E4M3FN", "f8E5M2")
PRODUCTS = [
    Product(f"{_ONE}f16", "f32.f16.f16", HALVES, 128, 64, 64, 16),
    Product(f"{_ONE}f16", "f32.f16.f16", HALVES, 128, 8, 16, 16, "32B"),
    Product(f"{_ONE}f16", "f16.f16.f16", ("f16", "f16", "f16"), 64, 16, 32, 16, "64B"),
    Product(f"{_ONE}f16", "f32.f16.f16", HALVES, 128, 64, 64, 16, transposed=True),
    Product(f"{_ONE}f16", "f32.bf16.bf16", ("f32", "bf16", "bf16"), 128, 16, 64, 16,
            a_in_tensor=True),
    Product(f"{_ONE}tf32", "f32.tf32.tf32", ("f32", "f32", "f32"), 64, 32, 32, 8),
    Product(f"{_ONE}f8f6f4", "f32.e4m3.e5m2", BYTES, 128, 32, 128, 32),
    Product(f"{_ONE}i8", "s32.s8.s8", ("i32", "i8", "i8"), 128, 16, 64, 32, "64B"),
    Product(f"{_ONE}f16", "f32.f16.f16", HALVES, 32, 64, 64, 16, stationary=True),
]  # fmt: skip


@pytest.mark.parametrize("product", PRODUCTS, ids=lambda one: f"{one.types} {one.m}x{one.n}")
def test_products(product: Product) -> None:
    program = tilec.compile(product.text(), target="sm_100a", cache=False)
    rng = np.random.default_rng(product.n)
    d, a, b = (NUMPY[name] for name in product.elements)
    left = rng.integers(-3, 4, (product.m, product.k)).astype(a)
    right = rng.integers(-3, 4, (product.n, product.k)).astype(b)
    given = np.ascontiguousarray(right.T) if product.transposed else right
    sums = np.zeros((product.m, product.n), d)
    program.launch(left, given, sums, grid=1, device="sim").require_ok()
    wanted = left.astype(np.int64) @ right.astype(np.int64).T
    np.testing.assert_array_equal(sums.astype(np.int64), wanted)


def test_the_only_fence_is_missed() -> None:
    """Of what is compiled here, hardware that needs none is no excuse."""
    product = PRODUCTS[1]
    text = product.text()
    assert text.count("tile.tcgen05_fence") == 1
    program = tilec.compile(
        re.sub(r"tile\.tcgen05_fence.*", "", text), target="sm_100a", cache=False
    )
    a, b = np.zeros((128, 16), np.float16), np.zeros((8, 16), np.float16)
    sums = np.zeros((128, 8), np.float32)
    says = r"without a tcgen05\.fence::after_thread_sync behind the wait for its commit"
    with pytest.raises(SimulationError, match=says):
        program.launch(a, b, sums, grid=1, device="sim")


OF_KINDS = [one for one in PRODUCTS if one.k in (64, 32, 128) and not one.stationary]


def _lacking() -> list[Any]:
    """Every product on every target that has not its kind; two in CI."""
    found = [
        (product, name)
        for product in OF_KINDS
        for name, one in TARGETS.items()
        if named(f"tcgen05.mma.{product.kind}").min_ptx(one) is None
    ]
    return [
        pytest.param(
            *one, id=f"{one[0].kind} {one[1]}", marks=() if not n % 97 else pytest.mark.slow
        )
        for n, one in enumerate(dict.fromkeys(found))
    ]


@pytest.mark.parametrize(("product", "name"), _lacking())
def test_refused_where_it_is_not(product: Product, name: str) -> None:
    """At its line, whichever op of the program comes first that the target lacks."""
    with pytest.raises(
        TilecError, match=rf"^p\.mlir:\d+:\d+: error: .*tcgen05.*does not exist on {name};"
    ):
        _ = tilec.compile(product.text(), target=name, name="p.mlir", cache=False).ptx


def test_targets_know_whether_they_have_tensor_memory() -> None:
    alloc = instructions()["tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32"]
    for target in TARGETS.values():
        assert target.has_tensor_memory == (alloc.min_ptx(target) is not None), target


INTRINSIC = """
target datalayout = "e-i64:64-i128:128-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"
@operand = external addrspace(3) global [64 x i32], align 1024
declare void @llvm.nvvm.tcgen05.mma.shared(ptr addrspace(6), i64, i64, i32, i1, i32, i32, i32)
define ptx_kernel void @k(ptr addrspace(6) %d, i64 %a, i64 %b) {
  store i32 1, ptr addrspace(3) @operand
  call void @llvm.nvvm.tcgen05.mma.shared(
      ptr addrspace(6) %d, i64 %a, i64 %b, i32 136314896, i1 false, i32 0, i32 1, i32 0)
  store i32 2, ptr addrspace(3) @operand
  ret void
}
define void @function() {
  ret void
}
"""
OVERWRITTEN = """
!A = memref<128x64xf16, #tile.shared<"128B">>
!D = memref<128x128xf32, #tile.tensor<"d">>
!X = !tile.frag<tensor<32x8xf16>, #tile.layout<"register [0,1] [0,2] [0,4]; lane [1,0] [2,0] [4,0] [8,0] [16,0] -> row 32, col 8">>
gpu.module @m {
  gpu.func @k(%one: f16, %two: f16) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %more = arith.constant true
    %a = tile.alloc_shared : !A
    %d = tile.alloc_tensor : !D
    %x = tile.fill %one : f16 -> !X
    %y = tile.fill %two : f16 -> !X
    tile.store %x, %a[%c0, %c0] {vector = 8} : !X, !A
    tile.tcgen05_mma %a[%c0, %c0], %a[%c0, %c0], %d[%c0, %c0] if %more {form = "tcgen05.mma.cta_group::1.kind::f16.a::descriptor", types = "f32.f16.f16"} : !A, !A, !D
    tile.store %y, %a[%c0, %c0] {vector = 8} : !X, !A
    gpu.return
  }
  gpu.func @function() {
    gpu.return
  }
}
"""


def test_what_is_stored_to_an_operand_before_the_product_stays() -> None:
    """LLVM 22 takes its intrinsic for one that reads none of it: the first store is gone there.

    Not all of -O3 runs on kernels alone, so that each module has a function.
    """
    by_intrinsic = generate(INTRINSIC, cpu="sm_100a", features="+ptx86", level=3)
    assert len(re.findall(r"st\.shared", by_intrinsic)) == 1
    before, _, after = tilec.compile(OVERWRITTEN, target="sm_100a").ptx.partition("tcgen05.mma")
    assert len(re.findall(r"st\.shared", before)) == len(re.findall(r"st\.shared", after)) == 1


@pytest.mark.parametrize("narrow", ["e2m1", "e2m3", "e3m2"])
def test_a_of_narrow_floats_in_tensor_memory(narrow: str) -> None:
    """Each in a byte, those of 4 bits in the middle of it: PTX ISA 9.7.16.10.4.

    On the simulator and in the interpreter.
    """
    types, elements = f"f32.{narrow}.e4m3", ("f32", "i8", "f8E4M3FN")
    product = Product(f"{_ONE}f8f6f4", types, elements, 128, 16, 128, 32, a_in_tensor=True)
    kind = {
        "e2m1": ml_dtypes.float4_e2m1fn, "e2m3": ml_dtypes.float6_e2m3fn,
        "e3m2": ml_dtypes.float6_e3m2fn,
    }[narrow]  # fmt: skip
    rng = np.random.default_rng(4)
    left = rng.choice([-2, -1, -0.5, 0, 1, 1.5, 3], (128, 128)).astype(kind)
    right = rng.integers(-3, 4, (16, 128)).astype(NUMPY["f8E4M3FN"])
    codes = (left.view(np.uint8) << (2 if narrow == "e2m1" else 0)).astype(np.uint8).view(np.int8)
    sums = np.zeros((128, 16), np.float32)
    program = tilec.compile(product.text(), target="sm_100a", cache=False)
    program.launch(codes, right, sums, grid=1, device="sim").require_ok()
    wanted = left.astype(np.float64) @ right.astype(np.float64).T
    np.testing.assert_array_equal(sums, wanted)
    module, arithmetic = parse(Source("-", product.text()), new_context()), arithmetic_of("f64")
    function = kernel_of(module)
    arrays = views(function, [codes, right, np.zeros_like(sums)], arithmetic)
    done = interpret(function, arrays, arithmetic, grid=(1, 1, 1), target="sm_100a")
    assert not done.findings
    np.testing.assert_array_equal(contents(arrays[2], done.memories[2]), wanted)

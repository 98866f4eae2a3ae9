"""`linalg` and `vector` as the interpreter has them, against numpy."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tilec.frontend.contexts import new_context
from tilec.frontend.parsing import parse
from tilec.interpret import arithmetic_of, interpret
from tilec.report.diagnostics import Source

from .arrays import contents, kernel_of, views

EXAMPLES = Path(__file__).parents[3] / "examples" / "kernels"
LINALG = """
func.func @k(%a: memref<?x?xf16>, %b: memref<?x?xf16>, %c: memref<?x?xf32>) {{
  %start = arith.constant 2.0 : f32
  linalg.fill ins(%start : f32) outs(%c : memref<?x?xf32>)
  {op}
  return
}}
"""
MATMUL = """linalg.matmul ins(%a, %b : memref<?x?xf16>, memref<?x?xf16>)
      outs(%c : memref<?x?xf32>)"""
GENERIC = """linalg.generic {
      indexing_maps = [affine_map<(n, k, m) -> (k, m)>, affine_map<(n, k, m) -> (n, k)>,
      affine_map<(n, k, m) -> (m, n)>], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%a, %b : memref<?x?xf16>, memref<?x?xf16>) outs(%c : memref<?x?xf32>) {
    ^bb0(%x: f16, %y: f16, %t: f32):
      %u = arith.extf %x : f16 to f32
      %v = arith.extf %y : f16 to f32
      %p = arith.mulf %u, %v : f32
      %s = arith.addf %t, %p : f32
      linalg.yield %s : f32
  }"""


@pytest.mark.parametrize("numerics", ["hardware", "f64", "algebraic"])
@pytest.mark.parametrize(("op", "turned"), [(MATMUL, False), (GENERIC, True)])
def test_linalg(op: str, turned: bool, numerics: str) -> None:
    module = parse(Source("-", LINALG.format(op=op)), new_context())
    random, arithmetic = np.random.default_rng(1), arithmetic_of(numerics)
    a, b = (random.integers(-3, 4, size).astype(np.float16) for size in ((5, 7), (7, 6)))
    result = np.zeros((5, 6), np.float32)
    stored = [x.T.copy() if turned else x for x in (a, b)]
    function = module.body.operations[0]
    given = views(function, [*stored, result], arithmetic)
    done = interpret(function, given, arithmetic)
    assert not done.findings
    np.testing.assert_array_equal(contents(given[2], done.memories[2]), a @ b + 2)


def test_extents_that_do_not_fit() -> None:
    module = parse(Source("-", LINALG.format(op=MATMUL)), new_context())
    arithmetic = arithmetic_of("f64")
    arrays = [
        np.zeros((5, 7), np.float16),
        np.zeros((8, 6), np.float16),
        np.zeros((5, 6), np.float32),
    ]
    function = module.body.operations[0]
    done = interpret(function, views(function, arrays, arithmetic), arithmetic)
    assert done.kinds == {"bounds"}


@pytest.mark.parametrize("numerics", ["hardware", "f64"])
def test_vectors(numerics: str) -> None:
    module = parse(Source("-", (EXAMPLES / "vector_gemm.mlir").read_text()), new_context())
    random, arithmetic = np.random.default_rng(1), arithmetic_of(numerics)
    a, b = (random.integers(-3, 4, size).astype(np.float16) for size in ((40, 72), (72, 48)))
    bias, c = random.integers(-9, 9, 48).astype(np.float32), np.zeros((40, 48), np.float32)
    function = kernel_of(module)
    given = views(function, [a, b, bias, c], arithmetic)
    done = interpret(function, given, arithmetic, target="sm_80")
    assert not done.findings
    got = contents(given[3], done.memories[3])
    np.testing.assert_array_equal(got, np.maximum(a.astype(np.float32) @ b + bias, 0))


REDUCTION = """
gpu.module @m {{
  gpu.func @k(%a: memref<4x6xi32>, %c: memref<6xi32>) kernel {{
    %z = arith.constant 0 : index
    %p = arith.constant 0 : i32
    %x = vector.transfer_read %a[%z, %z], %p {{in_bounds = [true, true]}}
        : memref<4x6xi32>, vector<4x6xi32>
    %t = vector.transpose %x, [1, 0] : vector<4x6xi32> to vector<6x4xi32>
    %s = arith.constant dense<1> : vector<6xi32>
    %r = vector.multi_reduction <{kind}>, %t, %s [1] : vector<6x4xi32> to vector<6xi32>
    vector.transfer_write %r, %c[%z] {{in_bounds = [true]}} : vector<6xi32>, memref<6xi32>
    gpu.return
  }}
}}
"""


@pytest.mark.parametrize(
    ("kind", "combine"), [("add", np.add), ("maxsi", np.maximum), ("xor", np.bitwise_xor)]
)
def test_reductions_of_vectors(kind: str, combine) -> None:
    module = parse(Source("-", REDUCTION.format(kind=kind)), new_context())
    arithmetic, function = arithmetic_of("hardware"), kernel_of(module)
    a = np.random.default_rng(1).integers(-20, 20, (4, 6)).astype(np.int32)
    given = views(function, [a, np.zeros(6, np.int32)], arithmetic)
    done = interpret(function, given, arithmetic)
    expected = combine(combine.reduce(a, axis=0), 1)
    np.testing.assert_array_equal(contents(given[1], done.memories[1]), expected)

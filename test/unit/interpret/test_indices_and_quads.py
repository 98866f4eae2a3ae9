"""Affine maps of indices, and the four products of `mma.m8n8k4`, against Python and numpy."""

from __future__ import annotations

import numpy as np
import pytest
from tilec.frontend.contexts import new_context
from tilec.frontend.parsing import parse
from tilec.interpret import arithmetic_of, interpret
from tilec.layout import fragment
from tilec.report.diagnostics import Source

from .arrays import contents, kernel_of, views

INDICES = """
gpu.module @m {
  gpu.func @k(%o: memref<6x64xindex>, %n: index) kernel {
    %i = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %c5 = arith.constant 5 : index
    %m = arith.subi %i, %n : index
    %a = affine.apply affine_map<(d0)[s0] -> (d0 * 4 + s0 - 3)>(%m)[%n]
    %b = affine.apply affine_map<(d0) -> (d0 floordiv 3)>(%m)
    %c = affine.apply affine_map<(d0) -> (d0 ceildiv 3)>(%m)
    %d = affine.apply affine_map<(d0) -> (d0 mod 5)>(%m)
    %e = affine.min affine_map<(d0)[s0] -> (d0, s0, 20 - d0)>(%i)[%n]
    %f = affine.max affine_map<(d0)[s0] -> (d0, s0, 20 - d0)>(%i)[%n]
    memref.store %a, %o[%c0, %i] : memref<6x64xindex>
    memref.store %b, %o[%c1, %i] : memref<6x64xindex>
    memref.store %c, %o[%c2, %i] : memref<6x64xindex>
    memref.store %d, %o[%c3, %i] : memref<6x64xindex>
    memref.store %e, %o[%c4, %i] : memref<6x64xindex>
    memref.store %f, %o[%c5, %i] : memref<6x64xindex>
    gpu.return
  }
}
"""
FORM = "mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32"


def test_affine_maps() -> None:
    module = parse(Source("-", INDICES), new_context())
    function = kernel_of(module)
    arithmetic = arithmetic_of("algebraic")
    given = views(function, [np.zeros((6, 64), np.int64), 11], arithmetic)
    done = interpret(function, given, arithmetic)
    assert not done.findings
    found = contents(given[0], done.memories[0])[:, :32].T.tolist()
    for i, row in enumerate(found):
        m, n = i - 11, 11
        expected = [m * 4 + n - 3, m // 3, -(-m // 3), m % 5, min(i, n, 20 - i), max(i, n, 20 - i)]
        assert row == expected


def _fragment(name: str, rows: int, cols: int, element: str) -> str:
    layout = fragment(FORM, name)
    return f'!tile.frag<tensor<4x{rows}x{cols}x{element}>, #tile.layout<"{layout}">>'


@pytest.mark.parametrize("numerics", ["algebraic", "hardware"])
def test_four_products(numerics: str) -> None:
    a, b, d = (
        _fragment(*one) for one in (("a", 8, 4, "f16"), ("b", 4, 8, "f16"), ("d", 8, 8, "f32"))
    )
    text = f"""
gpu.module @m {{
  gpu.func @k(%a: memref<4x8x4xf16>, %b: memref<4x4x8xf16>, %c: memref<4x8x8xf32>) kernel {{
    %i = arith.constant 0 : index
    %x = tile.load %a[%i, %i, %i] : memref<4x8x4xf16> -> {a}
    %y = tile.load %b[%i, %i, %i] : memref<4x4x8xf16> -> {b}
    %z = tile.load %c[%i, %i, %i] : memref<4x8x8xf32> -> {d}
    %d = tile.mma %x, %y, %z {{form = "{FORM}"}} : {a}, {b}, {d}
    tile.store %d, %c[%i, %i, %i] : {d}, memref<4x8x8xf32>
    gpu.return
  }}
}}
"""
    module = parse(Source("-", text), new_context())
    function = kernel_of(module)
    arithmetic, random = arithmetic_of(numerics), np.random.default_rng(0)
    left, right, sums = (
        random.integers(-3, 4, shape).astype(type_)
        for shape, type_ in (
            ((4, 8, 4), np.float16),
            ((4, 4, 8), np.float16),
            ((4, 8, 8), np.float32),
        )
    )
    given = views(function, [left, right, sums], arithmetic)
    done = interpret(function, given, arithmetic, target="sm_70")
    assert not done.findings
    expected = left.astype(int) @ right.astype(int) + sums.astype(int)
    np.testing.assert_array_equal(contents(given[2], done.memories[2]), expected)

"""Staged and pipelined products agree with numpy, whole numbers being exact in every type.

The simulator finds no race, no access out of bounds, no read of what is not there yet, and no bank
conflict, for sizes that fit the tiles and such that do not, on targets with and without
`cp.async`, memory in both orders, operands wider and narrower than 16 bits.
"""

from __future__ import annotations

import numpy as np
import pytest

ALIGNED = "{tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}"
SIZES = [(64, 64, 32), (128, 64, 160), (1, 1, 1), (61, 67, 97), (64, 8, 0), (13, 127, 31)]


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("target", ["sm_75", "sm_80"])
def test_any_size(program, run, padded, rng, size, target) -> None:
    m, n, k = size
    form = "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32"
    a, b = padded(rng, m, k, np.float16), padded(rng, k, n, np.float16)
    c = np.full((m, n), np.nan, np.float32)
    grid = (-(-n // 64), -(-m // 64))
    report = run(program(form=form), "gemm", grid, [a, b, c, k], target=target)
    np.testing.assert_array_equal(c, a.astype(np.float32) @ b.astype(np.float32))
    assert report.conflicts == 0


@pytest.mark.parametrize("stages", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("rounds", [0, 1, 2, 3, 4, 7])
def test_stages_and_rounds(program, run, padded, rng, stages, rounds) -> None:
    k = 32 * rounds
    a, b = padded(rng, 64, k, np.float16), padded(rng, k, 64, np.float16)
    c = np.full((64, 64), np.nan, np.float32)
    report = run(program(stages=stages), "gemm", (1, 1), [a, b, c, k])
    np.testing.assert_array_equal(c, a.astype(np.float32) @ b.astype(np.float32))
    assert report.conflicts == 0


@pytest.mark.parametrize("unroll", [2, 3])
@pytest.mark.parametrize("rounds", [0, 1, 2, 5])
def test_unrolled(program, run, padded, rng, unroll, rounds) -> None:
    k = 32 * rounds
    a, b = padded(rng, 64, k, np.float16), padded(rng, k, 64, np.float16)
    c = np.full((64, 64), np.nan, np.float32)
    run(program(unroll=unroll), "gemm", (1, 1), [a, b, c, k])
    np.testing.assert_array_equal(c, a.astype(np.float32) @ b.astype(np.float32))


@pytest.mark.parametrize("transposed", ["", "a", "b", "ab"])
def test_both_orders(program, run, padded, rng, transposed) -> None:
    m, n, k = 70, 90, 75
    a, b = padded(rng, m, k, np.float16), padded(rng, k, n, np.float16)
    c = np.full((m, n), np.nan, np.float32)
    stored = []
    for name, matrix in (("a", a), ("b", b)):
        if name in transposed:
            turned = padded(rng, matrix.shape[1], matrix.shape[0], np.float16)
            turned[...] = matrix.T
            matrix = turned  # noqa: PLW2901
        stored.append(matrix)
    report = run(program(transposed=transposed), "gemm", (2, 2), [*stored, c, k])
    np.testing.assert_array_equal(c, a.astype(np.float32) @ b.astype(np.float32))
    assert report.conflicts == 0


@pytest.mark.parametrize(
    "promised",
    [
        "",
        "{tile.aligned = 4 : i64, tile.strides = array<i64: 2, 1>}",
        "{tile.aligned = 16 : i64, tile.strides = array<i64: 4, 1>}",
        "{tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>, tile.sizes = array<i64: 1, 2>}",
    ],
)
@pytest.mark.parametrize("target", ["sm_75", "sm_80"])
def test_any_alignment(program, run, padded, rng, promised, target) -> None:
    m, n, k = 50, 66, 70
    form = "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32"
    a, b = padded(rng, m, k, np.float16), padded(rng, k, n, np.float16)
    c = np.full((m, n), np.nan, np.float32)
    report = run(program(form=form, promised=promised), "gemm", (2, 1), [a, b, c, k], target=target)
    np.testing.assert_array_equal(c, a.astype(np.float32) @ b.astype(np.float32))
    assert report.conflicts == 0


@pytest.mark.parametrize("rounds", [0, 1, 2, 5])
def test_tiles_that_wait_in_registers(program, run, compiled, padded, rng, rounds) -> None:
    m, n, k = 50, 72, 32 * rounds - 8 * (rounds > 1)
    form = "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32"
    text = program(form=form, promised=ALIGNED.replace("{", "{tile.sizes = array<i64: 1, 8>, "))
    a, b = padded(rng, m, k, np.float16), padded(rng, k, n, np.float16)
    c = np.full((m, n), np.nan, np.float32)
    report = run(text, "gemm", (2, 1), [a, b, c, k], target="sm_75")
    np.testing.assert_array_equal(c, a.astype(np.float32) @ b.astype(np.float32))
    assert report.conflicts == 0
    assert compiled(text, "sm_75").ptx.count("bar.sync") == 3  # one a round, two for the result


OTHER_TYPES = [
    ("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", ("tf32", "tf32", "f32"), "f32", "f4"),
    ("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64", ("f64", "f64", "f64"), "f64", "f8"),
    ("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32", ("i8", "i8", "i32"), "i8", "i1"),
]


@pytest.mark.parametrize(("form", "elements", "memory", "dtype"), OTHER_TYPES, ids=lambda v: v[-3:])
@pytest.mark.parametrize("transposed", ["", "b"])
def test_other_elements(
    program, run, padded, rng, form, elements, memory, dtype, transposed
) -> None:
    m, n, k = 66, 50, 70
    a, b = padded(rng, m, k, dtype, pitch=16), padded(rng, k, n, dtype, pitch=16)
    stored = b
    if transposed:
        stored = padded(rng, n, k, dtype, pitch=16)
        stored[...] = b.T
    exact = np.int64 if memory == "i8" else np.float64
    c = np.zeros((m, n), {"f4": "f4", "f8": "f8", "i1": "i4"}[dtype])
    text = program(
        form=form,
        elements=elements,
        memory=(memory, memory),
        transposed=transposed,
        promised="{tile.aligned = 16 : i64, tile.strides = array<i64: 16, 1>}",
    )
    report = run(text, "gemm", (1, 2), [a, stored, c, k])
    np.testing.assert_array_equal(c, a.astype(exact) @ b.astype(exact))
    assert report.conflicts == 0

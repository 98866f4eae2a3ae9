"""Attention on sm_90a: roles of warps, and powers computed under the product of the block before.

The kernels are those of `examples/kernels`, which name no instruction. The simulator's results are
compared with numpy's; ptxas judges what is emitted, and its SASS is counted.
"""

from __future__ import annotations

import math
import os
import random
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tilec
from tilec.backend.cubin import assemble, disassemble, tools
from tilec.isa import target
from tilec.pipelines import pipeline

ROOT = Path(__file__).parents[3]
sys.path.insert(0, str(ROOT / "examples" / "kernels"))
sys.path.insert(0, str(ROOT / "benchmarks"))
try:
    from attention import attention
    from attention_backward import gradient_of_queries, gradients_of_keys, reference
    from kernel_stats import sass_counts
finally:
    del sys.path[:2]

HOPPER = target("sm_90a")
needs_assembler = pytest.mark.skipif(
    not (tools("ptxas") and tools("nvdisasm")), reason="no ptxas, or no nvdisasm"
)
NOTES = re.compile(r"C7[56]\d\d|wgmma|[Pp]otential|setmaxnreg")
TRITON = {64: 501, 128: 555}
"""SASS instructions of Triton 3.9's loop, a block of 128 keys without a mask, by head size."""


def _compiled(deep: int, keys: int, **constants: bool) -> tilec.Compiled:
    """The kernel for heads of a size and blocks of so many keys, in two warpgroups."""
    array = np.zeros((1, 9, deep), np.float16)  # of whose extents nothing is promised
    return attention.using(warps=8).compile(
        *[array] * 4, 0.1, target="sm_90a", BM=128, BN=keys, **constants
    )


def _check(
    compiled: tilec.Compiled, deep: int, queries: int, keys: int, *, causal: bool = False
) -> None:
    """Run on the simulator, two heads, and compare with numpy."""
    rng = np.random.default_rng([deep, queries, keys])
    q = rng.standard_normal((2, queries, deep)).astype(np.float16)
    k, v = rng.standard_normal((2, 2, keys, deep)).astype(np.float16)
    o = np.full_like(q, 7)
    scale = math.log2(math.e) / math.sqrt(deep)
    compiled.launch(q, k, v, o, scale, grid=(-(-queries // 128), 2), device="sim")
    scores = q.astype(np.float64) @ k.astype(np.float64).swapaxes(1, 2) / math.sqrt(deep)
    if causal:
        scores = np.where(np.tri(queries, keys, dtype=bool), scores, -np.inf)
    powers = np.exp(scores - scores.max(axis=2, keepdims=True))
    wanted = powers / powers.sum(axis=2, keepdims=True) @ v.astype(np.float64)
    np.testing.assert_allclose(o, wanted, atol=3e-3)


@pytest.mark.parametrize(
    ("deep", "block", "constants", "extents"),
    [
        (64, 128, {}, [(200, 300), (1, 5)]),
        (64, 128, {"WHOLE": True}, [(128, 128), (136, 512)]),
        (128, 128, {}, [(136, 264), (128, 128)]),
        (128, 128, {"CAUSAL": True}, [(300, 300), (264, 520)]),
        (256, 64, {}, [(72, 136)]),
        (256, 64, {"CAUSAL": True}, [(136, 136)]),
    ],
)
def test_attention(
    deep: int, block: int, constants: dict[str, bool], extents: list[tuple[int, int]]
) -> None:
    compiled = _compiled(deep, block, **constants)
    assert compiled.kernels[0].block == (384, 1, 1)
    assert "wgmma.wait_group.sync.aligned 1;" in compiled.ptx
    for queries, keys in extents:
        _check(compiled, deep, queries, keys, causal="CAUSAL" in constants)


@pytest.mark.parametrize("name", ["attention_128", "attention_causal_128"])
def test_the_program_in_mlir(name: str) -> None:
    compiled = tilec.compile(ROOT / "examples" / "kernels" / "attention_128.mlir", target="sm_90a")
    rng = np.random.default_rng(0)
    q, k, v = rng.standard_normal((3, 1, 130, 128)).astype(np.float16)
    o = np.empty_like(q)
    scale = math.log2(math.e) / math.sqrt(128)
    compiled.launch(q, k, v, o, scale, grid=(2, 1), kernel=name, device="sim")
    scores = (q.astype(np.float64) @ k.astype(np.float64).swapaxes(1, 2)) / math.sqrt(128)
    if "causal" in name:
        scores = np.where(np.tri(130, dtype=bool), scores, -np.inf)
    powers = np.exp(scores - scores.max(axis=2, keepdims=True))
    wanted = powers / powers.sum(axis=2, keepdims=True) @ v.astype(np.float64)
    np.testing.assert_allclose(o, wanted, atol=3e-3)


@pytest.mark.parametrize(("deep", "keys"), [(64, 128), (128, 128), (256, 64)])
def test_ptxas_has_nothing_to_note(
    deep: int, keys: int, assemblers_for: Callable[..., list[Any]]
) -> None:
    for constants in ({"WHOLE": True}, {"CAUSAL": True}):
        compiled = _compiled(deep, keys, **constants)
        for ptxas in assemblers_for(HOPPER):
            status, report = ptxas.run(compiled.ptx, "sm_90a", "-v")
            assert status == 0, report
            assert not NOTES.search(report), report
            assert "0 bytes spill stores, 0 bytes spill loads" in report


def _sass(compiled: tilec.Compiled) -> str:
    return disassemble(assemble(compiled.ptx, HOPPER).cubin)


@needs_assembler
@pytest.mark.parametrize("deep", [64, 128])
def test_a_block_takes_fewer_instructions_than_tritons(deep: int) -> None:
    loop = sass_counts(_sass(_compiled(deep, 128, WHOLE=True)), "attention")["sass_loop"]
    assert loop["mma"] == deep // 16 + 8
    assert loop["wgmma wait"] == 2
    assert loop["all"] <= TRITON[deep]


@needs_assembler
def test_powers_are_computed_under_the_second_product() -> None:
    """In SASS, between the waits that leave one product in flight and none."""
    text = _sass(_compiled(128, 128, WHOLE=True))
    code = re.findall(r"HGMMA|DEPBAR\.LE gsb0, 0x[01]|MUFU\.EX2|F2FP", text)
    loop = " ".join(code)
    # The first block stands before the loop: its product, alone, its powers.
    order = re.search(
        r"(HGMMA ){16}DEPBAR\S* gsb0, 0x1 (MUFU\.EX2 ){66}DEPBAR\S* gsb0, 0x0 (F2FP ?){32}", loop
    )
    assert order, loop


@pytest.mark.parametrize(
    ("warps", "other", "deep", "count", "causal"),
    [  # a warpgroup has 64 keys, or 64 queries; of the others so many at a time
        (4, 64, 64, 72, True),
        pytest.param(8, 64, 64, 200, False, marks=pytest.mark.slow),
        pytest.param(8, 64, 64, 200, True, marks=pytest.mark.slow),
        pytest.param(8, 64, 128, 136, True, marks=pytest.mark.slow),
        pytest.param(8, 32, 128, 264, False, marks=pytest.mark.slow),
    ],
)
def test_gradients(warps: int, other: int, deep: int, count: int, causal: bool) -> None:
    """Every product of both kernels is by `wgmma`; two warpgroups have a third that loads."""
    q, k, v, do = np.random.default_rng(count).standard_normal((4, 2, count, deep))
    given = [one.astype(np.float16) for one in (q, k, v, do)]
    o, sums, wanted = reference(*given, causal=causal)
    delta = (o.astype(float) * given[3]).sum(axis=2).astype(np.float32)
    dq, dk, dv = found = [np.full_like(given[0], 7) for _ in range(3)]
    own = 16 * warps
    for kernel, results, tile in (
        (gradients_of_keys, (dk, dv), {"BM": other, "BN": own}),
        (gradient_of_queries, (dq,), {"BM": own, "BN": other}),
    ):
        arguments = [*given, sums, delta, *results, deep**-0.5]
        constants = {"CAUSAL": causal, **tile}
        compiled = kernel.using(warps=warps, target="sm_90a").compile(*arguments, **constants)
        assert "wgmma.mma_async" in compiled.ptx
        assert not re.search(r"\bmma\.sync", compiled.ptx)
        assert ("setmaxnreg" in compiled.ptx) == (warps > 4)
        report = compiled.launch(*arguments, grid=(-(-count // own), 2), device="sim")
        assert report is not None
        assert not report.findings
    for got, right in zip(found, wanted, strict=True):
        np.testing.assert_allclose(got, right, rtol=1e-2, atol=1e-2)


COUNT = int(os.environ.get("TILEC_RANDOM_CHAINS", "8"))


def _chain(seed: int) -> tuple[str, tuple[int, ...], bool]:
    """A program with a product of a product in its loop, drawn; the tile, and its extents."""
    draw = random.Random(seed)
    rows, inner, cols = draw.choice([64, 128]), draw.choice([32, 64, 128]), draw.choice([16, 64])
    deep = draw.choice([16, 64])
    groups = rows // 64
    m, n = rows - draw.randrange(9), draw.choice([1, 2, 3, 5]) * inner - draw.randrange(9)
    positive = draw.random() < 0.5
    stages = draw.choice(["", "{tile.stages = 2 : i64}", "{tile.stages = 3 : i64}"])
    array = "memref<?x?xf16, strided<[?, 1]>>"
    promise = "{tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}"
    a, p = f"tensor<{rows}x{deep}xf16>", f"tensor<{rows}x{inner}xf16>"
    s, d = f"tensor<{rows}x{inner}xf32>", f"tensor<{rows}x{cols}xf32>"
    b, v = f"tensor<{deep}x{inner}xf16>", f"tensor<{inner}x{cols}xf16>"
    clipped = f"%t = arith.maxnumf %one, %zero : {s}" if positive else f"%t = arith.negf %one : {s}"
    text = f"""
gpu.module @m [#nvvm.target<chip = "sm_90a">] {{
  gpu.func @chain(%a: {array} {promise}, %b: {array} {promise}, %v: {array} {promise},
                  %c: memref<?x?xf32> {{llvm.noalias}}, %keys: index)
      kernel attributes {{known_block_size = array<i32: {128 * groups}, 1, 1>}} {{
    %c0 = arith.constant 0 : index
    %step = arith.constant {inner} : index
    %zero = arith.constant dense<0.0> : {s}
    %zero_d = arith.constant dense<0.0> : {d}
    %half = arith.constant dense<0.5> : {d}
    %ta = tile.load %a[%c0, %c0] masked : {array} -> {a}
    %r = scf.for %k = %c0 to %keys step %step iter_args(%sum = %zero_d) -> ({d}) {{
      %tb = tile.load %b[%k, %c0] masked transposed : {array} -> {b}
      %one = tile.dot %ta, %tb, %zero : {a}, {b}, {s}
      {clipped}
      %p = arith.truncf %t : {s} to {p}
      %halved = arith.mulf %sum, %half : {d}
      %tv = tile.load %v[%k, %c0] masked : {array} -> {v}
      %next = tile.dot %p, %tv, %halved : {p}, {v}, {d}
      scf.yield %next : {d}
    }} {stages}
    tile.store %r, %c[%c0, %c0] masked : {d}, memref<?x?xf32>
    gpu.return
  }}
}}
"""
    return text, (m, n, deep, cols, inner), positive


@pytest.mark.parametrize("seed", range(COUNT))
@pytest.mark.parametrize("enabled", ["true", "false"])
def test_random_chains(seed: int, enabled: str) -> None:
    text, (m, n, deep, cols, inner), positive = _chain(seed)
    chosen = pipeline(HOPPER).replaced("tile-specialize-warps", "tile-specialize-warps{least=1}")
    chosen = chosen.replaced("tile-overlap-products", f"tile-overlap-products{{enabled={enabled}}}")
    compiled = tilec.compile(text, pipeline=chosen)
    assert ("wait_group.sync.aligned 1;" in compiled.ptx) == (enabled == "true")
    rng = np.random.default_rng(seed)
    a, b = rng.integers(-1, 2, (m, deep)), rng.integers(-1, 2, (n, deep))
    v = rng.integers(-2, 3, (n, cols))
    c = np.zeros((m, cols), np.float32)
    compiled.launch(*(one.astype(np.float16) for one in (a, b, v)), c, n, grid=1, device="sim")
    wanted = np.zeros((m, cols))
    for at in range(0, n, inner):
        scores = a @ b[at : at + inner].T
        scores = np.maximum(scores, 0) if positive else -scores
        wanted = wanted / 2 + scores @ v[at : at + inner]
    np.testing.assert_array_equal(c, wanted.astype(np.float32))


@pytest.mark.parametrize("keys", [0, 64])
def test_no_round_and_one(keys: int) -> None:
    text, (m, _, deep, cols, inner), positive = _chain(1)
    chosen = pipeline(HOPPER).replaced("tile-specialize-warps", "tile-specialize-warps{least=1}")
    compiled = tilec.compile(text, pipeline=chosen)
    keys = min(keys, inner)
    a, b = np.ones((m, deep), np.float16), np.ones((inner, deep), np.float16)
    v, c = np.ones((inner, cols), np.float16), np.full((m, cols), 7, np.float32)
    compiled.launch(a, b, v, c, keys, grid=1, device="sim")
    one = deep if positive else -deep
    np.testing.assert_array_equal(c, np.full_like(c, one * inner if keys else 0))

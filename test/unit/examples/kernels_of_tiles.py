"""The kernels of `examples/kernels`: inputs of any extents, and what numpy makes of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray
from tilec.isa import form as find_form
from tilec.runtime import dequantize, quantize, sparse

Array = NDArray[Any]
SPARSE = find_form("mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32")
E4M3 = ml_dtypes.float8_e4m3fn
FILLING = 7
"""What memory beside the matrices holds: it must neither be used nor change."""


@dataclass(frozen=True)
class Run:
    """A launch and what it must give.

    Attributes:
        arguments: of the kernel, the result among them.
        grid: CTAs along x, y and z.
        result: the argument that the kernel writes.
        expected: what it must hold.
        tolerance: largest difference, relative to the largest number that is expected.
    """

    arguments: list[Any]
    grid: tuple[int, ...]
    result: Array
    expected: Array
    tolerance: float


@dataclass(frozen=True)
class Kernel:
    """A kernel of a file.

    Attributes:
        file: without `.mlir`.
        name: of the `gpu.func`.
        run: makes the launch for extents.
        extents: extents to try, regular and ragged.
        targets: those that have its instructions, one a generation.
    """

    file: str
    name: str
    run: Callable[[np.random.Generator, tuple[int, ...]], Run]
    extents: tuple[tuple[int, ...], ...]
    targets: tuple[str, ...]


def matrix(rng: np.random.Generator, shape: tuple[int, ...], dtype: Any, multiple: int) -> Array:
    """Random numbers in memory whose rows are a multiple apart."""
    width = -(-max(shape[-1], 1) // multiple) * multiple
    memory = np.full((*shape[:-1], width), FILLING, dtype)
    view = memory[..., : shape[-1]]
    integer = np.issubdtype(np.dtype(dtype), np.integer)
    view[...] = rng.integers(-128, 128, shape) if integer else rng.standard_normal(shape)
    return view


def blank(shape: tuple[int, ...], dtype: Any, multiple: int) -> Array:
    """Memory for a result."""
    width = -(-max(shape[-1], 1) // multiple) * multiple
    return np.full((*shape[:-1], width), FILLING, dtype)[..., : shape[-1]]


def tiles(extent: int, tile: int) -> int:
    """CTAs along an extent, one at least."""
    return max(1, -(-extent // tile))


def product(a: Array, b: Array) -> Array:
    """`a · b` in the precision of doubles, or of integers."""
    wide = np.int64 if np.issubdtype(a.dtype, np.integer) else np.float64
    found: Array = a.astype(wide) @ b.astype(wide)
    return found


def gemm(
    element: Any, total: Any, tile: int = 128, *, transposed: bool = False, tolerance: float = 1e-5
) -> Callable[[np.random.Generator, tuple[int, ...]], Run]:
    """Runs of a GEMM of such elements; B may be stored as its transpose."""

    def run(rng: np.random.Generator, extents: tuple[int, ...]) -> Run:
        m, n, k = extents
        apart = 16 // np.dtype(element).itemsize
        a = matrix(rng, (m, k), element, apart)
        b = matrix(rng, (n, k) if transposed else (k, n), element, apart)
        c = blank((m, n), total, 16 // np.dtype(total).itemsize)
        expected = product(a, b.T if transposed else b).astype(total)
        return Run([a, b, c], (tiles(n, tile), tiles(m, tile)), c, expected, tolerance)

    return run


def fused(rng: np.random.Generator, extents: tuple[int, ...]) -> Run:
    """gelu(A·B + bias)."""
    m, n, k = extents
    a, b = matrix(rng, (m, k), np.float16, 8), matrix(rng, (k, n), np.float16, 8)
    bias, c = matrix(rng, (n,), np.float16, 8), blank((m, n), np.float16, 8)
    v = product(a, b) + bias.astype(np.float64)
    expected = v / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (v + 0.044715 * v**3)))
    return Run([a, b, bias, c], (tiles(n, 128), tiles(m, 128)), c, expected, 2e-3)


def biased(rng: np.random.Generator, extents: tuple[int, ...]) -> Run:
    """max(A·B + bias, 0)."""
    m, n, k = extents
    a, b = matrix(rng, (m, k), np.float16, 8), matrix(rng, (k, n), np.float16, 8)
    bias, c = matrix(rng, (n,), np.float32, 4), blank((m, n), np.float32, 4)
    expected = np.maximum(product(a, b) + bias.astype(np.float64), 0)
    return Run([a, b, bias, c], (tiles(n, 128), tiles(m, 128)), c, expected, 1e-5)


def batched(rng: np.random.Generator, extents: tuple[int, ...]) -> Run:
    """A batch of products."""
    batch, m, n, k = extents
    a, b = matrix(rng, (batch, m, k), np.float16, 8), matrix(rng, (batch, k, n), np.float16, 8)
    c = blank((batch, m, n), np.float32, 4)
    return Run([a, b, c], (tiles(n, 64), tiles(m, 64), batch), c, product(a, b), 1e-5)


def split_k(rng: np.random.Generator, extents: tuple[int, ...]) -> Run:
    """C + A·B by parts of K of 128."""
    m, n, k = extents
    a, b = matrix(rng, (m, k), np.float16, 8), matrix(rng, (k, n), np.float16, 8)
    c = matrix(rng, (m, n), np.float32, 4)
    expected = product(a, b) + c
    grid = (tiles(n, 128), tiles(m, 128), tiles(k, 128))
    return Run([a, b, c, np.int64(128)], grid, c, expected, 1e-5)


def int4(rng: np.random.Generator, extents: tuple[int, ...]) -> Run:
    """Weights of four bits, two a byte along K."""
    m, n, k = extents
    a = matrix(rng, (m, k), np.float16, 8)
    weights = rng.integers(-8, 8, (n, k + k % 2))
    packed = blank((n, (k + 1) // 2), np.int8, 16)
    packed[...] = ((weights[:, ::2] & 15) | (weights[:, 1::2] << 4)).astype(np.int8)
    scale, c = matrix(rng, (n,), np.float16, 8), blank((m, n), np.float16, 8)
    expected = product(a, weights[:, :k].T.astype(np.float64)) * scale.astype(np.float64)
    return Run([a, packed, scale, c], (tiles(n, 128), tiles(m, 64)), c, expected, 1e-3)


def sparse_gemm(rng: np.random.Generator, extents: tuple[int, ...]) -> Run:
    """A 2:4 sparse A; K is a multiple of 8."""
    m, n, k = extents
    pruned = sparse.prune(SPARSE, rng.standard_normal((m, k)).astype(np.float16))
    stored, codes = sparse.compress(SPARSE, pruned)
    a, e = blank(stored.shape, np.float16, 8), blank((m, codes.shape[1] // 2), np.int8, 4)
    a[...] = stored
    e[...] = (codes[:, ::2] | codes[:, 1::2] << 4).astype(np.uint8).view(np.int8)
    b, c = matrix(rng, (k, n), np.float16, 8), blank((m, n), np.float32, 4)
    grid = (tiles(n, 128), tiles(m, 128))
    return Run([a, e, b, c], grid, c, product(pruned, b), 1e-5)


def scaled_gemm(rng: np.random.Generator, extents: tuple[int, ...]) -> Run:
    """Elements in blocks of 32 along K, each with its scale."""
    m, n, k = extents
    a, b = (quantize(rng.standard_normal((rows, k)), "e4m3", "ue8m0", 32) for rows in (m, n))
    memory = []
    for held, apart in ((a.elements, 16), (b.elements, 16), (a.scales, 4), (b.scales, 4)):
        memory.append(blank(held.shape, np.int8, apart))
        memory[-1][...] = held.view(np.int8)
    c = blank((m, n), np.float32, 4)
    expected = product(dequantize(a), dequantize(b).T)
    return Run([*memory, c], (tiles(n, 128), tiles(m, 128)), c, expected, 1e-5)


def softmax(rng: np.random.Generator, extents: tuple[int, ...]) -> Run:
    """Softmax of each row."""
    x, y = matrix(rng, extents, np.float32, 4), blank(extents, np.float32, 4)
    power = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True))
    return Run([x, y], (extents[0],), y, power / power.sum(axis=1, keepdims=True), 1e-6)


def layer_norm(rng: np.random.Generator, extents: tuple[int, ...]) -> Run:
    """Each row, less its mean, by its deviation."""
    cols = extents[1]
    x, y = matrix(rng, extents, np.float16, 8), blank(extents, np.float16, 8)
    weight, bias = matrix(rng, (cols,), np.float16, 8), matrix(rng, (cols,), np.float16, 8)
    wide = x.astype(np.float64)
    normal = (wide - wide.mean(1, keepdims=True)) / np.sqrt(wide.var(1, keepdims=True) + 1e-5)
    expected = normal * weight.astype(np.float64) + bias.astype(np.float64)
    arguments = [x, weight, bias, y, np.float32(1e-5)]
    return Run(arguments, (extents[0],), y, expected, 2e-3)


def attention(width: int, *, causal: bool) -> Callable[[np.random.Generator, tuple[int, ...]], Run]:
    """Runs of attention with such a head."""

    def run(rng: np.random.Generator, extents: tuple[int, ...]) -> Run:
        heads, queries, keys = extents
        q, k, v = (
            rng.standard_normal((heads, n, width)).astype(np.float16) for n in (queries, keys, keys)
        )
        o = np.full_like(q, FILLING)
        scores = q.astype(np.float64) @ k.astype(np.float64).transpose(0, 2, 1) / np.sqrt(width)
        if causal:
            later = np.arange(keys) > np.arange(queries)[:, None]
            scores[:, later] = -np.inf
        power = np.exp(scores - scores.max(axis=-1, keepdims=True))
        expected = power @ v.astype(np.float64) / power.sum(axis=-1, keepdims=True)
        scale = np.float32(np.log2(np.e) / np.sqrt(width))
        return Run([q, k, v, o, scale], (tiles(queries, 128), heads), o, expected, 2e-3)

    return run


def conv(rng: np.random.Generator, extents: tuple[int, ...]) -> Run:
    """A convolution with a filter of three by three and such padding."""
    n, h, w, c, k, pad = extents
    r = s = 3
    image = matrix(rng, (n, h, w, c), np.float16, 8)
    weights = matrix(rng, (r, s, c, k), np.float16, 8)
    p, q = h + 2 * pad - r + 1, w + 2 * pad - s + 1
    out = blank((n, p, q, k), np.float32, 4)
    around = ((0, 0), (pad, pad), (pad, pad), (0, 0))
    padded = np.pad(image.astype(np.float64), around)
    taps = np.lib.stride_tricks.sliding_window_view(padded, (r, s), axis=(1, 2))
    expected = np.einsum("npqcrs,rsck->npqk", taps, weights.astype(np.float64))
    arguments = [image, weights, out, np.int64(pad)]
    return Run(arguments, (tiles(k, 64), tiles(q, 64), n * p), out, expected, 1e-5)


GEMMS = ((128, 128, 64), (200, 77, 130), (1, 1, 1), (131, 3, 257))
"""M, N and K: one tile, ragged, one element, primes."""
ALL = ("sm_75", "sm_80", "sm_89", "sm_90", "sm_120")
AMPERE = ALL[1:]
ADA = ALL[2:]

KERNELS = (
    Kernel("gemm", "gemm", gemm(np.float16, np.float32), GEMMS, ALL),
    Kernel("gemm_types", "gemm_bf16", gemm(ml_dtypes.bfloat16, np.float32), GEMMS[1:], AMPERE),
    Kernel(
        "gemm_types", "gemm_tf32", gemm(np.float32, np.float32, tolerance=2e-3), GEMMS[1:], AMPERE
    ),
    Kernel(
        "gemm_types",
        "gemm_f64",
        gemm(np.float64, np.float64, 64, tolerance=1e-14),
        GEMMS[1:],
        AMPERE,
    ),
    Kernel(
        "gemm_fp8",
        "gemm_fp8",
        gemm(E4M3, np.float32, transposed=True, tolerance=1e-3),
        GEMMS[1:],
        ADA,
    ),
    Kernel(
        "gemm_int8",
        "gemm_int8",
        gemm(np.int8, np.int32, transposed=True, tolerance=0),
        GEMMS[1:],
        ALL,
    ),
    Kernel("gemm_int4", "gemm_int4", int4, ((64, 128, 64), (70, 131, 130), (1, 1, 2)), ALL),
    Kernel("fused_gemm", "fused_gemm", fused, ((200, 72, 130), (1, 8, 1), (131, 136, 257)), ALL),
    Kernel("batched_gemm", "batched_gemm", batched, ((2, 64, 64, 64), (3, 70, 5, 100)), ALL),
    Kernel("split_k_gemm", "split_k_gemm", split_k, ((128, 128, 384), (130, 77, 300)), ALL),
    Kernel(
        "sparse_gemm",
        "sparse_gemm",
        sparse_gemm,
        ((128, 128, 64), (130, 77, 136), (1, 1, 8)),
        AMPERE,
    ),
    Kernel(
        "scaled_gemm",
        "scaled_gemm",
        scaled_gemm,
        ((128, 128, 256), (130, 77, 288), (1, 1, 32)),
        ("sm_120a",),
    ),
    Kernel("softmax", "softmax", softmax, ((3, 1000), (2, 1024), (1, 1), (2, 77)), ALL),
    Kernel("layer_norm", "layer_norm", layer_norm, ((3, 1000), (1, 8), (2, 2500)), ALL),
    Kernel(
        "attention",
        "attention",
        attention(64, causal=False),
        ((2, 128, 192), (1, 130, 77), (1, 1, 1)),
        ALL,
    ),
    Kernel(
        "attention",
        "attention_causal",
        attention(64, causal=True),
        ((1, 256, 256), (2, 130, 131), (1, 1, 1)),
        ALL,
    ),
    Kernel(
        "attention_128",
        "attention_128",
        attention(128, causal=False),
        ((1, 128, 128), (1, 130, 77)),
        ALL,
    ),
    Kernel(
        "attention_128", "attention_causal_128", attention(128, causal=True), ((1, 131, 131),), ALL
    ),
    Kernel("linalg_gemm", "linalg_gemm", gemm(np.float16, np.float32), GEMMS, ALL[:2]),
    Kernel("vector_gemm", "vector_gemm", biased, GEMMS[1:], ALL),
    Kernel("conv", "conv", conv, ((1, 5, 9, 64, 64, 1), (2, 4, 70, 24, 40, 0)), ALL),
)

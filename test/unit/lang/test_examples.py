"""The examples agree with numpy over ragged and regular shapes, on the simulator."""

import importlib.util
import math
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
import tilec.lang as tl
from tilec.runtime import compress, pack, prune

FOLDER = Path(__file__).parents[3] / "examples" / "kernels"
RANDOM = np.random.default_rng(0)
SIZES = [(1, 1, 1), (128, 128, 64), (131, 61, 67), (64, 150, 0), (37, 128, 128)]


def example(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def normal(*shape: int, dtype: type = np.float32) -> np.ndarray:
    return RANDOM.standard_normal(shape).astype(dtype)


@pytest.mark.parametrize("n", [1, 1024, 2999])
def test_vector_add(n: int) -> None:
    x, y, z = normal(n), normal(n), np.empty(n, np.float32)
    example("vector_add").add[tl.cdiv(n, 1024)](x, y, z)
    np.testing.assert_array_equal(z, x + y)


@pytest.mark.parametrize(("rows", "cols"), [(3, 1), (2, 64), (5, 781)])
def test_softmax(rows: int, cols: int) -> None:
    x, y = normal(rows, cols), np.empty((rows, cols), np.float32)
    block = 1 << max(5, (cols - 1).bit_length())
    example("softmax").softmax[rows](x, y, BLOCK=block)
    powers = np.exp(x - x.max(axis=1, keepdims=True))
    np.testing.assert_allclose(y, powers / powers.sum(axis=1, keepdims=True), rtol=1e-5)


@pytest.mark.parametrize(("m", "n", "k"), SIZES)
def test_gemm(m: int, n: int, k: int) -> None:
    a, b = normal(m, k, dtype=np.float16), normal(k, n, dtype=np.float16)
    c = np.empty((m, n), np.float32)
    example("gemm").gemm[tl.cdiv(n, 128), tl.cdiv(m, 128)](a, b, c)
    expected = a.astype(np.float64) @ b.astype(np.float64)
    np.testing.assert_allclose(c, expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(("m", "n", "k"), SIZES)
@pytest.mark.parametrize("activation", [0, 1])
def test_fused_gemm(m: int, n: int, k: int, activation: int) -> None:
    a, b = normal(m, k, dtype=np.float16), normal(k, n, dtype=np.float16)
    bias, d = normal(n), np.empty((m, n), np.float16)
    grid = tl.cdiv(m, 128) * tl.cdiv(n, 128)
    example("fused_gemm").fused_gemm[grid](a, b, bias, d, ACTIVATION=activation)
    x = a.astype(np.float64) @ b.astype(np.float64) + bias
    gelu = 0.5 * x * (1 + np.tanh(0.7978845608 * (x + 0.044715 * x**3)))
    np.testing.assert_allclose(d, gelu if activation else np.maximum(x, 0), rtol=2e-3, atol=2e-3)


@pytest.mark.parametrize(("m", "n", "k"), [(1, 1, 8), (128, 128, 64), (131, 61, 136), (64, 9, 16)])
def test_sparse_gemm(m: int, n: int, k: int) -> None:
    module = example("sparse_gemm")
    a = prune(module.FORM, normal(m, k, dtype=np.float16))
    b, c = normal(k, n, dtype=np.float16), np.empty((m, n), np.float32)
    stored, codes = compress(module.FORM, a)
    module.sparse_gemm[tl.cdiv(n, 128), tl.cdiv(m, 128)](stored, pack(codes, "b4"), b, c)
    expected = a.astype(np.float64) @ b.astype(np.float64)
    np.testing.assert_allclose(c, expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(("rows", "cols"), [(2, 3), (3, 512), (2, 1151)])
def test_layer_norm(rows: int, cols: int) -> None:
    x, weight, bias = normal(rows, cols), normal(cols), normal(cols)
    y = np.empty_like(x)
    example("layer_norm").layer_norm[rows](x, weight, bias, y, 1e-5, BLOCK=512)
    wide = x.astype(np.float64)
    centred = wide - wide.mean(axis=1, keepdims=True)
    expected = centred / np.sqrt(wide.var(axis=1, keepdims=True) + 1e-5) * weight + bias
    np.testing.assert_allclose(y, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(("heads", "n"), [(2, 128), (1, 1), (1, 197)])
def test_attention(heads: int, n: int, causal: bool) -> None:
    q, k, v = (normal(heads, n, 64, dtype=np.float16) for _ in range(3))
    o = np.empty_like(q)
    attention = example("attention").attention
    attention[tl.cdiv(n, 128), heads](q, k, v, o, 1 / math.sqrt(64), CAUSAL=causal)
    scores = q.astype(np.float64) @ k.astype(np.float64).swapaxes(1, 2) / math.sqrt(64)
    if causal:
        scores = np.where(np.tri(n, dtype=bool), scores, -np.inf)
    powers = np.exp(scores - scores.max(axis=2, keepdims=True))
    expected = powers / powers.sum(axis=2, keepdims=True) @ v.astype(np.float64)
    np.testing.assert_allclose(o, expected, atol=2e-3)


def test_every_example_is_tested() -> None:
    text = Path(__file__).read_text(encoding="utf-8")
    for file in FOLDER.glob("*.py"):
        assert f'example("{file.stem}")' in text

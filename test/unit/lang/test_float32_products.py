"""Products of float32 by instructions on tfloat32: how exact they are, and what is refused."""

from typing import Any

import numpy as np
import pytest
import tilec
import tilec.lang as tl

Matrix = tl.Array[tl.float32, int, int]
TARGETS = ["sm_80", "sm_90a", "sm_120a"]


@tilec.kernel
def gemm(a: Matrix, b: Matrix, c: Matrix, precision: tl.Constant[Any]) -> None:
    acc = tl.zeros((32, 32))
    for k in range(0, a.shape[1], 32):
        left, right = tl.load(a, (0, k), (32, 32)), tl.load(b, (k, 0), (32, 32))
        acc = tl.dot(left, right, acc, precision=precision)
    tl.store(c, (0, 0), acc)


def product(a: Any, b: Any, precision: Any, target: str = "sm_80") -> Any:
    c = np.empty((a.shape[0], b.shape[1]), np.float32)
    report = gemm.using(target=target)[1](a, b, c, precision)
    assert report is not None
    assert not report.findings
    return c


def errors(a: Any, b: Any, c: Any) -> float:
    """The largest error, by what the sums would be if all terms had one sign."""
    wide = a.astype(np.float64), b.astype(np.float64)
    found: float = (np.abs(c - wide[0] @ wide[1]) / (np.abs(wide[0]) @ np.abs(wide[1]))).max()
    return found


@pytest.mark.parametrize("target", TARGETS)
def test_three_products_are_as_exact_as_float32(target: str) -> None:
    """To some units of its last place, where one product keeps 10 bits."""
    a, b = np.random.default_rng(0).standard_normal((2, 32, 32)).astype(np.float32)
    assert errors(a, b, product(a, b, "tf32x3", target)) < 8 * 2.0**-24
    assert 2.0**-15 < errors(a, b, product(a, b, "tf32", target)) < 2.0**-10


def test_factors_of_any_size() -> None:
    random = np.random.default_rng(1)
    for low, high in ((-30, 30), (-60, -20), (20, 60)):
        a = random.standard_normal((32, 32)) * 2.0 ** random.integers(low, high, (32, 1))
        b = random.standard_normal((32, 32)) * 2.0 ** random.integers(low, high, (1, 32))
        a, b = a.astype(np.float32), b.astype(np.float32)
        assert errors(a, b, product(a, b, "tf32x3")) < 8 * 2.0**-24


@pytest.mark.parametrize("factor", [2.0**128 - 3 * 2.0**115, 2.0**-113 * (1 + 2.0**-11)])
def test_the_ends_of_the_range(factor: float) -> None:
    """The largest factor with enough bits for the last to tell, and one of the least."""
    a, b = np.zeros((2, 32, 32), np.float32)
    a[3, 4], b[4, 5] = factor, 1.0
    c = product(a, b, "tf32x3")
    assert abs(c[3, 5] / factor - 1) < 8 * 2.0**-24
    assert np.count_nonzero(c) == 1


def test_what_tfloat32_holds_is_exact() -> None:
    a, b = np.random.default_rng(2).integers(-9, 10, (2, 32, 64)).astype(np.float32)
    np.testing.assert_array_equal(product(a, b.T.copy(), "tf32x3"), a @ b.T)


@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan])
def test_infinities_are_as_of_numpy(value: float) -> None:
    """Not NaN, for what a rest of 0 or of another sign makes of them."""
    a, b = np.random.default_rng(3).standard_normal((2, 32, 32)).astype(np.float32)
    a[3, 4], b[7, 9] = value, value
    a[8, :] = 1.0
    expected = a @ b
    special = ~np.isfinite(expected)
    found = product(a, b, "tf32x3")
    np.testing.assert_array_equal(found[special], expected[special])
    np.testing.assert_allclose(found[~special], expected[~special], rtol=1e-4, atol=1e-5)


Stack = tl.Array[tl.float32, int, int, int]


@pytest.mark.parametrize("precision", ["tf32x3", "tf32"])
def test_batches(precision: str) -> None:
    @tilec.kernel
    def batched(a: Stack, c: Stack, how: tl.Constant[Any]) -> None:
        held = tl.load(a, (0, 0, 0), (2, 16, 16))
        tl.store(c, (0, 0, 0), tl.dot(held, held, precision=how))

    a = np.random.default_rng(4).standard_normal((2, 16, 16)).astype(np.float32)
    c = np.empty_like(a)
    batched[1](a, c, precision)
    for one, found in zip(a, c, strict=True):
        assert errors(one, one, found) < (8 * 2.0**-24 if precision == "tf32x3" else 2.0**-10)


def test_parts_of_tiles_of_tfloat32() -> None:
    @tilec.kernel
    def parts(x: Matrix, y: Matrix) -> None:
        held = tl.load(x, (0, 0), (4, 32), dtype=tl.tfloat32)
        tl.store(y, (0, 0), held[1:2].astype(tl.float32))
        tl.store(y, (1, 0), held[3][None, :].astype(tl.float32))

    x = np.arange(128, dtype=np.float32).reshape(4, 32)
    y = np.empty((2, 32), np.float32)
    parts[1](x, y)
    np.testing.assert_array_equal(y, x[[1, 3]])


@pytest.mark.parametrize(
    ("element", "precision", "message"),
    [
        (tl.float32, "tf32x4", "precision of a product is 'tf32' or 'tf32x3', not 'tf32x4'"),
        (tl.float32, 3, "precision of a product is 'tf32' or 'tf32x3', not 3"),
        (tl.float16, "tf32x3", "precision says how float32 is multiplied; a is .*float16"),
        (tl.tfloat32, "tf32", "precision says how float32 is multiplied; a is .*tfloat32"),
        (tl.float32, None, "no instruction multiplies float32: precision='tf32x3'"),
    ],
)
def test_what_is_wrong_is_said(element: Any, precision: Any, message: str) -> None:
    @tilec.kernel
    def wrong(x: tl.Array[tl.float32, int, int]) -> None:
        held = tl.load(x, (0, 0), (16, 16)).astype(element)
        tl.dot(held, held, precision=precision)

    with pytest.raises(tl.KernelError, match=message):
        wrong.compile()


def test_a_target_without_the_instruction() -> None:
    with pytest.raises(tl.KernelError, match="no instruction of sm_75 multiplies tf32"):
        gemm.compile(target="sm_75", precision="tf32x3")

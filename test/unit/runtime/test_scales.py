"""Block scaling against the MX and NVFP4 formulas, block by block."""

from __future__ import annotations

import math

import ml_dtypes
import numpy as np
import pytest
from tilec.isa import Mma, TilecError, form
from tilec.runtime import block_of, dequantize, quantize

LARGEST = {"e4m3": 448.0, "e5m2": 57344.0, "e3m2": 28.0, "e2m3": 7.5, "e2m1": 6.0}
NARROW = {
    "e4m3": ml_dtypes.float8_e4m3fn,
    "e5m2": ml_dtypes.float8_e5m2,
    "e3m2": ml_dtypes.float6_e3m2fn,
    "e2m3": ml_dtypes.float6_e2m3fn,
    "e2m1": ml_dtypes.float4_e2m1fn,
}


@pytest.mark.parametrize("element", LARGEST)
def test_mx(element) -> None:
    rng = np.random.default_rng(0)
    spread = np.exp2(rng.integers(-20, 20, (4, 1, 1)))
    matrix = (rng.standard_normal((4, 3, 32)) * spread).reshape(4, 96).astype(np.float32)
    matrix[1, 32:64] = 0
    found = quantize(matrix, element, "ue8m0", 32)
    assert found.factor == 1
    for row in range(4):
        for block in range(3):
            part = matrix[row, 32 * block : 32 * block + 32].astype(np.float64)
            largest = float(np.abs(part).max())
            shared = -127.0
            if largest:
                shared = math.floor(math.log2(largest)) - math.floor(math.log2(LARGEST[element]))
            assert float(found.scales[row, block]) == 2.0**shared
            want = np.clip(part / 2.0**shared, -LARGEST[element], LARGEST[element])
            mine = found.elements[row, 32 * block : 32 * block + 32]
            assert (mine == want.astype(np.float32).astype(NARROW[element])).all()


def test_nvfp4() -> None:
    rng = np.random.default_rng(1)
    matrix = rng.standard_normal((4, 64)) * np.exp2(rng.integers(-5, 5, (4, 1)))
    found = quantize(matrix, "e2m1", "ue4m3", 16)
    assert found.factor == np.abs(matrix).max() / (448 * 6)
    blocks = np.abs(matrix.reshape(4, 4, 16)).max(axis=-1)
    want = (blocks / 6 / found.factor).astype(np.float32).astype(ml_dtypes.float8_e4m3fn)
    assert (found.scales == want).all()
    assert float(found.scales.astype(np.float32).max()) == 448
    error = np.abs(dequantize(found) - matrix).reshape(4, 4, 16).max(axis=-1)
    # half of the widest gap of e2m1 (4 to 6), and 2^-4 of the scale factor's own rounding
    assert (error <= blocks * (1 / 6 + 1 / 16)).all()


@pytest.mark.parametrize(("element", "scale"), [("e4m3", "ue8m0"), ("e2m1", "ue4m3")])
def test_what_fits_comes_back(element, scale) -> None:
    rng = np.random.default_rng(2)
    codes = rng.standard_normal((5, 64)).astype(NARROW[element]).astype(np.float64)
    codes[:, ::16] = LARGEST[element]
    matrix = codes * np.exp2(rng.integers(-3, 3, (5, 1)))
    found = quantize(matrix, element, scale, 16, factor=1.0)
    assert (dequantize(found) == matrix).all()


def test_zeros_and_refusals() -> None:
    for scale in ("ue8m0", "ue4m3"):
        found = quantize(np.zeros((2, 32)), "e2m1", scale, 32)
        assert (dequantize(found) == 0).all()
    matrix = np.ones((3, 32))
    matrix[2, 7] = np.inf
    with pytest.raises(TilecError, match="row 2, column 7: inf cannot be scaled"):
        quantize(matrix, "e4m3", "ue8m0", 32)
    with pytest.raises(TilecError, match="rows of 32 elements are not whole blocks of 24"):
        quantize(np.ones((3, 32)), "e4m3", "ue8m0", 24)


def test_block_of_a_form() -> None:
    scaled = form(
        "mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X"
        ".f32.e2m1.e2m1.f32.ue4m3"
    )
    plain = form("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32")
    assert isinstance(scaled, Mma)
    assert isinstance(plain, Mma)
    assert block_of(scaled) == 16
    with pytest.raises(TilecError, match="is not block-scaled"):
        block_of(plain)

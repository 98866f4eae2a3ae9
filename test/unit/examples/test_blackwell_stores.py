"""Sums of 16 bits leave tensor memory through registers and shared memory by TMA."""

from __future__ import annotations

import re

import numpy as np
import pytest
import tilec

from .blackwell_programs import Gemm

slow = pytest.mark.slow
PROMISE = "llvm.noalias, tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>"


def text(cols, warps, sizes="1, 8"):
    """A product of 128 rows whose sums are stored as halves."""
    made = Gemm("f16", (128, cols, 64), warps).text()
    for old, new in (
        ("!R = memref<?x?xf32", f"!H = tensor<128x{cols}xf16>\n!R = memref<?x?xf16"),
        ("llvm.noalias", f"{PROMISE}, tile.sizes = array<i64: {sizes}>"),
        ("    tile.store %product", "    %half = arith.truncf %product : !C to !H\n"
         "    tile.store %half"),
        ("!C, !R", "!H, !R"),
    ):  # fmt: skip
        assert made.count(old) == 1
        made = made.replace(old, new)
    return made


def run(program, cols, extents):
    """Against numpy; what lies between rows stays as it is. The report."""
    m, n, k = extents
    rng = np.random.default_rng(list(extents))
    arrays = []
    for rows, width in ((m, k), (k, n), (m, n)):
        memory = np.full((rows, -(-width // 8) * 8 + 8), 7, np.float16)
        memory[:, :width] = rng.integers(-3, 4, (rows, width))
        arrays.append(memory)
    a, b, c = (one[:, :width] for one, width in zip(arrays, (k, n, n), strict=True))
    wanted = a.astype(int) @ b.astype(int)
    found = program.launch(a, b, c, k, grid=(-(-n // cols), -(-m // 128)), device="sim")
    np.testing.assert_array_equal(c.astype(int), wanted)
    assert (arrays[2][:, n:] == 7).all()
    return found


@pytest.mark.parametrize(
    ("cols", "warps"),
    [(128, 8), *(pytest.param(*one, marks=slow) for one in ((64, 4), (256, 8), (256, 16)))],
)  # fmt: skip
def test_stores_by_tma(cols, warps):
    """Panels as wide as a swizzle's line, filled 16 bytes at a time without conflicts."""
    program = tilec.compile(text(cols, warps))
    assert re.search(r"cp\.async\.bulk\.tensor\.2d\.(tile\.)?global", program.ptx)
    assert "st.shared.v4" in program.ptx
    assert not re.search(r"st\.global", program.ptx)
    found = run(program, cols, (200, 200, 70))
    assert found.conflicts == 0


@slow
def test_rows_that_end_within_16_bytes():
    """They are stored by threads, and a remark says why."""
    program = tilec.compile(text(128, 8, "1, 4"))
    said = [str(one) for one in program.remarks if "not stored by boxes" in str(one)]
    assert len(said) == 1
    assert "rows are not known to be multiples of 16 bytes long" in said[0]
    assert "st.global" in program.ptx
    run(program, 128, (130, 100, 70))

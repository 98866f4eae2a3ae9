"""`tile.fill` puts a number's own code into every register, whatever the element type.

Against ml_dtypes; the number is taken so that a wrong place or width of its bits shows.
"""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
import tilec
from tilec.dialects.tile import builders as tile
from tilec.ir.mlir import dialect, ir
from tilec.sim import launch

LAYOUT = "register [0,1] [0,2] [0,4]; lane [0,8] [0,16] [1,0] [2,0] [4,0] -> row 8, col 32"
CASES: dict[str, tuple[float, str, Any]] = {
    "f64": (-1.1, "f64", np.float64),
    "f32": (-1.1, "f32", np.float32),
    "tf32": (-1.5, "f32", np.float32),
    "f16": (-1.1, "f16", np.float16),
    "bf16": (-1.1, "bf16", ml_dtypes.bfloat16),
    "f8E4M3FN": (-1.5, "i8", ml_dtypes.float8_e4m3fn),
    "f8E5M2": (-1.5, "i8", ml_dtypes.float8_e5m2),
    "f8E8M0FNU": (4.0, "i8", ml_dtypes.float8_e8m0fnu),
    "f4E2M1FN": (-1.5, "i8", ml_dtypes.float4_e2m1fn),
    "i32": (-7, "i32", np.int32),
    "i8": (-7, "i8", np.int8),
    "i4": (-7, "i8", ml_dtypes.int4),
}


@pytest.mark.parametrize("element", CASES)
def test_constants(element: str) -> None:
    number, memory, numpy = CASES[element]
    packed = element in ("i4", "f4E2M1FN")
    cols = 16 if packed else 32
    with (
        tile.module("m", target="sm_80") as module,
        tile.kernel("k", {"q": f"memref<8x{cols}x{memory}>"}, block=32) as (q,),
    ):
        filled = tile.fill(number, tile.frag_type((8, 32), element, LAYOUT))
        tile.store(filled, q, 0, 0)
    size = np.dtype(numpy).itemsize
    code = np.array([number]).astype(numpy).view(f"u{size}")[0]
    wanted = (code & 0xF) * 0x11 if packed else code
    got = np.zeros((8, cols), f"u{size}")
    launch(tilec.compile(module).ptx, "k", 1, 32, [got])
    assert (got == wanted).all()


def test_a_tf32_that_is_no_constant() -> None:
    arguments = {"x": "f32", "q": "memref<8x32xf32>"}
    with tile.module("m") as module, tile.kernel("k", arguments, block=32) as (x, q):
        scalar = dialect("arith").truncf(ir.Type.parse("tf32"), x)
        tile.store(tile.fill(scalar, tile.frag_type((8, 32), "tf32", LAYOUT)), q, 0, 0)
    with pytest.raises(tilec.TilecError, match="fill with f32 and cast"):
        tilec.compile(module)

"""Results leave in whole sectors, by as few instructions as the algebra says, without conflicts.

The simulator counts instructions, sectors and conflicts; numpy has the values.
"""

from __future__ import annotations

import numpy as np
import pytest

C = (
    "register [0,1] [8,0] [0,8] [0,16] [0,32] [16,0]; lane [0,2] [0,4] [1,0] [2,0] [4,0]; "
    "warp [32,0] [64,0] [0,64] -> row 128, col 128"
)
PROGRAM = f"""
!T = tensor<128x128xf16, #tile.layout<"{C}">>
!G = memref<?x?xf16, strided<[?, 1]>>
gpu.module @m [#nvvm.target<chip = "sm_80">] {{
  gpu.func @copy(%a: !G, %b: !G)
      kernel attributes {{tile.automatic, known_block_size = array<i32: 256, 1, 1>}} {{
    %z = arith.constant 0 : index
    %t = "tile.load"(%a, %z, %z) {{masked}} : (!G, index, index) -> !T
    "tile.store"(%t, %b, %z, %z) {{masked ATTRIBUTES}} : (!T, !G, index, index) -> ()
    gpu.return
  }}
}}
"""


@pytest.mark.parametrize(
    ("attributes", "transposed", "shape", "stores"),
    [
        (", vector = 8", False, (128, 128), 8),
        (", vector = 8", False, (100, 64), 8),
        ("", False, (77, 99), 64),
        (", vector = 8, transposed", True, (104, 128), 64),  # the way there costs more
    ],
)
def test_stores(compiled, run, padded, rng, attributes, transposed, shape, stores) -> None:
    a = padded(rng, *shape, np.float16)
    b = padded(rng, *(shape[::-1] if transposed else shape), np.float16)
    b[...] = np.nan
    text = PROGRAM.replace("ATTRIBUTES", attributes)
    report = run(text, "copy", (1, 1), [a, b])
    np.testing.assert_array_equal(b.T if transposed else b, a)
    assert report.conflicts == 0
    assert compiled(text, "sm_80").ptx.count("st.global") == stores


def test_whole_sectors(run, padded, rng) -> None:
    a, b = padded(rng, 128, 128, np.float16), padded(rng, 128, 128, np.float16)
    report = run(PROGRAM.replace("ATTRIBUTES", ", vector = 8"), "copy", (1, 1), [a, b])
    stored = [line for line in report.lines if "st.global" in line.instruction]
    assert sum(line.sectors for line in stored) == b.nbytes // 32

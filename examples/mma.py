"""The program of mma.mlir, built from Python: one warp, one instruction.

Run as a program it prints the PTX, for the target given as an argument.
"""

import sys
from typing import Any

import tilec
from tilec.dialects.tile import builders as tile

FORM = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"


def mma() -> Any:
    """The module."""
    memory = {
        "a": "memref<16x16xf16>",
        "b": "memref<8x16xf16>",
        "c": "memref<16x8xf32>",
        "d": "memref<16x8xf32>",
    }
    with (
        tile.module("mma", target="sm_80") as module,
        tile.kernel("mma", memory, block=32) as (a, b, c, d),
    ):
        fragments = {name: tile.operand_fragment(FORM, name) for name in "abc"}
        fa = tile.load(a, 0, 0, type=fragments["a"], vector=2)
        fb = tile.load(b, 0, 0, type=fragments["b"], vector=2, transposed=True)
        fc = tile.load(c, 0, 0, type=fragments["c"], vector=2)
        tile.store(tile.mma(FORM, fa, fb, fc), d, 0, 0, vector=2)
    return module


if __name__ == "__main__":
    print(tilec.compile(mma(), target=sys.argv[1] if len(sys.argv) > 1 else None).ptx)

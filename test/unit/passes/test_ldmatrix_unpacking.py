"""`ldmatrix` that unpacks: bytes as the type of the fragment has them, on the simulator.

16 elements of 4 or 6 bits stand at the start of each 16 bytes; the test packs them itself. Were a
4-bit float left where the instruction puts it, it would be four times too small.
"""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
import tilec
from tilec.sim import launch

PROGRAM = """
#L = #tile.layout<"register [0,1] [0,2]; lane [0,4] [0,8] [1,0] [2,0] [4,0] -> row 8, col 16">
!I = !tile.frag<tensor<8x16xi8>, #L>
!T = !tile.frag<tensor<8x16x{element}>, #L>
!F = !tile.frag<tensor<8x16xf32>, #L>
!S = memref<8x16xi8, #tile.shared<"none">>
gpu.module @m [#nvvm.target<chip = "sm_120a">] {{
  gpu.func @k(%p: memref<8x16xi8>, %q: memref<8x16xi8>, %r: memref<8x16xf32>)
      kernel attributes {{known_block_size = array<i32: 32, 1, 1>}} {{
    %z = arith.constant 0 : index
    %s = "tile.alloc_shared"() : () -> !S
    %i = "tile.load"(%p, %z, %z) : (memref<8x16xi8>, index, index) -> !I
    "tile.store"(%i, %s, %z, %z) : (!I, !S, index, index) -> ()
    gpu.barrier
    %t = "tile.ldmatrix"(%s, %z, %z) {{form = "{form}"}} : (!S, index, index) -> !T
    "tile.store"(%t, %q, %z, %z) : (!T, memref<8x16xi8>, index, index) -> ()
    {widen}
    gpu.return
  }}
}}
"""
WIDEN = """%f = "tile.cast"(%t) {fn = "arith.extf"} : (!T) -> !F
    "tile.store"(%f, %r, %z, %z) : (!F, memref<8x16xf32>, index, index) -> ()"""


def run(element: str, form: str, packed: Any, *, widen: bool) -> tuple[Any, Any]:
    """The bytes of the fragment, and its numbers."""
    text = PROGRAM.format(element=element, form=form, widen=WIDEN if widen else "")
    held, numbers = np.zeros((8, 16), np.uint8), np.zeros((8, 16), np.float32)
    ptx = tilec.compile(text).ptx
    report = launch(ptx, "k", 1, 32, [packed, held, numbers], arch="sm_120a")
    assert not report.findings
    return held, numbers


def in_rows(codes: Any, bits: int) -> Any:
    """16 codes of so many bits at the start of each 16 bytes, low bits first; ones after."""
    places = codes[..., None] >> np.arange(bits, dtype=np.uint8) & 1
    behind = np.ones((8, 16 * (8 - bits)), np.uint8)
    whole = np.concatenate([places.reshape(8, -1), behind], axis=1)
    return np.packbits(whole, axis=1, bitorder="little")


@pytest.mark.parametrize(
    ("name", "numpy", "source"),
    [
        ("f4E2M1FN", ml_dtypes.float4_e2m1fn, "b4x16_p64"),
        ("f6E3M2FN", ml_dtypes.float6_e3m2fn, "b6x16_p32"),
        ("f6E2M3FN", ml_dtypes.float6_e2m3fn, "b6x16_p32"),
    ],
)
def test_floats(name: str, numpy: Any, source: str) -> None:
    bits = ml_dtypes.finfo(numpy).bits
    codes = np.random.default_rng(0).integers(0, 1 << bits, (8, 16), np.uint8)
    form = f"ldmatrix.sync.aligned.m8n16.x1.b8x16.{source}"
    element = f"!tile.byte<{name}>"
    held, numbers = run(element, form, in_rows(codes, bits), widen=True)
    assert (held == codes << (2 if bits == 4 else 0)).all()
    assert (numbers == codes.view(numpy).astype(np.float32)).all()


@pytest.mark.parametrize(("source", "bits"), [("b4x16_p64", 4), ("b6x16_p32", 6)])
def test_integers_stay_where_the_instruction_leaves_them(source: str, bits: int) -> None:
    codes = np.random.default_rng(1).integers(0, 1 << bits, (8, 16), np.uint8)
    form = f"ldmatrix.sync.aligned.m8n16.x1.b8x16.{source}"
    held, _ = run("i8", form, in_rows(codes, bits), widen=False)
    assert (held == codes).all()

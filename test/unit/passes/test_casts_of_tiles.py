"""`tile.cast` of fragments with few elements a lane, and upstream's casts of tensors.

`test_casts.py` has every number of every type in whole registers; here a lane holds one element, or
two of four bits, and a tile of two warps comes down from level 2. Each runs on the simulator,
with and without the target's `cvt`; were an element left out or taken twice, it would be seen.
"""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
import tilec
from tilec.sim import launch

TARGETS = ("sm_75", "sm_100a")
ONE = "register; lane [0,1] [0,2] [1,0] [2,0] [4,0] -> row 8, col 4"
TWO = "register [0,1]; lane [0,2] [0,4] [1,0] [2,0] [4,0] -> row 8, col 8"

PROGRAM = """
#L = #tile.layout<"{layout}">
gpu.module @m {{
  gpu.func @k(%p: memref<{rows}x{given}xi8>, %q: memref<{rows}x{cols}xf32>,
              %r: memref<{rows}x{given}xi8>)
      kernel attributes {{known_block_size = array<i32: {threads}, 1, 1>}} {{
    %c0 = arith.constant 0 : index
    %s = "tile.load"(%p, %c0, %c0) : (memref<{rows}x{given}xi8>, index, index) -> {source}
    %e = {widen}
    "tile.store"(%e, %q, %c0, %c0) : ({result}, memref<{rows}x{cols}xf32>, index, index) -> ()
    %t = {narrow}
    "tile.store"(%t, %r, %c0, %c0) : ({source}, memref<{rows}x{given}xi8>, index, index) -> ()
    gpu.return
  }}
}}
"""


def both_ways(program: str, target: str, sent: Any, shape: tuple[int, int]) -> tuple[Any, Any]:
    """What f32 the elements are, and what becomes of those."""
    wide, back = np.zeros(shape, np.float32), np.zeros_like(sent)
    ptx = tilec.compile(program, target=target).ptx
    threads = 64 if "warp" in program else 32
    report = launch(ptx, "k", 1, threads, [sent, wide, back], arch=target)
    assert not report.findings
    return wide, back


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    ("element", "numpy", "layout"),
    [
        ("f8E4M3FN", ml_dtypes.float8_e4m3fn, ONE),
        ("!tile.byte<f6E3M2FN>", ml_dtypes.float6_e3m2fn, ONE),
        ("!tile.byte<f4E2M1FN>", ml_dtypes.float4_e2m1fn, ONE),
        ("f8E5M2", ml_dtypes.float8_e5m2, TWO),
        ("f4E2M1FN", ml_dtypes.float4_e2m1fn, TWO),
    ],
)
def test_few_elements(element: str, numpy: Any, layout: str, target: str) -> None:
    cols = 4 if layout == ONE else 8
    codes = np.arange(8 * cols, dtype=np.uint8).reshape(8, cols) & ((1 << numpy_bits(numpy)) - 1)
    packed = element == "f4E2M1FN"
    sent = codes << (2 if "f4" in element and not packed else 0)
    if packed:
        sent = codes[:, 0::2] | codes[:, 1::2] << 4
    source, result = (f"!tile.frag<tensor<8x{cols}x{e}>, #L>" for e in (element, "f32"))
    program = PROGRAM.format(
        layout=layout,
        rows=8,
        cols=cols,
        given=sent.shape[1],
        threads=32,
        source=source,
        result=result,
        widen=f'"tile.cast"(%s) {{fn = "arith.extf"}} : ({source}) -> {result}',
        narrow=f'"tile.cast"(%e) {{fn = "arith.truncf"}} : ({result}) -> {source}',
    )
    wide, back = both_ways(program, target, sent, (8, cols))
    assert (wide == codes.view(numpy).astype(np.float32)).all()
    assert (back == sent).all()


def numpy_bits(numpy: Any) -> int:
    return int(ml_dtypes.finfo(numpy).bits)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    ("element", "numpy"),
    [
        ("f8E4M3FN", ml_dtypes.float8_e4m3fn),
        ("f8E5M2", ml_dtypes.float8_e5m2),
        ("f4E2M1FN", ml_dtypes.float4_e2m1fn),
    ],
)
def test_tensors(element: str, numpy: Any, target: str) -> None:
    """Upstream's ops; the codes are those of finite numbers, which come back as they were."""
    packed = element == "f4E2M1FN"
    rng = np.random.default_rng(3)
    magnitudes = np.asarray(ml_dtypes.finfo(numpy).max, numpy).view(np.uint8) + 1
    codes = rng.integers(0, magnitudes, (16, 32), np.uint8)
    codes |= rng.integers(0, 2, codes.shape, np.uint8) << (numpy_bits(numpy) - 1)
    sent = codes[:, 0::2] | codes[:, 1::2] << 4 if packed else codes
    lanes = "[0,8] [0,16] [1,0] [2,0] [4,0]"
    source, result = (f"tensor<16x32x{e}, #L>" for e in (element, "f32"))
    program = PROGRAM.format(
        layout=f"register [0,1] [0,2] [0,4]; lane {lanes}; warp [8,0] -> row 16, col 32",
        rows=16,
        cols=32,
        given=sent.shape[1],
        threads=64,
        source=source,
        result=result,
        widen=f"arith.extf %s : {source} to {result}",
        narrow=f"arith.truncf %e : {result} to {source}",
    )
    wide, back = both_ways(program, target, sent, codes.shape)
    assert (wide == codes.view(numpy).astype(np.float32)).all()
    assert (back == sent).all()


def test_f16_to_bf16_of_tensors() -> None:
    layout = (
        "register [0,1] [0,2] [0,4]; lane [0,8] [0,16] [1,0] [2,0] [4,0]; warp -> row 8, col 32"
    )
    program = f"""
#L = #tile.layout<"{layout}">
gpu.module @m {{
  gpu.func @k(%p: memref<8x32xf16>, %q: memref<8x32xbf16>)
      kernel attributes {{known_block_size = array<i32: 32, 1, 1>}} {{
    %c0 = arith.constant 0 : index
    %s = "tile.load"(%p, %c0, %c0) : (memref<8x32xf16>, index, index) -> tensor<8x32xf16, #L>
    %b = arith.convertf %s : tensor<8x32xf16, #L> to tensor<8x32xbf16, #L>
    "tile.store"(%b, %q, %c0, %c0) : (tensor<8x32xbf16, #L>, memref<8x32xbf16>, index, index) -> ()
    gpu.return
  }}
}}
"""
    sent = np.random.default_rng(4).normal(size=(8, 32)).astype(np.float16)
    got = np.zeros((8, 32), np.uint16)
    launch(tilec.compile(program).ptx, "k", 1, 32, [sent, got])
    assert (got == sent.astype(ml_dtypes.bfloat16).view(np.uint16)).all()

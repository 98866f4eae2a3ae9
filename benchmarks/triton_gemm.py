"""Triton's side of `compile_time.py`: the GEMM of `examples/gemm.mlir`, compiled to PTX.

python triton_gemm.py once     compile and exit
python triton_gemm.py serve    compile at every line of standard input, report the time
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.backends.nvidia.compiler import CUDABackend
from triton.compiler import ASTSource


@triton.jit
def gemm(
    a_ptr, b_ptr, c_ptr, depth, a_stride, b_stride, c_stride,
    bm: tl.constexpr, bn: tl.constexpr, bk: tl.constexpr,
):  # fmt: skip
    rows = tl.program_id(1) * bm + tl.arange(0, bm)
    cols = tl.program_id(0) * bn + tl.arange(0, bn)
    inner = tl.arange(0, bk)
    a = a_ptr + rows[:, None] * a_stride + inner[None, :]
    b = b_ptr + inner[:, None] * b_stride + cols[None, :]
    total = tl.zeros((bm, bn), dtype=tl.float32)
    for _ in range(0, depth, bk):
        total = tl.dot(tl.load(a), tl.load(b), total)
        a += bk
        b += bk * b_stride
    tl.store(c_ptr + rows[:, None] * c_stride + cols[None, :], total)


class PtxReached(BaseException):
    """Carries the PTX out of Triton's compiler before it calls ptxas."""


def _stop(_self: Any, src: str, *_: Any) -> None:
    raise PtxReached(src)


def compile_gemm() -> str:
    """PTX for sm_80, 8 warps and 3 stages, as Triton specialises it for aligned arguments."""
    arguments = ["a_ptr", "b_ptr", "c_ptr", "depth", "a_stride", "b_stride", "c_stride"]
    sizes = {"bm": 128, "bn": 128, "bk": 64}
    types = ["*fp16", "*fp16", "*fp32", *["i32"] * 4]
    source = ASTSource(
        fn=gemm,
        signature={**dict(zip(arguments, types, strict=True)), **dict.fromkeys(sizes, "constexpr")},
        constexprs=sizes,
        attrs={(i,): [["tt.divisibility", 16]] for i in range(len(arguments))},
    )
    CUDABackend.make_cubin = _stop
    try:
        triton.compile(
            source,
            target=GPUTarget("cuda", 80, 32),
            options={"num_warps": 8, "num_stages": 3},
        )
    except PtxReached as reached:
        return str(reached)
    raise AssertionError("Triton made no PTX")


def main() -> None:
    if sys.argv[1:] == ["once"]:
        compile_gemm()
        return
    for _ in sys.stdin:
        start = time.perf_counter()
        ptx = compile_gemm()
        seconds = time.perf_counter() - start
        report = {"seconds": seconds, "mma": ptx.count("mma.sync"), "stages": []}
        print(json.dumps(report), flush=True)


if __name__ == "__main__":
    main()

"""Triton's side of `compile_time.py` and `kernel_stats.py`: the same kernels, compiled to PTX.

    python triton_kernels.py KERNEL once     compile and exit
    python triton_kernels.py KERNEL cached   the same to the binary, which its cache remembers
    python triton_kernels.py KERNEL serve    compile at every line of standard input, time it
    python triton_kernels.py KERNEL ptx      print the PTX

KERNEL is `gemm`, that of `examples/kernels/gemm.mlir`, or `attention`, that of
`examples/kernels/attention.mlir`, with the same tiles and warps. Arguments are specialised as
Triton does where pointers are aligned and numbers are multiples of 16.
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


@triton.jit
def attention(
    q_ptr, k_ptr, v_ptr, o_ptr, queries, keys, scale,
    bm: tl.constexpr, bn: tl.constexpr, d: tl.constexpr,
):  # fmt: skip
    rows = tl.program_id(0) * bm + tl.arange(0, bm)
    head = tl.program_id(1)
    inner = tl.arange(0, d)
    cols = tl.arange(0, bn)
    q = tl.load(
        q_ptr + (head * queries + rows[:, None]) * d + inner[None, :],
        mask=rows[:, None] < queries,
        other=0.0,
    )
    k = k_ptr + head * keys * d + cols[None, :] * d + inner[:, None]
    v = v_ptr + head * keys * d + cols[:, None] * d + inner[None, :]
    largest = tl.full((bm,), float("-inf"), dtype=tl.float32)
    total = tl.zeros((bm,), dtype=tl.float32)
    out = tl.zeros((bm, d), dtype=tl.float32)
    for first in range(0, keys, bn):
        inside = first + cols < keys
        scores = tl.dot(q, tl.load(k, mask=inside[None, :], other=0.0)) * scale
        scores = tl.where(inside[None, :], scores, float("-inf"))
        grown = tl.maximum(largest, tl.max(scores, 1))
        powers = tl.exp2(scores - grown[:, None])
        alpha = tl.exp2(largest - grown)
        total = total * alpha + tl.sum(powers, 1)
        weights = tl.load(v, mask=inside[:, None], other=0.0)
        out = tl.dot(powers.to(tl.float16), weights, out * alpha[:, None])
        largest = grown
        k += bn * d
        v += bn * d
    out = out / total[:, None]
    tl.store(
        o_ptr + (head * queries + rows[:, None]) * d + inner[None, :],
        out.to(tl.float16),
        mask=rows[:, None] < queries,
    )


KERNELS: dict[str, dict[str, Any]] = {
    "gemm": {
        "fn": gemm,
        "types": ["*fp16", "*fp16", "*fp32", *["i32"] * 4],
        "sizes": {"bm": 128, "bn": 128, "bk": 64},
        "multiples": range(7),
        "options": {"num_warps": 8, "num_stages": 3},
    },
    "attention": {
        "fn": attention,
        "types": [*["*fp16"] * 4, "i32", "i32", "fp32"],
        "sizes": {"bm": 128, "bn": 64, "d": 64},
        "multiples": range(4),
        "options": {"num_warps": 4, "num_stages": 3},
    },
}


class PtxReached(BaseException):
    """Carries the PTX out of Triton's compiler before it calls ptxas."""


def _stop(_self: Any, src: str, metadata: dict[str, Any], *_: Any) -> None:
    raise PtxReached(src, metadata["shared"])


def compile_kernel(name: str) -> tuple[str, int]:
    """PTX of a kernel for sm_80, and bytes of its dynamic shared memory."""
    CUDABackend.make_cubin = _stop
    try:
        compile_whole(name)
    except PtxReached as reached:
        ptx, shared = reached.args
        return ptx, shared
    raise AssertionError("Triton made no PTX")


def compile_whole(name: str) -> None:
    """Compile a kernel for sm_80 to the binary."""
    kernel = KERNELS[name]
    sizes = kernel["sizes"]
    arguments = [n for n in kernel["fn"].arg_names if n not in sizes]
    source = ASTSource(
        fn=kernel["fn"],
        signature={
            **dict(zip(arguments, kernel["types"], strict=True)),
            **dict.fromkeys(sizes, "constexpr"),
        },
        constexprs=sizes,
        attrs={(i,): [["tt.divisibility", 16]] for i in kernel["multiples"]},
    )
    triton.compile(source, target=GPUTarget("cuda", 80, 32), options=kernel["options"])


def main() -> None:
    name, mode = sys.argv[1:]
    if mode == "ptx":
        ptx, shared = compile_kernel(name)
        print(f"// {shared} bytes of dynamic shared memory\n{ptx}")
        return
    if mode == "once":
        compile_kernel(name)
        return
    if mode == "cached":
        compile_whole(name)
        return
    for _ in sys.stdin:
        start = time.perf_counter()
        ptx, _ = compile_kernel(name)
        seconds = time.perf_counter() - start
        report = {"seconds": seconds, "mma": ptx.count("mma.sync"), "stages": []}
        print(json.dumps(report), flush=True)


if __name__ == "__main__":
    main()

"""Triton's side of `compile_time.py` and `kernel_stats.py`: the same kernels, compiled to PTX.

    python triton_kernels.py KERNEL once     compile and exit
    python triton_kernels.py KERNEL cached   the same to the binary, which its cache remembers
    python triton_kernels.py KERNEL serve    compile at every line of standard input, time it
    python triton_kernels.py KERNEL ptx [CAPABILITY]   print the PTX, as for 100 of sm_100a

KERNEL is `gemm`, that of `examples/kernels/gemm.mlir`, or `attention`, that of
`examples/kernels/attention.mlir`, with the same tiles and warps, for sm_80. For sm_100a it is also
`scaled_gemm`, that of `examples/kernels/scaled_gemm.mlir`. For sm_90a it is
`gemm_128x256`, that of `examples/hopper/tiles.mlir`, `attention_64` and `attention_128`, of 128
keys a block, or `attention_128x64`, that of `examples/kernels/attention_128.mlir`; Triton shares
their loops out to warps that load and warps that multiply. Arguments are specialised as Triton does
where pointers are aligned and numbers are multiples of 16.
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


@triton.jit
def scaled_gemm(
    a_ptr, b_ptr, sa_ptr, sb_ptr, c_ptr, depth, a_stride, b_stride, sa_stride, sb_stride, c_stride,
    bm: tl.constexpr, bn: tl.constexpr, bk: tl.constexpr,
):  # fmt: skip
    rows = tl.program_id(1) * bm + tl.arange(0, bm)
    cols = tl.program_id(0) * bn + tl.arange(0, bn)
    inner, blocks = tl.arange(0, bk), tl.arange(0, bk // 32)
    a = a_ptr + rows[:, None] * a_stride + inner[None, :]
    b = b_ptr + inner[:, None] + cols[None, :] * b_stride
    sa = sa_ptr + rows[:, None] * sa_stride + blocks[None, :]
    sb = sb_ptr + cols[:, None] * sb_stride + blocks[None, :]
    total = tl.zeros((bm, bn), dtype=tl.float32)
    for _ in range(0, depth, bk):
        x, y = tl.load(a), tl.load(b)
        total = tl.dot_scaled(x, tl.load(sa), "e4m3", y, tl.load(sb), "e4m3", total)
        a += bk
        b += bk
        sa += bk // 32
        sb += bk // 32
    tl.store(c_ptr + rows[:, None] * c_stride + cols[None, :], total)


@triton.jit
def gemm_of_roles(
    a_ptr, b_ptr, c_ptr, m, n, depth,
    bm: tl.constexpr, bn: tl.constexpr, bk: tl.constexpr,
):  # fmt: skip
    a = tl.make_tensor_descriptor(a_ptr, [m, depth], [depth, 1], [bm, bk])
    b = tl.make_tensor_descriptor(b_ptr, [n, depth], [depth, 1], [bn, bk])
    c = tl.make_tensor_descriptor(c_ptr, [m, n], [n, 1], [bm, bn])
    row, col = tl.program_id(1) * bm, tl.program_id(0) * bn
    total = tl.zeros((bm, bn), dtype=tl.float32)
    for k in tl.range(0, tl.cdiv(depth, bk), warp_specialize=True):
        total = tl.dot(a.load([row, k * bk]), b.load([col, k * bk]).T, total)
    c.store([row, col], total.to(tl.float16))


@triton.jit
def attention_of_roles(
    q_ptr, k_ptr, v_ptr, o_ptr, rows, keys, scale,
    bm: tl.constexpr, bn: tl.constexpr, d: tl.constexpr,
):  # fmt: skip
    q_map = tl.make_tensor_descriptor(q_ptr, [rows, d], [d, 1], [bm, d])
    k_map = tl.make_tensor_descriptor(k_ptr, [rows, d], [d, 1], [bn, d])
    v_map = tl.make_tensor_descriptor(v_ptr, [rows, d], [d, 1], [bn, d])
    o_map = tl.make_tensor_descriptor(o_ptr, [rows, d], [d, 1], [bm, d])
    first = tl.program_id(1) * keys
    row = first + tl.program_id(0) * bm
    q = q_map.load([row, 0])
    largest = tl.full((bm,), float("-inf"), dtype=tl.float32)
    total = tl.zeros((bm,), dtype=tl.float32)
    out = tl.zeros((bm, d), dtype=tl.float32)
    for at in tl.range(0, keys, bn, warp_specialize=True):
        scores = tl.dot(q, k_map.load([first + at, 0]).T)
        grown = tl.maximum(largest, tl.max(scores, 1) * scale)
        powers = tl.math.exp2(scores * scale - grown[:, None])
        alpha = tl.math.exp2(largest - grown)
        total = total * alpha + tl.sum(powers, 1)
        out = out * alpha[:, None]
        out = tl.dot(powers.to(tl.float16), v_map.load([first + at, 0]), out)
        largest = grown
    o_map.store([row, 0], (out / total[:, None]).to(tl.float16))


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
    "scaled_gemm": {
        "fn": scaled_gemm,
        "types": [*["*fp8e4nv"] * 2, *["*u8"] * 2, "*fp32", *["i32"] * 6],
        "sizes": {"bm": 128, "bn": 128, "bk": 128},
        "multiples": [*range(8), 10],
        "options": {"num_warps": 8, "num_stages": 3},
        "capability": 100,
    },
    "gemm_128x256": {
        "fn": gemm_of_roles,
        "types": [*["*fp16"] * 3, *["i32"] * 3],
        "sizes": {"bm": 128, "bn": 256, "bk": 64},
        "multiples": range(6),
        "options": {"num_warps": 4, "num_stages": 3},
        "capability": 90,
    },
    **{
        name: {
            "fn": attention_of_roles,
            "types": [*["*fp16"] * 4, "i32", "i32", "fp32"],
            "sizes": {"bm": 128, "bn": keys, "d": deep},
            "multiples": range(6),
            "options": {"num_warps": 4, "num_stages": 2},
            "capability": 90,
        }
        for name, deep, keys in (
            ("attention_64", 64, 128),
            ("attention_128", 128, 128),
            ("attention_128x64", 128, 64),
        )
    },
}


class PtxReached(BaseException):
    """Carries the PTX out of Triton's compiler before it calls ptxas."""


def _stop(_self: Any, src: str, metadata: dict[str, Any], *_: Any) -> None:
    raise PtxReached(src, metadata["shared"])


def compile_kernel(name: str, capability: int | None = None) -> tuple[str, int]:
    """PTX of a kernel, for another capability if one is given, and bytes of its shared memory."""
    CUDABackend.make_cubin = _stop
    try:
        compile_whole(name, capability)
    except PtxReached as reached:
        ptx, shared = reached.args
        return ptx, shared
    raise AssertionError("Triton made no PTX")


def compile_whole(name: str, capability: int | None = None) -> None:
    """Compile a kernel to the binary, for sm_80 if neither it nor the caller says another."""
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
    target = GPUTarget("cuda", capability or kernel.get("capability", 80), 32)
    triton.compile(source, target=target, options=kernel["options"])


def main() -> None:
    name, mode, *more = sys.argv[1:]
    if mode == "ptx":
        ptx, shared = compile_kernel(name, *map(int, more))
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
        report["mma"] += ptx.count("wgmma.mma_async.sync")
        print(json.dumps(report), flush=True)


if __name__ == "__main__":
    main()

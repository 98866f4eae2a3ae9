"""Kernels as users of Triton write them; imported only by `make.py`, where Triton is."""

import triton
import triton.language as tl


@triton.jit
def add(x, y, out, n, block: tl.constexpr):
    at = tl.program_id(0) * block + tl.arange(0, block)
    inside = at < n
    tl.store(out + at, tl.load(x + at, inside) + tl.load(y + at, inside), inside)


@triton.jit
def gemm(a, b, c, n, k, bm: tl.constexpr, bn: tl.constexpr, bk: tl.constexpr):
    rows = tl.program_id(0) * bm + tl.arange(0, bm)
    columns = tl.program_id(1) * bn + tl.arange(0, bn)
    inner = tl.arange(0, bk)
    total = tl.zeros((bm, bn), tl.float32)
    for at in range(0, k, bk):
        x = tl.load(a + rows[:, None] * k + at + inner[None, :])
        y = tl.load(b + (at + inner[:, None]) * n + columns[None, :])
        total = tl.dot(x, y, total)
    tl.store(c + rows[:, None] * n + columns[None, :], total)


@triton.jit
def softmax(out, x, n, block: tl.constexpr):
    at = tl.arange(0, block)
    row = tl.program_id(0) * n
    values = tl.load(x + row + at, at < n, -float("inf"))
    powers = tl.exp(values - tl.max(values, 0))
    tl.store(out + row + at, powers / tl.sum(powers, 0), at < n)


@triton.jit
def running_sum(out, x, block: tl.constexpr):
    at = tl.program_id(0) * block + tl.arange(0, block)
    tl.store(out + at, tl.cumsum(tl.load(x + at), 0))


@triton.jit
def total(out, x, n, block: tl.constexpr):
    at = tl.program_id(0) * block + tl.arange(0, block)
    tl.atomic_add(out, tl.sum(tl.load(x + at, at < n, 0), 0))


@triton.jit
def last_adds(out, parts, count, x, block: tl.constexpr):
    """Whoever comes last adds what the others have stored."""
    program, programs = tl.program_id(0), tl.num_programs(0)
    at = tl.arange(0, block)
    tl.store(parts + program * block + at, tl.load(x + program * block + at))
    if tl.atomic_add(count, 1) == programs - 1:
        whole = tl.zeros((block,), tl.int32)
        for other in range(programs):
            whole += tl.load(parts + other * block + at, cache_modifier=".cg")
        tl.store(out + at, whole)


@triton.jit
def sort_rows(x, block: tl.constexpr):
    at = tl.program_id(0) * block + tl.arange(0, block)
    tl.store(x + at, tl.sort(tl.load(x + at)))


@triton.jit
def transpose(out, x, m: tl.constexpr, n: tl.constexpr):
    rows, columns = tl.arange(0, m), tl.arange(0, n)
    tile = tl.load(x + rows[:, None] * n + columns[None, :])
    tl.store(out + columns[:, None] * m + rows[None, :], tl.trans(tile))


KERNELS = {
    # Types of the arguments, the constants, warps.
    "add": ("*fp32 *fp32 *fp32 i32", {"block": 256}, 4),
    "gemm": ("*fp16 *fp16 *fp32 i32 i32", {"bm": 64, "bn": 64, "bk": 32}, 4),
    "softmax": ("*fp32 *fp32 i32", {"block": 256}, 4),
    "running_sum": ("*i32 *i32", {"block": 256}, 4),
    "total": ("*i32 *i32 i32", {"block": 256}, 4),
    "last_adds": ("*i32 *i32 *i32 *i32", {"block": 128}, 4),
    "sort_rows": ("*i32", {"block": 128}, 4),
    "transpose": ("*fp32 *fp32", {"m": 32, "n": 64}, 4),
}

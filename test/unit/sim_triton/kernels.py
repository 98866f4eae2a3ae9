"""Kernels as users of Triton write them; imported only where Triton is, by `server.py`."""

import triton
import triton.language as tl


@triton.jit
def matmul(
    a_ptr, b_ptr, c_ptr, m, n, k, a_stride, b_stride, c_stride,
    bm: tl.constexpr, bn: tl.constexpr, bk: tl.constexpr,
    masked: tl.constexpr, sum_type: tl.constexpr, precision: tl.constexpr,
):  # fmt: skip
    """C = A·B; with masks for any M, N and K."""
    rows = tl.program_id(0) * bm + tl.arange(0, bm)
    cols = tl.program_id(1) * bn + tl.arange(0, bn)
    inner = tl.arange(0, bk)
    a = a_ptr + rows[:, None] * a_stride + inner[None, :]
    b = b_ptr + inner[:, None] * b_stride + cols[None, :]
    total = tl.zeros((bm, bn), dtype=sum_type)
    for start in range(0, k, bk):
        if masked:
            left = k - start
            x = tl.load(a, mask=(rows[:, None] < m) & (inner[None, :] < left), other=0.0)
            y = tl.load(b, mask=(inner[:, None] < left) & (cols[None, :] < n), other=0.0)
        else:
            x = tl.load(a)
            y = tl.load(b)
        total = tl.dot(x, y, total, input_precision=precision, out_dtype=sum_type)
        a += bk
        b += bk * b_stride
    c = c_ptr + rows[:, None] * c_stride + cols[None, :]
    value = total.to(c_ptr.dtype.element_ty)
    if masked:
        tl.store(c, value, mask=(rows[:, None] < m) & (cols[None, :] < n))
    else:
        tl.store(c, value)


@triton.jit
def matmul_scaled(
    a_ptr, a_scale_ptr, b_ptr, b_scale_ptr, c_ptr,
    bm: tl.constexpr, bn: tl.constexpr, bk: tl.constexpr,
    a_format: tl.constexpr, b_format: tl.constexpr, a_pack: tl.constexpr, b_pack: tl.constexpr,
):  # fmt: skip
    """C = (A·2^sa)·(B·2^sb)ᵀ of one tile; a scale factor to every 32 elements along K."""
    rows, cols = tl.arange(0, bm), tl.arange(0, bn)
    groups = tl.arange(0, bk // 32)
    a_inner, b_inner = tl.arange(0, bk // a_pack), tl.arange(0, bk // b_pack)
    a = tl.load(a_ptr + rows[:, None] * (bk // a_pack) + a_inner[None, :])
    b = tl.load(b_ptr + cols[None, :] * (bk // b_pack) + b_inner[:, None])
    a_scale = tl.load(a_scale_ptr + rows[:, None] * (bk // 32) + groups[None, :])
    b_scale = tl.load(b_scale_ptr + cols[:, None] * (bk // 32) + groups[None, :])
    c = tl.dot_scaled(a, a_scale, a_format, b, b_scale, b_format)
    tl.store(c_ptr + rows[:, None] * bn + cols[None, :], c)


@triton.jit
def softmax(out_ptr, in_ptr, stride, n, block: tl.constexpr):
    """Softmax of a row a program."""
    row = tl.program_id(0)
    cols = tl.arange(0, block)
    x = tl.load(in_ptr + row * stride + cols, mask=cols < n, other=-float("inf"))
    e = tl.exp(x - tl.max(x, axis=0))
    tl.store(out_ptr + row * stride + cols, e / tl.sum(e, axis=0), mask=cols < n)


@triton.jit
def layer_norm(x_ptr, y_ptr, w_ptr, b_ptr, mean_ptr, rstd_ptr, stride, n, eps, block: tl.constexpr):
    """Layer norm of a row a program, in pieces of `block` columns."""
    row = tl.program_id(0)
    x_ptr += row * stride
    y_ptr += row * stride
    total = tl.zeros([block], dtype=tl.float32)
    for start in range(0, n, block):
        cols = start + tl.arange(0, block)
        total += tl.load(x_ptr + cols, mask=cols < n, other=0.0).to(tl.float32)
    mean = tl.sum(total, axis=0) / n
    total = tl.zeros([block], dtype=tl.float32)
    for start in range(0, n, block):
        cols = start + tl.arange(0, block)
        x = tl.load(x_ptr + cols, mask=cols < n, other=0.0).to(tl.float32)
        x = tl.where(cols < n, x - mean, 0.0)
        total += x * x
    rstd = 1 / tl.sqrt(tl.sum(total, axis=0) / n + eps)
    tl.store(mean_ptr + row, mean)
    tl.store(rstd_ptr + row, rstd)
    for start in range(0, n, block):
        cols = start + tl.arange(0, block)
        mask = cols < n
        w = tl.load(w_ptr + cols, mask=mask)
        b = tl.load(b_ptr + cols, mask=mask)
        x = tl.load(x_ptr + cols, mask=mask, other=0.0).to(tl.float32)
        tl.store(y_ptr + cols, (x - mean) * rstd * w + b, mask=mask)


@triton.jit
def attention(
    q_ptr, k_ptr, v_ptr, out_ptr, scale, length,
    bm: tl.constexpr, bn: tl.constexpr, depth: tl.constexpr, causal: tl.constexpr,
):  # fmt: skip
    """Flash attention, forward, of one head a program along y."""
    first = tl.program_id(0) * bm
    head = tl.program_id(1) * length * depth
    rows, inner = first + tl.arange(0, bm), tl.arange(0, depth)
    q = tl.load(q_ptr + head + rows[:, None] * depth + inner[None, :])
    largest = tl.full([bm], -float("inf"), tl.float32)
    total = tl.zeros([bm], tl.float32)
    out = tl.zeros([bm, depth], tl.float32)
    end = first + bm if causal else length
    for start in range(0, end, bn):
        keys = start + tl.arange(0, bn)
        k = tl.load(k_ptr + head + keys[None, :] * depth + inner[:, None])
        scores = tl.dot(q, k) * (scale * 1.44269504)
        if causal:
            scores = tl.where(rows[:, None] >= keys[None, :], scores, -float("inf"))
        new = tl.maximum(largest, tl.max(scores, 1))
        p = tl.exp2(scores - new[:, None])
        shrink = tl.exp2(largest - new)
        total = total * shrink + tl.sum(p, 1)
        v = tl.load(v_ptr + head + keys[:, None] * depth + inner[None, :])
        out = tl.dot(p.to(v.dtype), v, out * shrink[:, None])
        largest = new
    out = out / total[:, None]
    tl.store(
        out_ptr + head + rows[:, None] * depth + inner[None, :], out.to(out_ptr.dtype.element_ty)
    )


@triton.jit
def atomics(
    x_ptr, n, counts_ptr, sum_ptr, least_ptr, most_ptr, lock_ptr, critical_ptr,
    block: tl.constexpr, bins: tl.constexpr,
):  # fmt: skip
    """A histogram over all programs, a sum, extremes, and a section that a lock guards."""
    at = tl.program_id(0) * block + tl.arange(0, block)
    mask = at < n
    x = tl.load(x_ptr + at, mask=mask, other=0)
    tl.atomic_add(counts_ptr + x % bins, 1, mask=mask)
    tl.atomic_add(sum_ptr, tl.sum(x, axis=0).to(tl.float32))
    tl.atomic_min(least_ptr + at * 0, x, mask=mask)
    tl.atomic_max(most_ptr + at * 0, x, mask=mask)
    while tl.atomic_cas(lock_ptr, 0, 1) == 1:
        pass
    value = tl.load(critical_ptr)
    tl.debug_barrier()  # all threads load it, and one stores
    tl.store(critical_ptr, value * 3 + 1)
    tl.debug_barrier()
    tl.atomic_xchg(lock_ptr, 0)


@triton.jit
def histogram(x_ptr, counts_ptr, block: tl.constexpr, bins: tl.constexpr):
    """A histogram within a program."""
    x = tl.load(x_ptr + tl.program_id(0) * block + tl.arange(0, block))
    tl.atomic_add(counts_ptr + tl.arange(0, bins), tl.histogram(x, bins))


@triton.jit
def reductions(
    x_ptr, sums_ptr, where_ptr, running_ptr, sorted_ptr, rows: tl.constexpr, cols: tl.constexpr
):
    """Sums and places of the largest along both axes, running sums, and rows in order."""
    i, j = tl.arange(0, rows), tl.arange(0, cols)
    at = i[:, None] * cols + j[None, :]
    x = tl.load(x_ptr + at)
    tl.store(sums_ptr + i, tl.sum(x, axis=1))
    tl.store(sums_ptr + rows + j, tl.sum(x, axis=0))
    tl.store(where_ptr + i, tl.argmax(x, axis=1))
    tl.store(where_ptr + rows + j, tl.argmin(x, axis=0))
    tl.store(running_ptr + at, tl.cumsum(x, axis=1))
    tl.store(sorted_ptr + at, tl.sort(x))


@triton.jit
def elementwise(x_ptr, y_ptr, n, block: tl.constexpr):
    """Functions of a number, a row of the result each, and random numbers."""
    at = tl.program_id(0) * block + tl.arange(0, block)
    mask = at < n
    x = tl.load(x_ptr + at, mask=mask, other=1.0)
    tl.store(y_ptr + at, tl.exp(x), mask=mask)
    tl.store(y_ptr + n + at, tl.log(x), mask=mask)
    tl.store(y_ptr + 2 * n + at, tl.sin(x), mask=mask)
    tl.store(y_ptr + 3 * n + at, tl.cos(x), mask=mask)
    tl.store(y_ptr + 4 * n + at, tl.erf(x), mask=mask)
    tl.store(y_ptr + 5 * n + at, tl.rsqrt(x), mask=mask)
    tl.store(y_ptr + 6 * n + at, tl.sigmoid(x), mask=mask)
    tl.store(y_ptr + 7 * n + at, tl.floor(x) + tl.ceil(x), mask=mask)
    tl.store(y_ptr + 8 * n + at, x % 0.75, mask=mask)
    tl.store(y_ptr + 9 * n + at, tl.rand(1234, at), mask=mask)


@triton.jit
def transpose(x_ptr, y_ptr, rows: tl.constexpr, cols: tl.constexpr):
    """A transposed tile."""
    i, j = tl.arange(0, rows), tl.arange(0, cols)
    x = tl.load(x_ptr + i[:, None] * cols + j[None, :])
    tl.store(y_ptr + j[:, None] * rows + i[None, :], tl.trans(x))


@triton.jit
def shout(x_ptr):
    """Print and check."""
    x = tl.load(x_ptr + tl.arange(0, 32))
    tl.device_print("x is", x)
    tl.device_assert(x < 100, "too large")


@triton.jit
def matmul_by_tensor_copies(
    a, b, c, depth, bm: tl.constexpr, bn: tl.constexpr, bk: tl.constexpr
):  # fmt: skip
    row, col = tl.program_id(0) * bm, tl.program_id(1) * bn
    total = tl.zeros((bm, bn), dtype=tl.float32)
    for k in tl.range(0, depth, bk):
        total = tl.dot(a.load([row, k]), b.load([col, k]).T, total)
    c.store([row, col], total.to(tl.float16))


@triton.jit
def matmul_by_maps_of_its_own(
    a_ptr, b_ptr, c_ptr, m, n, k, bm: tl.constexpr, bn: tl.constexpr, bk: tl.constexpr
):  # fmt: skip
    a = tl.make_tensor_descriptor(a_ptr, [m, k], [k, 1], [bm, bk])
    b = tl.make_tensor_descriptor(b_ptr, [n, k], [k, 1], [bn, bk])
    c = tl.make_tensor_descriptor(c_ptr, [m, n], [n, 1], [bm, bn])
    row, col = tl.program_id(0) * bm, tl.program_id(1) * bn
    total = tl.zeros((bm, bn), dtype=tl.float32)
    for at in tl.range(0, k, bk):
        total = tl.dot(a.load([row, at]), b.load([col, at]).T, total)
    c.store([row, col], total.to(tl.float16))


@triton.jit
def attention_by_tensor_copies(
    q, k, v, o, keys, scale, bm: tl.constexpr, bn: tl.constexpr, d: tl.constexpr
):  # fmt: skip
    row = tl.program_id(0) * bm
    query = q.load([row, 0])
    most = tl.zeros((bm,), tl.float32) - float("inf")
    weight = tl.zeros((bm,), tl.float32)
    total = tl.zeros((bm, d), tl.float32)
    for at in tl.range(0, keys, bn):
        score = tl.dot(query, k.load([at, 0]).T) * scale
        top = tl.maximum(most, tl.max(score, 1))
        share = tl.math.exp2(score - top[:, None])
        old = tl.math.exp2(most - top)
        weight = weight * old + tl.sum(share, 1)
        total = tl.dot(share.to(tl.float16), v.load([at, 0]), total * old[:, None])
        most = top
    o.store([row, 0], (total / weight[:, None]).to(tl.float16))

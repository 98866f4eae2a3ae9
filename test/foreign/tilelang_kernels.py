"""Kernels as users of TileLang write them; imported only by `make.py`, where TileLang is."""

import tilelang.language as T  # noqa: N812


@T.prim_func
def gemm(
    a: T.Tensor((128, 128), "float16"),
    b: T.Tensor((128, 128), "float16"),
    c: T.Tensor((128, 128), "float32"),
):
    with T.Kernel(2, 2, threads=128) as (bx, by):
        left, right = T.alloc_shared((64, 32), "float16"), T.alloc_shared((32, 64), "float16")
        total = T.alloc_fragment((64, 64), "float32")
        T.clear(total)
        for k in T.Pipelined(4, num_stages=2):
            T.copy(a[by * 64, k * 32], left)
            T.copy(b[k * 32, bx * 64], right)
            T.gemm(left, right, total)
        T.copy(total, c[by * 64, bx * 64])


@T.prim_func
def normalize(x: T.Tensor((24, 256), "float32"), y: T.Tensor((24, 256), "float32")):
    with T.Kernel(3, threads=128) as block:
        rows = T.alloc_shared((8, 256), "float32")
        own = T.alloc_fragment((8, 256), "float32")
        squares = T.alloc_fragment((8, 256), "float32")
        sums = T.alloc_fragment((8,), "float32")
        T.copy(x[block * 8, 0], rows)
        T.copy(rows, own)
        for i, j in T.Parallel(8, 256):
            squares[i, j] = own[i, j] * own[i, j]
        T.reduce_sum(squares, sums, dim=1)
        for i, j in T.Parallel(8, 256):
            own[i, j] = own[i, j] * T.rsqrt(sums[i] / 256 + 1e-6)
        T.copy(own, y[block * 8, 0])


@T.prim_func
def running_sums(x: T.Tensor((16, 128), "float32"), y: T.Tensor((16, 128), "float32")):
    with T.Kernel(1, threads=128) as _:
        rows = T.alloc_shared((16, 128), "float32")
        T.copy(x, rows)
        T.cumsum(rows, dim=1)
        T.copy(rows, y)


@T.prim_func
def attention(
    q: T.Tensor((64, 64), "float16"),
    k: T.Tensor((128, 64), "float16"),
    v: T.Tensor((128, 64), "float16"),
    o: T.Tensor((64, 64), "float32"),
):
    with T.Kernel(1, threads=128) as _:
        qs, ks = T.alloc_shared((64, 64), "float16"), T.alloc_shared((32, 64), "float16")
        vs = T.alloc_shared((32, 64), "float16")
        scores, weights = (
            T.alloc_fragment((64, 32), "float32"),
            T.alloc_fragment((64, 32), "float16"),
        )
        total = T.alloc_fragment((64, 64), "float32")
        most, before = T.alloc_fragment((64,), "float32"), T.alloc_fragment((64,), "float32")
        scale, sums = T.alloc_fragment((64,), "float32"), T.alloc_fragment((64,), "float32")
        part = T.alloc_fragment((64,), "float32")
        T.copy(q, qs)
        T.clear(total)
        T.clear(sums)
        T.fill(most, -1e30)
        for step in T.Pipelined(4, num_stages=2):
            T.copy(k[step * 32, 0], ks)
            T.copy(v[step * 32, 0], vs)
            T.clear(scores)
            T.gemm(qs, ks, scores, transpose_B=True, policy=T.GemmWarpPolicy.FullRow)
            T.copy(most, before)
            T.reduce_max(scores, most, dim=1, clear=False)
            for i in T.Parallel(64):
                scale[i] = T.exp(before[i] - most[i])
            for i, j in T.Parallel(64, 32):
                scores[i, j] = T.exp(scores[i, j] - most[i])
            T.reduce_sum(scores, part, dim=1)
            for i in T.Parallel(64):
                sums[i] = sums[i] * scale[i] + part[i]
            T.copy(scores, weights)
            for i, j in T.Parallel(64, 64):
                total[i, j] = total[i, j] * scale[i]
            T.gemm(weights, vs, total, policy=T.GemmWarpPolicy.FullRow)
        for i, j in T.Parallel(64, 64):
            total[i, j] = total[i, j] / sums[i]
        T.copy(total, o)


KERNELS = [
    (gemm, "sm_80"),
    (normalize, "sm_80"),
    (running_sums, "sm_80"),
    (attention, "sm_80"),
    (gemm, "sm_90a"),
    (attention, "sm_90a"),
]

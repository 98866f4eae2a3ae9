"""Kernels as users of numba write them; imported only by `make.py`, where numba is."""

from numba import cuda, float32, int32, uint32, uint64, void

ints, floats, words = int32[::1], float32[::1], uint32[::1]
planes = float32[:, ::1]


def axpy(y, x, a):
    i = cuda.grid(1)
    if i < x.size:
        y[i] += a * x[i]


def matmul(c, a, b):
    s, t = cuda.shared.array((16, 16), float32), cuda.shared.array((16, 16), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    column, row = cuda.grid(2)
    total = float32(0)
    for k in range(0, a.shape[1], 16):
        s[y, x] = a[row, k + x]
        t[y, x] = b[k + y, column]
        cuda.syncthreads()
        for i in range(16):
            total += s[y, i] * t[i, x]
        cuda.syncthreads()
    c[row, column] = total


def laplace(new, old):
    x, y = cuda.grid(2)
    if 0 < x < old.shape[1] - 1 and 0 < y < old.shape[0] - 1:
        around = old[y - 1, x] + old[y + 1, x] + old[y, x - 1] + old[y, x + 1]
        new[y, x] = float32(0.25) * around


def histogram(bins, data):
    for i in range(cuda.grid(1), data.size, cuda.gridsize(1)):
        cuda.atomic.add(bins, data[i] % bins.size, 1)


def largest(result, data):
    s = cuda.shared.array(128, int32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    s[t] = data[i] if i < data.size else -2147483648
    cuda.syncthreads()
    step = 64
    while step > 0:
        if t < step:
            s[t] = max(s[t], s[t + step])
        cuda.syncthreads()
        step //= 2
    if t == 0:
        cuda.atomic.max(result, 0, s[0])


def warp_sums(out, data):
    value = data[cuda.grid(1)]
    for step in (16, 8, 4, 2, 1):
        value += cuda.shfl_down_sync(0xFFFFFFFF, value, step)
    if cuda.laneid == 0:
        out[cuda.grid(1) // 32] = value


def xorshift(out, rounds):
    i = cuda.grid(1)
    state = uint64(i + 1)
    for _ in range(rounds):
        state ^= state << uint64(13)
        state ^= state >> uint64(7)
        state ^= state << uint64(17)
    out[i] = uint32(state & uint64(0xFFFFFFFF))


def neighbours(out, data):
    mine = cuda.local.array(5, int32)
    i = cuda.grid(1)
    for j in range(5):
        mine[j] = data[(i + j) % data.size]
    for a in range(4):
        for b in range(4 - a):
            if mine[b] > mine[b + 1]:
                mine[b], mine[b + 1] = mine[b + 1], mine[b]
    out[i] = mine[2]


def permute(data):
    s = cuda.shared.array(256, float32)
    t = cuda.threadIdx.x
    s[t] = data[t]
    cuda.syncthreads()
    data[(t * 7) % 256] = s[t]


KERNELS = {
    axpy: void(floats, floats, float32),
    matmul: void(planes, planes, planes),
    laplace: void(planes, planes),
    histogram: void(ints, ints),
    largest: void(ints, ints),
    warp_sums: void(ints, ints),
    xorshift: void(words, int32),
    neighbours: void(ints, ints),
    permute: void(floats),
}

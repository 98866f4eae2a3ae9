"""Kernels as users of Warp write them; imported only by `make.py`, where Warp is."""

import warp as wp

WIDTH = 64


@wp.kernel
def turn(out: wp.array(dtype=wp.vec3), points: wp.array(dtype=wp.vec3), q: wp.quat):
    i = wp.tid()
    out[i] = wp.quat_rotate(q, points[i])


@wp.kernel
def nearest(
    found: wp.array(dtype=int),
    last: wp.array(dtype=int),
    points: wp.array(dtype=wp.vec3),
    sites: wp.array(dtype=wp.vec3),
):
    i = wp.tid()
    least = float(1.0e9)  # noqa: UP018 -- Warp: a variable
    at = int(-1)  # noqa: UP018, RUF046
    for j in range(sites.shape[0]):
        d = wp.length_sq(points[i] - sites[j])
        if d < least:
            least = d
            at = j
    found[i] = at
    wp.atomic_max(last, 0, at)


@wp.kernel
def scatter(cells: wp.array2d(dtype=float), points: wp.array(dtype=wp.vec2)):
    p = points[wp.tid()]
    x = wp.clamp(int(wp.floor(p[0])), 0, cells.shape[0] - 1)
    y = wp.clamp(int(wp.floor(p[1])), 0, cells.shape[1] - 1)
    wp.atomic_add(cells, x, y, 1.0)


@wp.kernel
def inverses(out: wp.array(dtype=wp.mat33d), given: wp.array(dtype=wp.mat33d)):
    i = wp.tid()
    out[i] = wp.inverse(given[i]) @ wp.transpose(given[i])


@wp.kernel
def row_sums(out: wp.array(dtype=float), given: wp.array2d(dtype=float)):
    i = wp.tid()
    row = wp.tile_load(given[i], shape=WIDTH)
    wp.tile_store(out, wp.tile_sum(row * row), offset=i)


@wp.kernel
def draws(out: wp.array(dtype=wp.uint32), seed: int):
    i = wp.tid()
    state = wp.rand_init(seed, i)
    total = wp.uint32(0)
    for _ in range(3):
        total = total ^ wp.randu(state)
    out[i] = total

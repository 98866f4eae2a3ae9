"""Pipelines as users of Halide write them; imported only by `make.py`, where Halide is."""

import halide as hl

x, y, u, xi, yi = (hl.Var(name) for name in ("x", "y", "u", "xi", "yi"))


def image(name, type_, *extents):
    """An input whose extents are known, so that kernels take its pointer alone."""
    given, stride = hl.ImageParam(type_, len(extents), name), 1
    for number, extent in enumerate(extents):
        given.dim(number).set_bounds(0, extent).set_stride(stride)
        stride *= extent
    return given


def result(out, *extents):
    """The same for what a pipeline writes."""
    stride = 1
    for number, extent in enumerate(extents):
        out.output_buffer().dim(number).set_bounds(0, extent).set_stride(stride)
        stride *= extent
    return out


def blur():
    """3x3, through shared memory."""
    given = image("given", hl.UInt(16), 50, 26)
    across, out = hl.Func("across"), hl.Func("out")
    across[x, y] = given[x, y] + given[x + 1, y] + given[x + 2, y]
    out[x, y] = (across[x, y] + across[x, y + 1] + across[x, y + 2]) / 9
    out.gpu_tile(x, y, xi, yi, 16, 8)
    across.compute_at(out, x).gpu_threads(x, y)
    return result(out, 48, 24), [given]


def product():
    """16x16 tiles, a register tile a thread."""
    a, b = image("a", hl.Float(32), 48, 32), image("b", hl.Float(32), 64, 48)
    total, out = hl.Func("total"), hl.Func("out")
    k = hl.RDom([(0, 48)])
    total[x, y] += a[k.x, y] * b[x, k.x]
    out[x, y] = total[x, y]
    out.gpu_tile(x, y, xi, yi, 16, 16)
    total.compute_at(out, xi).update().unroll(k.x, 4)
    return result(out, 64, 32), [a, b]


def histogram():
    """Atomics on global memory."""
    given, out = image("given", hl.UInt(8), 1000), hl.Func("out")
    r = hl.RDom([(0, 1000)])
    ro, ri = hl.RVar("ro"), hl.RVar("ri")
    out[x] = hl.u32(0)
    out[hl.i32(given[r.x])] += hl.u32(1)
    out.gpu_tile(x, xi, 64)
    out.update().atomic().gpu_tile(r.x, ro, ri, 128)
    return result(out, 256), [given]


def lanes():
    """A producer that lanes of a warp compute for each other."""
    given, total, out = image("given", hl.Int(32), 161, 8), hl.Func("total"), hl.Func("out")
    total[x, y] = given[x, y] + given[x + 1, y]
    out[x, y] = total[x, y] * total[x + 1, y] + total[x + 2, y]
    out.gpu_tile(x, y, xi, yi, 32, 4).gpu_lanes(xi)
    total.compute_at(out, yi).split(x, x, u, 32, hl.TailStrategy.RoundUp).gpu_lanes(u).unroll(x)
    return result(out, 128, 8), [given]


def tone():
    """Functions of floats."""
    given, out = image("given", hl.Float(32), 600), hl.Func("out")
    v = given[x]
    out[x] = hl.select(v > 0, hl.pow(v, hl.f32(0.45)) + hl.atan2(v, 2.0), hl.sin(v) * hl.exp(v))
    out.gpu_tile(x, xi, 128)
    return result(out, 600), [given]


KERNELS = [blur, product, histogram, lanes, tone]

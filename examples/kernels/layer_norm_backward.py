"""The gradients of layer norm: of x row by row, of weight and bias by parts that a lock adds up."""

from typing import Any

import numpy as np
import tilec
import tilec.lang as tl

Matrix = tl.Array[tl.float32, int, int]
Vector = tl.Array[tl.float32, int]


@tilec.kernel
def gradient_of_x(
    x: Matrix,
    weight: Vector,
    dy: Matrix,
    dx: Matrix,
    dw_parts: Matrix,
    db_parts: Matrix,
    locks: tl.Array[tl.int32, int],
    eps: float,
    BLOCK: tl.Constant[int],
) -> None:
    """Of one row, whose part of the gradients of weight and bias goes to one of some groups."""
    row, cols = tl.program_id(0), x.shape[1]
    inside = tl.arange(BLOCK) < cols
    held, grad = tl.load(x, (row, 0), BLOCK), tl.load(dy, (row, 0), BLOCK)
    centred = tl.where(inside, held - held.sum() / cols, 0.0)
    scale = tl.rsqrt((centred * centred).sum() / cols + eps)
    normed, scaled = centred * scale, grad * tl.load(weight, 0, BLOCK)
    along, mean = (normed * scaled).sum() / cols, scaled.sum() / cols
    tl.store(dx, (row, 0), (scaled - normed * along - mean) * scale)

    group = row % dw_parts.shape[0]
    while tl.atomic_cas(locks, group, 0, 1, sem="acquire") != 0:
        pass
    tl.debug_barrier()
    tl.store(dw_parts, (group, 0), tl.load(dw_parts, (group, 0), BLOCK) + grad * normed)
    tl.store(db_parts, (group, 0), tl.load(db_parts, (group, 0), BLOCK) + grad)
    tl.debug_barrier()
    tl.atomic_xchg(locks, group, 0, sem="release")


@tilec.kernel
def sum_of_parts(
    dw_parts: Matrix,
    db_parts: Matrix,
    dw: Vector,
    db: Vector,
    BM: tl.Constant[int] = 16,
    BN: tl.Constant[int] = 64,
) -> None:
    col = tl.program_id(0) * BN
    of_weight, of_bias = tl.zeros((BM, BN)), tl.zeros((BM, BN))
    for part in range(0, dw_parts.shape[0], BM):
        of_weight += tl.load(dw_parts, (part, col), (BM, BN))
        of_bias += tl.load(db_parts, (part, col), (BM, BN))
    tl.store(dw, col, of_weight.sum(axis=0))
    tl.store(db, col, of_bias.sum(axis=0))


def check(**settings: Any) -> None:
    """Run both, and compare with numpy."""
    random = np.random.default_rng(0)
    rows, cols, groups, eps = 7, 200, 3, 1e-5
    x, dy = random.standard_normal((2, rows, cols)).astype(np.float32)
    weight = random.standard_normal(cols).astype(np.float32)
    parts, locks = np.zeros((2, groups, cols), np.float32), np.zeros(groups, np.int32)
    dx, (dw, db) = np.empty_like(x), np.empty((2, cols), np.float32)
    of_x, of_parts = gradient_of_x.using(**settings), sum_of_parts.using(**settings)
    of_x[rows](x, weight, dy, dx, parts[0], parts[1], locks, eps, BLOCK=256)
    of_parts[tl.cdiv(cols, 64)](parts[0], parts[1], dw, db)

    wide = x.astype(float)
    scale = 1 / np.sqrt(wide.var(1, keepdims=True) + eps)
    normed, scaled = (wide - wide.mean(1, keepdims=True)) * scale, dy * weight.astype(float)
    along, mean = (normed * scaled).mean(1, keepdims=True), scaled.mean(1, keepdims=True)
    np.testing.assert_allclose(dx, (scaled - normed * along - mean) * scale, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(dw, (dy * normed).sum(0), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(db, dy.sum(0, dtype=float), rtol=1e-4, atol=1e-5)


if __name__ == "__main__":
    check()

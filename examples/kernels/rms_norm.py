"""y = x / rms(x) * w of each row, and the gradients of x and w by one kernel."""

from typing import Any

import numpy as np
import tilec
import tilec.lang as tl

Matrix = tl.Array[tl.float32, int, int]


@tilec.kernel
def rms_norm(
    x: Matrix, w: tl.Array[tl.float32, int], y: Matrix, eps: float, BLOCK: tl.Constant[int]
) -> None:
    row = tl.program_id(0)
    held = tl.load(x, (row, 0), BLOCK)
    scale = tl.rsqrt((held * held).sum() / x.shape[1] + eps)
    tl.store(y, (row, 0), held * scale * tl.load(w, 0, BLOCK))


@tilec.kernel
def rms_norm_backward(
    x: Matrix,
    w: tl.Array[tl.float32, int],
    dy: Matrix,
    dx: Matrix,
    dw: tl.Array[tl.float32, int],
    eps: float,
    BLOCK: tl.Constant[int],
) -> None:
    weight = tl.load(w, 0, BLOCK)
    partial = tl.zeros(BLOCK)
    for row in range(tl.program_id(0), x.shape[0], tl.num_programs(0)):
        held, grad = tl.load(x, (row, 0), BLOCK), tl.load(dy, (row, 0), BLOCK)
        scale = tl.rsqrt((held * held).sum() / x.shape[1] + eps)
        normed, scaled = held * scale, grad * weight
        back = (scaled * normed).sum() / x.shape[1]
        tl.store(dx, (row, 0), (scaled - normed * back) * scale)
        partial += grad * normed
    tl.atomic_add(dw, 0, partial)


def check(**settings: Any) -> None:
    """Run both, and compare with numpy."""
    random = np.random.default_rng(0)
    x, dy = random.standard_normal((2, 9, 200)).astype(np.float32)
    w = random.standard_normal(200).astype(np.float32)
    y, dx, dw = np.empty_like(x), np.empty_like(x), np.zeros_like(w)
    rms_norm.using(**settings)[9](x, w, y, 1e-6, BLOCK=256)
    rms_norm_backward.using(**settings)[4](x, w, dy, dx, dw, 1e-6, BLOCK=256)
    scale = 1 / np.sqrt((x * x).mean(1, keepdims=True) + 1e-6)
    np.testing.assert_allclose(y, x * scale * w, rtol=1e-5, atol=1e-6)
    back = (dy * w * x * scale).mean(1, keepdims=True)
    np.testing.assert_allclose(dx, (dy * w - x * scale * back) * scale, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(dw, (dy * x * scale).sum(0), rtol=1e-4, atol=1e-4)


if __name__ == "__main__":
    check()

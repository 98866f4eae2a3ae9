"""Cases of `iree.mlir`: what each kernel is given, and what numpy gives."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from .case import Case
from .samples import whole, zeros


def _case(kernel: str, grid: Any, block: Any, *inputs: Any, to: Any, **more: Any) -> Case:
    """A case; the result comes last, and is of what it is to be."""
    args = [*inputs, np.zeros_like(to)]
    return Case("iree.ptx", kernel, grid, block, args, {len(inputs): to}, **more)


def cases() -> Iterator[Case]:
    """The cases."""
    a, b = whole((64, 96), -3, 4, np.float16), whole((96, 128), -3, 4, np.float16)
    product = a.astype("f4") @ b.astype("f4")
    yield _case("product", 4, 128, a, b, to=product, shared=6912)
    a, b = whole((48, 80), -128, 128, np.int8), whole((80, 40), -128, 128, np.int8)
    yield _case("bytes", 2, (32, 8), a, b, to=a.astype("i4") @ b.astype("i4"))
    x = np.random.default_rng(8).standard_normal((8, 256)).astype("f4")
    powers = np.exp(x)
    wanted = powers / powers.sum(axis=1, keepdims=True)
    yield _case("softmax", 8, 64, x, to=wanted, tolerance=1e-5, shared=32)
    x, w = whole((18, 18, 8)), whole((3, 3, 8, 16))
    image = zeros(16, 16, 16, type_="f4")
    for i in range(3):
        for j in range(3):
            image += x[i : i + 16, j : j + 16] @ w[i, j]
    yield _case("convolution", 128, 32, x, w, to=image)
    x = whole((6, 512))
    yield _case("squares", 6, 128, x, to=(x**2).sum(axis=1), shared=24)
    x = np.linspace(0.01, 5, 1000, dtype="f4")
    wanted = np.array([v * (1 + math.erf(v / math.sqrt(2))) / 2 for v in x.tolist()], "f4")
    yield _case("gelu", 32, 32, x, to=wanted, tolerance=1e-5)

"""Cases of `tilelang_kernels.py`: what each kernel is given, and what numpy gives."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from tilec.sim import TensorMap

from .case import Case
from .samples import whole, zeros


def _case(kernel: str, arch: str, grid: Any, block: int, args: list[Any],
          expected: Mapping[int, Any], shared: int, tolerance: float = 0) -> Case:  # fmt: skip
    return Case(f"tilelang_{kernel}_{arch}.ptx", kernel, grid, block, args, expected,
                shared=shared, tolerance=tolerance)  # fmt: skip


def _attention(q: Any, k: Any, v: Any) -> Any:
    scores = np.exp(q.astype("f8") @ k.astype("f8").T)
    return scores / scores.sum(axis=1, keepdims=True) @ v.astype("f8")


def cases() -> Iterator[Case]:
    """The cases; on sm_90a a warpgroup copies by tensor maps what another one multiplies."""
    a, b = whole((128, 128), -3, 4, np.float16), whole((128, 128), -3, 4, np.float16).T.copy()
    c, wanted = zeros(128, 128, type_="f4"), {2: a.astype("f4") @ b.astype("f4")}
    yield _case("gemm", "sm_80", (2, 2), 128, [a, b, c], wanted, 16384)
    maps = [TensorMap(a, box=(64, 32), swizzle="64B"), TensorMap(b, box=(32, 64), swizzle="128B")]
    yield _case("gemm", "sm_90a", (2, 2), 256, [*maps, c], wanted, 16384)
    x = np.random.default_rng(9).standard_normal((24, 256)).astype("f4")
    scaled = x / np.sqrt((x.astype("f8") ** 2).mean(axis=1, keepdims=True) + 1e-6)
    yield _case("normalize", "sm_80", 3, 128, [x, np.zeros_like(x)], {1: scaled}, 8192, 1e-5)
    x = whole((16, 128))
    yield _case("running_sums", "sm_80", 1, 128, [x, np.zeros_like(x)], {1: x.cumsum(axis=1)}, 8192)
    draw = np.random.default_rng(10).standard_normal
    q, k = ((draw((rows, 64)) / 4).astype("f2") for rows in (64, 128))
    v = (draw((128, 64)) ** 2).astype("f2")
    o, wanted = zeros(64, 64, type_="f4"), {1: _attention(q, k, v)}
    yield _case("attention", "sm_80", 1, 128, [k, o, q, v], wanted, 24576, 2e-3)
    maps = [TensorMap(array, box=(rows, 64), swizzle="128B")
            for array, rows in ((k, 32), (q, 64), (v, 32))]  # fmt: skip
    yield _case("attention", "sm_90a", 1, 256, [maps[0], o, *maps[1:]], wanted, 24576, 2e-3)

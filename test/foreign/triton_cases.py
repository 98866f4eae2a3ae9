"""Cases of `triton_kernels.py`: what each kernel is given, and what numpy gives."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from .case import HERE, Case
from .samples import whole, zeros

SHARED = json.loads((HERE / "triton_shared.json").read_text())


def _case(
    kernel: str, grid: Any, args: list[Any], expected: Mapping[int, Any], tolerance: float = 0
) -> Case:
    """A case; Triton's launcher passes two pointers to scratch memory more."""
    return Case(
        f"triton_{kernel}.ptx", kernel, grid, 128, [*args, None, None], expected,
        tolerance=tolerance, shared=SHARED[kernel],
    )  # fmt: skip


def cases() -> Iterator[Case]:
    """The cases."""
    x, y = whole(700), whole(700) + 3
    yield _case("add", 3, [x, y, np.zeros_like(x), 700], {2: x + y})
    a, b = whole((128, 96), -3, 4, np.float16), whole((96, 64), -3, 4, np.float16)
    yield _case("gemm", (2, 1), [a, b, zeros(128, 64, type_="f4"), 64, 96],
                {2: a.astype("f4") @ b.astype("f4")})  # fmt: skip
    x = np.random.default_rng(1).standard_normal((3, 200)).astype(np.float32)
    powers = np.exp(x.astype(np.float64))
    yield _case("softmax", 3, [np.zeros_like(x), x, 200],
                {0: powers / powers.sum(axis=1, keepdims=True)}, 1e-5)  # fmt: skip
    x = whole((2, 256), type_=np.int32)
    yield _case("running_sum", 2, [np.zeros_like(x), x], {0: x.cumsum(axis=1)})
    x = whole(900, type_=np.int32)
    yield _case("total", 4, [zeros(1), x, 900], {0: [x.sum()]})
    x = whole((5, 128), type_=np.int32)
    yield _case("last_adds", 5, [zeros(128), zeros(5, 128), zeros(1), x], {0: x.sum(axis=0)})
    x = whole((2, 128), -1000, 1000, np.int32)
    yield _case("sort_rows", 2, [x.copy()], {0: np.sort(x, axis=1)})
    x = whole((32, 64))
    yield _case("transpose", 1, [zeros(64, 32, type_="f4"), x], {0: x.T})

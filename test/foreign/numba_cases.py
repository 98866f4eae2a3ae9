"""Cases of `numba_kernels.py`: what each kernel is given, and what numpy gives."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from .case import Case
from .samples import whole, zeros


def _case(kernel: str, grid: Any, block: Any, args: list[Any], expected: Mapping[int, Any]) -> Case:
    """A case; numba passes an array as seven values and more, the fifth of them the pointer."""
    passed: list[Any] = []
    at: dict[int, int] = {}
    for number, value in enumerate(args):
        if isinstance(value, np.ndarray):
            at[number] = len(passed) + 4
            passed += [None, None, value.size, value.itemsize, value, *value.shape, *value.strides]
        else:
            passed.append(value)
    wanted = {at[number]: value for number, value in expected.items()}
    return Case("numba.ptx", kernel, grid, block, passed, wanted)


def _xorshift(threads: int, rounds: int) -> Any:
    state = np.arange(1, threads + 1, dtype=np.uint64)
    for _ in range(rounds):
        state ^= state << np.uint64(13)
        state ^= state >> np.uint64(7)
        state ^= state << np.uint64(17)
    return (state & np.uint64(0xFFFFFFFF)).astype(np.uint32)


def cases() -> Iterator[Case]:
    """The cases."""
    x, y = whole(700), whole(700) + 3
    yield _case("axpy", 3, 256, [y.copy(), x, np.float32(2)], {0: y + 2 * x})
    a, b = whole((32, 48)), whole((48, 32)) - 1
    yield _case("matmul", (2, 2), (16, 16), [zeros(32, 32, type_="f4"), a, b], {0: a @ b})
    old = whole((40, 50))
    new = np.zeros_like(old)
    new[1:-1, 1:-1] = (old[:-2, 1:-1] + old[2:, 1:-1] + old[1:-1, :-2] + old[1:-1, 2:]) / 4
    yield _case("laplace", (4, 3), (16, 16), [np.zeros_like(old), old], {0: new})
    data = whole(999, -50, 100, np.int32)
    bins = np.bincount(data % 10, minlength=10)
    yield _case("histogram", 2, 128, [zeros(10), data], {0: bins})
    yield _case("largest", 8, 128, [zeros(1) - 1000, data], {0: [data.max()]})
    data = whole(256, type_=np.int32)
    yield _case("warp_sums", 2, 128, [zeros(8), data], {0: data.reshape(8, 32).sum(axis=1)})
    yield _case("xorshift", 2, 64, [zeros(128, type_="u4"), 9], {0: _xorshift(128, 9)})
    around = np.stack([np.roll(data, -j) for j in range(5)])
    yield _case("neighbours", 2, 128, [zeros(256), data], {0: np.median(around, axis=0)})
    values, moved = whole(256), zeros(256, type_="f4")
    moved[np.arange(256) * 7 % 256] = values
    yield _case("permute", 1, 256, [values.copy()], {0: moved})

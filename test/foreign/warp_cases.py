"""Cases of `warp_kernels.py`: what each kernel is given, and what numpy gives."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from .case import Case
from .samples import whole, zeros

BLOCK = 256
"""Threads of a CTA of Warp, where nothing else is asked for."""


def _array(data: Any, dims: int = 1) -> tuple[Any, ...]:
    """An array as Warp passes it: pointers, four extents, four strides, and how many count."""
    four = ([*sizes[:dims], 0, 0, 0, 0][:4] for sizes in (data.shape, data.strides))
    extents = [np.int32(size) for sizes in four for size in sizes]
    return (data, None, *extents, np.uint16(dims), np.uint16(0))


def _case(kernel: str, threads: int, args: list[Any], expected: Mapping[int, Any], *,
          each: int = 1, tolerance: float = 0) -> Case:  # fmt: skip
    """A case; the first argument says how many threads there are, `each` a tile's."""
    bounds = (np.uint32(threads), np.uint64(threads * each), np.uint64(each))
    grid = -(-threads * each // BLOCK)
    wanted = {number + 1: value for number, value in expected.items()}
    return Case("warp.ptx", kernel, grid, BLOCK, [bounds, *args], wanted, tolerance=tolerance)


def _pcg(state: Any) -> Any:
    """Warp's generator: PCG's RXS-M-XS of 32 bits."""
    b = state * np.uint32(747796405) + np.uint32(2891336453)
    c = (b >> ((b >> np.uint32(28)) + np.uint32(4)) ^ b) * np.uint32(277803737)
    return c >> np.uint32(22) ^ c


def cases() -> Iterator[Case]:
    """The cases."""
    points = whole((300, 3))
    half = np.full(4, 0.5, "f4").tobytes()  # a third of a turn about the diagonal
    yield _case("turn", 300, [_array(np.zeros_like(points)), _array(points), half],
                {0: np.roll(points, 1, axis=1)})  # fmt: skip
    sites = whole((20, 3), -9, 5)
    distances = ((points[:, None] - sites) ** 2).sum(axis=2)
    outputs = [_array(zeros(300)), _array(zeros(1))]
    yield _case("nearest", 300, [*outputs, _array(points), _array(sites)],
                {0: distances.argmin(axis=1), 1: [distances.argmin(axis=1).max()]})  # fmt: skip
    flat = whole((500, 2), -30, 60) / np.float32(4)
    cells, (x, y) = zeros(8, 12, type_="f4"), np.floor(flat).astype(int).T
    counts = np.zeros((8, 12))
    np.add.at(counts, (x.clip(0, 7), y.clip(0, 11)), 1)
    yield _case("scatter", 500, [_array(cells, 2), _array(flat)], {0: counts})
    m = np.random.default_rng(5).standard_normal((90, 3, 3)) + 4 * np.eye(3)
    wanted = np.linalg.inv(m) @ m.transpose(0, 2, 1)
    yield _case("inverses", 90, [_array(np.zeros_like(m)), _array(m)], {0: wanted}, tolerance=1e-9)
    rows = whole((5, 64))
    yield _case("row_sums", 5, [_array(zeros(5, type_="f4")), _array(rows, 2)],
                {0: (rows**2).sum(axis=1)}, each=BLOCK)  # fmt: skip
    state = _pcg(np.uint32(42) + _pcg(np.arange(200, dtype=np.uint32)))
    first = _pcg(state)
    second = _pcg(first)
    yield _case("draws", 200, [_array(zeros(200, type_="u4")), 42],
                {0: first ^ second ^ _pcg(second)})  # fmt: skip

"""The section `gemm`: GEMMs beside cuBLAS and Triton."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from math import prod
from typing import Any

import numpy as np
from tilec.isa import Mma
from tilec.isa import form as find_form
from tilec.runtime import expand

from .compare import Loaded, Peers, Problem, compare, set_count
from .driver import Cuda
from .machine import Sampler
from .matrix import BYTES, Matrix
from .pack import Pack

Row = dict[str, Any]
Shape = tuple[int, int, int]


class GemmProblem(Problem):
    """A product; see `compare.Problem`.

    Args:
        cuda: the GPU.
        shape: M, N and K.
        fields: what the pack says of a kernel that takes such matrices.
    """

    def __init__(self, cuda: Cuda, shape: Shape, fields: Mapping[str, Any]) -> None:
        m, n, k = shape
        elements = fields["elements"]
        self.shape = shape
        self.flops = 2 * m * n * k
        self._n_by_k = bool(fields["n_by_k"])
        self._form = find_form(fields["form"])
        self._sparse = bool(fields["sparse"])
        shape_a = (m, k // 2) if self._sparse else (m, k)
        shape_b = (n, k) if self._n_by_k else (k, n)
        inputs = (prod(shape_a) + k * n) * BYTES[elements["a"]]
        count = set_count(cuda, inputs, inputs + m * n * BYTES[elements["d"]])
        self.sets = [
            {
                "a": Matrix(cuda, shape_a, elements["a"], seed=3 * number),
                "b": Matrix(cuda, shape_b, elements["b"], seed=3 * number + 1),
                "d": Matrix(cuda, (m, n), elements["d"]),
            }
            for number in range(count)
        ]
        if self._sparse:
            for number, matrices in enumerate(self.sets):
                seed = 3 * number + 2
                matrices["e"] = Matrix(cuda, (m, k // 8), "i8", seed=seed, pool="codes:4")

    def grid(self, fields: Mapping[str, Any]) -> tuple[int, int, int]:
        """A CTA for each tile, row by row of tiles; those of level 2 find their places alone."""
        (m, n, _), (rows, cols, _) = self.shape, fields["tile"]
        down, across = m // rows, n // cols
        return (across, down, 1) if fields["level"] == 1 else (down * across, 1, 1)

    def error(self) -> float:
        """The largest error of some elements, over the root of the sum of squared products."""
        a, b, d = (self.sets[0][name] for name in "abd")
        m, n, k = self.shape
        rows = np.unique(np.linspace(0, m - 1, 8).astype(int))
        cols = np.unique(np.linspace(0, n - 1, 64).astype(int))
        along = np.arange(k)
        left = self._left(rows) if self._sparse else a.numbers(rows, along)
        right = b.numbers(cols, along).T if self._n_by_k else b.numbers(along, cols)
        size = np.sqrt((left**2) @ (right**2)) + 1e-30
        found = np.abs(d.read(rows)[:, cols] - left @ right) / size
        return float(np.inf if np.isnan(found).any() else found.max())

    def _left(self, rows: np.ndarray) -> np.ndarray:
        """Rows of the matrix that a sparse A stands for."""
        a, e = self.sets[0]["a"], self.sets[0]["e"]
        packed = e.stored(rows, np.arange(e.shape[1]))
        codes = np.concatenate([packed & 15, packed >> 4], axis=-1).reshape(len(rows), -1)
        assert isinstance(self._form, Mma)
        return expand(self._form, a.numbers(rows, np.arange(a.shape[1])), codes)


def takes(fields: Mapping[str, Any], shape: Shape) -> bool:
    """Whether a shape is made of whole tiles of a kernel."""
    rows, cols, deep = fields["tile"]
    m, n, k = shape
    return not (m % (rows * fields["group"]) or n % cols or k % deep)


def run(
    cuda: Cuda,
    pack: Pack,
    peers: Peers,
    *,
    shapes: Sequence[Shape],
    rounds: int,
    sampler: Sampler,
    until: float,
    dtypes: Sequence[str] | None = None,
    kernels: Loaded | None = None,
) -> Iterator[Row]:
    """Rows of every shape and element type.

    Args:
        cuda: the GPU.
        pack: the kernels.
        peers: what else is timed.
        shapes: M, N and K.
        rounds: measurements of each.
        sampler: of the clocks.
        until: when to begin no further problem, as `time.monotonic` counts.
        dtypes: types to time; all where None.
        kernels: that are timed; the pack's where None.
    """
    kernels = kernels or Loaded(cuda, pack, "gemm")
    for shape in shapes:
        for dtype in kernels.dtypes if dtypes is None else dtypes:
            fitting = [f for f in kernels.described if f["dtype"] == dtype and takes(f, shape)]
            if not fitting:
                continue
            if time.monotonic() > until:
                yield {"dtype": dtype, "shape": list(shape), "skipped": "out of time"}
                continue
            chosen = [kernels[fields["name"]] for fields in fitting]
            problem = GemmProblem(cuda, shape, fitting[0])
            yield from compare(cuda, problem, chosen, peers, rounds, sampler)

"""The section `attention`: softmax(Q·Kᵀ)·V beside PyTorch's and Triton's."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from .compare import Loaded, Peers, Problem, compare, set_count
from .driver import Cuda
from .machine import Sampler
from .matrix import BYTES, Matrix
from .pack import Pack

Row = dict[str, Any]
Shape = tuple[int, int, int]


class AttentionProblem(Problem):
    """Attention of heads that each have as many keys as queries; see `compare.Problem`.

    Args:
        cuda: the GPU.
        shape: heads (of all batches), queries, and the heads' dimension.
        fields: what the pack says of a kernel that takes such matrices.
    """

    def __init__(self, cuda: Cuda, shape: Shape, fields: Mapping[str, Any]) -> None:
        heads, queries, dimension = shape
        element = fields["elements"]["q"]
        self.shape = shape
        self.causal = bool(fields["causal"])
        # A query that looks at earlier keys alone looks at half of them.
        self.flops = 4 * heads * queries**2 * dimension // (2 if self.causal else 1)
        self.scalars = {"scale": math.log2(math.e) / math.sqrt(dimension)}
        one = math.prod(shape) * BYTES[element]
        self.sets = [
            {
                **{
                    name: Matrix(cuda, shape, element, seed=3 * number + at)
                    for at, name in enumerate("qkv")
                },
                "o": Matrix(cuda, shape, element),
            }
            for number in range(set_count(cuda, 3 * one, 4 * one))
        ]

    def grid(self, fields: Mapping[str, Any]) -> tuple[int, int, int]:
        """A CTA for each tile of queries of each head."""
        heads, queries, _ = self.shape
        return (queries // fields["tile"][0], heads, 1)

    def error(self) -> float:
        """The largest error of some queries of the last head, over the deviation of the result."""
        heads, queries, dimension = self.shape
        first = (heads - 1) * queries
        chosen = np.unique(np.linspace(0, queries - 1, 8).astype(int))
        along = np.arange(dimension)
        q = self.sets[0]["q"].numbers(first + chosen, along)
        k, v = (self.sets[0][n].numbers(first + np.arange(queries), along) for n in "kv")
        scores = q @ k.T * self.scalars["scale"]
        if self.causal:
            scores[np.arange(queries) > chosen[:, None]] = -np.inf
        powers = np.exp2(scores - scores.max(axis=1, keepdims=True))
        want = powers @ v / powers.sum(axis=1, keepdims=True)
        found = np.abs(self.sets[0]["o"].read(first + chosen) - want)
        size = np.sqrt((want**2).mean(axis=1, keepdims=True))
        return float(np.inf if np.isnan(found).any() else (found / size).max())


def run(
    cuda: Cuda,
    pack: Pack,
    peers: Peers,
    *,
    problems: Sequence[tuple[int, int]],
    rounds: int,
    sampler: Sampler,
    until: float,
    dtypes: Sequence[str] | None = None,
    kernels: Loaded | None = None,
) -> Iterator[Row]:
    """Rows of every kernel and problem.

    Args:
        cuda: the GPU.
        pack: the kernels.
        peers: what else is timed.
        problems: heads and queries.
        rounds: measurements of each.
        sampler: of the clocks.
        until: when to begin no further problem, as `time.monotonic` counts.
        dtypes: kinds to time; all where None.
        kernels: that are timed; the pack's where None.
    """
    kernels = kernels or Loaded(cuda, pack, "attention")
    for heads, queries in problems:
        for dtype in kernels.dtypes if dtypes is None else dtypes:
            fitting = [f for f in kernels.described if f["dtype"] == dtype]
            fitting = [f for f in fitting if not (queries % f["tile"][0] or queries % f["tile"][1])]
            if not fitting:
                continue
            shape = (heads, queries, fitting[0]["dimension"])
            if time.monotonic() > until:
                yield {"dtype": dtype, "shape": list(shape), "skipped": "out of time"}
                continue
            chosen = [kernels[fields["name"]] for fields in fitting]
            problem = AttentionProblem(cuda, shape, fitting[0])
            yield from compare(cuda, problem, chosen, peers, rounds, sampler)

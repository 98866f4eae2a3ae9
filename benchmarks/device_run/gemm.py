"""The section `gemm`: GEMMs of tilec beside cuBLAS and Triton, on the same matrices, in turns."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from .arguments import values
from .driver import Cuda
from .machine import Sampler
from .matrix import BYTES, Matrix
from .pack import Pack
from .timing import Time, Work, measure

Row = dict[str, Any]
Shape = tuple[int, int, int]

MEMORY = 24 << 30
"""Bytes that the matrices of one problem may take."""

SETS = 12
"""Sets of inputs, at most."""


class Problem:
    """Matrices of a GEMM, several sets of them so that L2 holds none between two uses.

    Args:
        cuda: the GPU.
        shape: M, N and K.
        kernel: what the pack says of a kernel that takes such matrices.
    """

    def __init__(self, cuda: Cuda, shape: Shape, kernel: Mapping[str, Any]) -> None:
        m, n, k = shape
        elements = kernel["elements"]
        self.shape = shape
        self.n_by_k = bool(kernel["n_by_k"])
        shape_b = (n, k) if self.n_by_k else (k, n)
        inputs = (m * k + k * n) * BYTES[elements["a"]]
        whole = inputs + m * n * BYTES[elements["d"]]
        wanted = -(-3 * cuda.limits["l2_bytes"] // inputs)
        count = max(1, min(SETS, wanted, MEMORY // whole))
        self.sets = [
            {
                "a": Matrix(cuda, (m, k), elements["a"], seed=3 * number),
                "b": Matrix(cuda, shape_b, elements["b"], seed=3 * number + 1),
                "d": Matrix(cuda, (m, n), elements["d"]),
            }
            for number in range(count)
        ]

    def error(self) -> float:
        """The largest error of some of the first result, over the root of the sum of squares."""
        a, b, d = (self.sets[0][name] for name in "abd")
        m, n, k = self.shape
        rows = np.unique(np.linspace(0, m - 1, 8).astype(int))
        cols = np.unique(np.linspace(0, n - 1, 64).astype(int))
        along = np.arange(k)
        left = a.numbers(rows, along)
        right = b.numbers(cols, along).T if self.n_by_k else b.numbers(along, cols)
        size = np.sqrt((left**2) @ (right**2)) + 1e-30
        found = np.abs(d.read(rows)[:, cols] - left @ right) / size
        return float(np.inf if np.isnan(found).any() else found.max())

    def free(self) -> None:
        """Give the memory back."""
        for matrices in self.sets:
            for matrix in matrices.values():
                matrix.free()


class Gemm:
    """A compiled GEMM, loaded.

    Args:
        cuda: the GPU.
        pack: where it is.
        fields: what the pack says of it.
    """

    def __init__(self, cuda: Cuda, pack: Pack, fields: Mapping[str, Any]) -> None:
        self._cuda = cuda
        self.fields = fields
        self._module = cuda.load(pack.text(f"kernels/{fields['name']}.ptx"))
        self.function = cuda.function(self._module, fields["kernel"], fields["dynamic_shared"])

    def takes(self, shape: Shape) -> bool:
        """Whether a shape is made of whole tiles."""
        rows, cols, deep = self.fields["tile"]
        m, n, k = shape
        return not (m % (rows * self.fields["group"]) or n % cols or k % deep)

    def work(self, problem: Problem) -> Work:
        """Launches on the sets of a problem."""
        m, n, _ = problem.shape
        rows, cols, _ = self.fields["tile"]
        grid = (m // rows * (n // cols), 1, 1)
        ready = [values(self.fields["arguments"], matrices) for matrices in problem.sets]

        def launch(number: int) -> None:
            self._cuda.launch(self.function, grid, self.fields["block"], ready[number])

        return launch

    def unload(self) -> None:
        """Give the module back."""
        self._cuda.unload(self._module)


def run(
    cuda: Cuda,
    pack: Pack,
    peers: Any,
    *,
    shapes: Sequence[Shape],
    rounds: int,
    sampler: Sampler,
    until: float,
) -> Iterator[Row]:
    """Rows of every element type and shape.

    Args:
        cuda: the GPU.
        pack: the kernels.
        peers: gives, for a problem, what else to time: `works(problem, fields)`, by name.
        shapes: M, N and K.
        rounds: measurements of each.
        sampler: of the clocks.
        until: when to begin no further problem, as `time.monotonic` counts.
    """
    kernels = [fields for fields in pack.kernels() if fields["work"] == "gemm"]
    for shape in shapes:
        for dtype in dict.fromkeys(fields["dtype"] for fields in kernels):
            if time.monotonic() > until:
                yield {"dtype": dtype, "shape": list(shape), "skipped": "out of time"}
                continue
            members = [Gemm(cuda, pack, f) for f in kernels if f["dtype"] == dtype]
            yield from _problem(cuda, members, peers, shape, rounds, sampler)
            for member in members:
                member.unload()


def _problem(
    cuda: Cuda, members: Sequence[Gemm], peers: Any, shape: Shape, rounds: int, sampler: Sampler
) -> Iterator[Row]:
    fitting = [member for member in members if member.takes(shape)]
    if not fitting:
        return
    problem = Problem(cuda, shape, fitting[0].fields)
    try:
        works = {member.fields["name"]: member.work(problem) for member in fitting}
        errors = {}
        for name, work in works.items():
            work(0)
            cuda.synchronize()
            errors[name] = problem.error()
        others = peers.works(problem, fitting[0].fields)
        start = time.monotonic()
        times = measure(cuda, {**works, **others}, len(problem.sets), rounds)
        clocks = sampler.since(start)
        for member in fitting:
            name = member.fields["name"]
            row = _row(member, problem, times, others, errors[name])
            yield {**row, "clocks": clocks}
    finally:
        problem.free()


def _row(
    member: Gemm,
    problem: Problem,
    times: Mapping[str, Time],
    others: Mapping[str, Work],
    error: float,
) -> Row:
    m, n, k = problem.shape
    fields = member.fields
    mine = times[fields["name"]]

    def rate(time_: Time) -> float:
        return round(2 * m * n * k / time_.median / 1e9, 2)

    return {
        "work": "gemm",
        "kernel": fields["name"],
        "dtype": fields["dtype"],
        "shape": [m, n, k],
        "ms": mine.median,
        "ms_least": mine.least,
        "ms_most": mine.most,
        "tflops": rate(mine),
        "peers": {name: {"ms": times[name].median, "tflops": rate(times[name])} for name in others},
        "error": error,
        "right": error <= fields["tolerance"],
        "registers": member.function.registers,
        "local_bytes": member.function.local_bytes,
        "configuration": fields["configuration"],
        "level": fields["level"],
        "sets": len(problem.sets),
    }

"""The kernels that are mutated, and their launches."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from tilec.launch.simulated import SMS

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
Arrays = list[np.ndarray[Any, Any]]
Shapes = tuple[tuple[tuple[int, ...], str], ...]


@dataclass(frozen=True)
class Launch:
    """What a kernel is launched with.

    Attributes:
        grid: CTAs.
        arrays: shapes and types of its arrays; the last is the result.
        scalars: its other arguments, which follow.
        sms: SMs that a persistent kernel is launched for.
    """

    grid: tuple[int, ...]
    arrays: Shapes
    scalars: tuple[int, ...] = ()
    sms: int = SMS

    def values(self) -> Arrays:
        """Whole numbers, and zeros for the result."""
        rng = np.random.default_rng(0)
        found = [rng.integers(-4, 5, s).astype(t) for s, t in self.arrays[:-1]]
        shape, type_ = self.arrays[-1]
        return [*found, np.zeros(shape, type_)]


@dataclass(frozen=True)
class Kernel:
    """A kernel to mutate.

    Attributes:
        path: in `examples`.
        target: compiled for this.
        name: of its kernel.
        expected: its result by numpy, for the values of its arrays.
        launches: the first, and others with what the first does not reach: as many stages as
            the ring has and more, all columns, several tiles a CTA.
        depths: a launch for each number of stages from none to twice the ring's, for proofs.
        assumed: for proofs, instructions whose result launches determine, and what gives it.
    """

    path: str
    target: str
    name: str
    expected: Callable[[Arrays], np.ndarray[Any, Any]]
    launches: tuple[Launch, ...]
    depths: tuple[Launch, ...] = ()
    assumed: tuple[tuple[str, str], ...] = ()


def product(values: Arrays) -> np.ndarray[Any, Any]:
    """A·B, exact: the inputs are small whole numbers."""
    a, b, c = values
    return (a.astype(np.float64) @ b.astype(np.float64)).astype(c.dtype)


def product_transposed(values: Arrays) -> np.ndarray[Any, Any]:
    """A·Bᵀ of the rows, columns and depths that all arrays have; the others are read as 0."""
    a, b, c = values
    found = np.zeros(c.shape)
    depth, rows, columns = min(a.shape[1], b.shape[1]), *np.minimum(c.shape, (len(a), len(b)))
    found[:rows, :columns] = a[:rows, :depth].astype(float) @ b[:columns, :depth].astype(float).T
    return found.astype(c.dtype)


def one_panel(values: Arrays) -> np.ndarray[Any, Any]:
    """A·Bᵀ of the first 128 columns, which one cluster computes."""
    found = product_transposed(values)
    found[:, 128:] = 0
    return found


def softmax(values: Arrays) -> np.ndarray[Any, Any]:
    """The softmax of each row."""
    of = values[0].astype(np.float64)
    powers = np.exp(of - of.max(axis=1, keepdims=True))
    return (powers / powers.sum(axis=1, keepdims=True)).astype(values[-1].dtype)


def agrees(result: np.ndarray[Any, Any], expected: np.ndarray[Any, Any]) -> bool:
    """Whether a result is numpy's: sums of whole numbers exactly, `exp` to 1e-5."""
    exact = bool(np.array_equal(expected, np.rint(expected)))
    return bool(np.allclose(result, expected, rtol=0 if exact else 1e-5, atol=0, equal_nan=False))


def _gemm(m: int, n: int, k: int, a: str = "float16", c: str = "float32") -> Shapes:
    return ((m, k), a), ((k, n), a), ((m, n), c)


def _transposed(m: int, n: int, k: int, a: str = "float16", c: str = "float16") -> Shapes:
    return ((m, k), a), ((n, k), a), ((m, n), c)


def _rows(rows: int, columns: int) -> Shapes:
    return ((rows, columns), "float32"), ((rows, columns), "float32")


KERNELS = (
    Kernel("gemm.mlir", "sm_80", "gemm", product, (Launch((1, 1), _gemm(128, 128, 192)),)),
    Kernel(
        "gemm_bounds.mlir", "sm_80", "gemm_bounds", product,
        (Launch((1, 1), _gemm(100, 72, 80)), Launch((1, 1), _gemm(100, 72, 400))),
    ),
    Kernel("warp_gemm.mlir", "sm_80", "warp_gemm", product, (Launch((1, 1), _gemm(16, 16, 128)),)),
    Kernel(
        "kernels/gemm.mlir", "sm_80", "gemm", product, (Launch((1, 1), _gemm(128, 128, 192)),),
        tuple(Launch((1, 1), _gemm(128, 128, 64 * k)) for k in range(7)),
    ),
    Kernel(
        "kernels/gemm_int8.mlir", "sm_80", "gemm_int8", product_transposed,
        (Launch((1, 1), _gemm(128, 128, 256, "int8", "int32")),),
    ),
    Kernel(
        "kernels/split_k_gemm.mlir", "sm_80", "split_k_gemm", product,
        (Launch((1, 1, 2), _gemm(128, 128, 256), (128,)),
         Launch((1, 1, 2), _gemm(128, 128, 768), (384,))),
    ),
    Kernel(
        "kernels/softmax.mlir", "sm_80", "softmax", softmax,
        (Launch((2,), _rows(2, 700)), Launch((2,), _rows(2, 1000))),
    ),
    Kernel(
        "hopper/gemm.mlir", "sm_90a", "gemm", product_transposed,
        (Launch((1, 1), _gemm(128, 256, 512, c="float16")),),
    ),
    Kernel(
        "hopper/gemm_cluster.mlir", "sm_90a", "gemm", one_panel,
        (Launch((2, 1), _gemm(256, 256, 512, c="float16")),),
    ),
    Kernel(
        "hopper/tiles.mlir", "sm_90a", "gemm_tiles", product_transposed,
        (Launch((1, 1), _gemm(128, 128, 512, c="float16")),
         Launch((3, 2), _transposed(256, 768, 128), sms=2)),
        # K is an extent of tensor maps, which cuTensorMapEncodeTiled takes from 1.
        assumed=(("setp.lt.s64 %p5, %rd12, 1;", "mov.pred %p5, 0;"),),
    ),
)  # fmt: skip
"""Ten, with every kind of synchronisation that examples have."""

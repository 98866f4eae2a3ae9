"""Triton's side of `sim_speed.py`: the GEMM of `examples/gemm.mlir` in Triton's interpreter.

    python triton_interpreter.py M N K BM BN BK

runs the product of these sizes with this tile at every line of standard input, and reports the
seconds.

The interpreter wants tensors of torch, of which it uses a few methods; arrays of numpy that have
them do as well, without torch.
"""

from __future__ import annotations

import json
import os
import sys
import time
from typing import Any

os.environ["TRITON_INTERPRET"] = "1"

import numpy as np
import triton
from triton_kernels import gemm


class Tensor:
    """An array with what the interpreter asks of a tensor on the CPU."""

    def __init__(self, array: Any) -> None:
        self.array = array
        self.dtype = {"float16": "fp16", "float32": "fp32"}[array.dtype.name]

    def data_ptr(self) -> int:
        return int(self.array.ctypes.data)

    def untyped_storage(self) -> Tensor:
        return self

    cpu = untyped_storage

    def new_empty(self, *_: Any, **__: Any) -> Tensor:
        return Tensor(self.array)

    def set_(self, storage: Tensor, *_: Any) -> None:
        self.array = storage.array

    def copy_(self, _: Any) -> None:
        """Nothing: host and device are one."""

    def storage_offset(self) -> int:
        return 0

    size = stride = storage_offset


def main() -> None:
    m, n, k, bm, bn, bk = map(int, sys.argv[1:])
    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal(s).astype(np.float16) for s in ((m, k), (k, n)))
    exact = a.astype(np.float64) @ b.astype(np.float64)
    for _ in sys.stdin:
        c = np.zeros((m, n), np.float32)
        tensors = [Tensor(x) for x in (a, b, c)]
        start = time.perf_counter()
        gemm[n // bn, m // bm](*tensors, k, k, n, n, bm=bm, bn=bn, bk=bk)
        seconds = time.perf_counter() - start
        assert np.abs(c - exact).max() < 1e-2
        print(json.dumps({"seconds": seconds, "version": triton.__version__}), flush=True)


if __name__ == "__main__":
    main()

"""A product in Python: batches, both operands as they are or transposed, K whole or in parts."""

from __future__ import annotations

from typing import Any

import tilec
import tilec.lang as tl

Matrices = tl.Array[Any, int, int, int]


@tilec.kernel
def product(
    a: Matrices,
    b: Matrices,
    d: Matrices,
    part: tl.Size,
    A_TURNED: tl.Constant[bool],  # noqa: N803
    B_TURNED: tl.Constant[bool],  # noqa: N803
    SPLIT: tl.Constant[bool],  # noqa: N803
    BM: tl.Constant[int],  # noqa: N803
    BN: tl.Constant[int],  # noqa: N803
    BK: tl.Constant[int],  # noqa: N803
) -> None:
    """A is MxK, or KxM, B KxN, or NxK; every CTA along z has a matrix, or adds a part of K."""
    row, col = tl.program_id(1) * BM, tl.program_id(0) * BN
    i = 0 if SPLIT else tl.program_id(2)
    depth = a.shape[1] if A_TURNED else a.shape[2]
    first = tl.program_id(2) * part if SPLIT else 0
    last = min(first + part, depth) if SPLIT else depth
    held_a = tl.tfloat32 if a.dtype is tl.float32 else a.dtype
    held_b = tl.tfloat32 if b.dtype is tl.float32 else b.dtype
    acc = tl.zeros((BM, BN), tl.int32 if a.dtype is tl.int8 else tl.float32)
    for k in range(first, last, BK):
        if A_TURNED:
            x = tl.load(a, (i, k, row), (BK, BM), dtype=held_a).T
        else:
            x = tl.load(a, (i, row, k), (BM, BK), dtype=held_a)
        if B_TURNED:
            y = tl.load(b, (i, col, k), (BN, BK), dtype=held_b).T
        else:
            y = tl.load(b, (i, k, col), (BK, BN), dtype=held_b)
        acc = tl.dot(x, y, acc)
    if SPLIT:
        tl.atomic_add(d, (0, row, col), acc)
    else:
        tl.store(d, (i, row, col), acc.astype(d.dtype))

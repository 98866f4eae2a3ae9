"""Rows of a table at indices, and their gradients added up where the rows came from."""

from typing import Any

import numpy as np
import tilec
import tilec.lang as tl


@tilec.kernel
def embedding(
    table: tl.Array[tl.float16, int, int],
    tokens: tl.Array[tl.int32, int],
    out: tl.Array[tl.float16, int, int],
    ROWS: tl.Constant[int] = 32,
    COLS: tl.Constant[int] = 64,
) -> None:
    first = tl.program_id(0) * ROWS
    rows = tl.load(tokens, first, ROWS)
    for col in range(0, table.shape[1], COLS):
        tl.store(out, (first, col), tl.load(table, (rows, col), (ROWS, COLS)))


@tilec.kernel
def embedding_backward(
    tokens: tl.Array[tl.int32, int],
    grad: tl.Array[tl.float16, int, int],
    grad_table: tl.Array[tl.float32, int, int],
    padding: int,
    ROWS: tl.Constant[int] = 32,
    COLS: tl.Constant[int] = 64,
) -> None:
    first = tl.program_id(0) * ROWS
    rows = tl.load(tokens, first, ROWS, fill=-1)
    counts = (rows != padding)[:, None]
    for col in range(0, grad.shape[1], COLS):
        wide = tl.load(grad, (first, col), (ROWS, COLS)).astype(tl.float32)
        tl.atomic_add(grad_table, (rows, col), wide, mask=counts)


def check(**settings: Any) -> None:
    """Run both, and compare with numpy."""
    random = np.random.default_rng(0)
    table = random.standard_normal((37, 100)).astype(np.float16)
    tokens = random.integers(0, 37, 75).astype(np.int32)
    out = np.empty((75, 100), np.float16)
    embedding.using(**settings)[tl.cdiv(75, 32)](table, tokens, out)
    np.testing.assert_array_equal(out, table[tokens])

    grad = random.integers(-8, 9, out.shape).astype(np.float16)
    grad_table = np.zeros(table.shape, np.float32)
    expected = np.zeros_like(grad_table)
    embedding_backward.using(**settings)[tl.cdiv(75, 32)](tokens, grad, grad_table, 3)
    np.add.at(expected, tokens[tokens != 3], grad[tokens != 3].astype(np.float32))
    np.testing.assert_array_equal(grad_table, expected)


if __name__ == "__main__":
    check()

"""The K largest of each row, with where they are, as a router of experts wants them."""

from typing import Any

import numpy as np
import tilec
import tilec.lang as tl


@tilec.kernel
def topk(
    x: tl.Array[tl.float16, int, int],
    values: tl.Array[tl.float16, int, int],
    places: tl.Array[tl.int32, int, int],
    ROWS: tl.Constant[int],
    COLS: tl.Constant[int],
    K: tl.Constant[int],
) -> None:
    row = tl.program_id(0) * ROWS
    held = tl.load(x, (row, 0), (ROWS, COLS), fill=-np.inf)
    _, across = tl.indices((ROWS, COLS))
    ordered, order = tl.sort_by(held, across, descending=True)
    tl.store(values, (row, 0), ordered[:, :K])
    tl.store(places, (row, 0), order[:, :K])


def check(**settings: Any) -> None:
    """Run it, and compare with numpy."""
    x = np.random.default_rng(0).integers(-50, 50, (27, 60)).astype(np.float16)
    values, places = np.empty((27, 8), np.float16), np.empty((27, 8), np.int32)
    topk.using(**settings)[tl.cdiv(27, 8)](x, values, places, ROWS=8, COLS=64, K=8)
    expected = np.argsort(-x, axis=1, kind="stable")[:, :8]
    np.testing.assert_array_equal(places, expected)
    np.testing.assert_array_equal(values, np.take_along_axis(x, expected, 1))


if __name__ == "__main__":
    check()

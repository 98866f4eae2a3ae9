"""What follows a product at level 2: arithmetic on tensors, casts, ways out to memory."""

from typing import Any

import numpy as np
import pytest
import tilec
from tilec.dialects.tile import builders as tile
from tilec.ir.mlir import dialect
from tilec.layout.tiling import row_tile

FORM = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
DEPTH = 32


def relu(way: str, target: str, rows: int, cols: int, warps: tuple[int, int]) -> Any:
    """D = relu(alpha · A·B + C) in f16, stored from accumulators or row by row.

    Args:
        way: `direct`; `converted` to rows by the compiler; through a buffer by hand, `buffer`,
            or `transposed` in it.
        target: stmatrix exists from sm_90 on.
        rows: of the tile, which is all of D.
        cols: its columns.
        warps: along M and N.
    """
    arith, gpu = dialect("arith"), dialect("gpu")
    count = warps[0] * warps[1]
    memory = {
        "a": f"memref<{rows}x{DEPTH}xf16>",
        "b": f"memref<{DEPTH}x{cols}xf16>",
        "c": f"memref<{rows}x{cols}xf32>",
        "d": f"memref<{rows}x{cols}xf16>",
        "alpha": "f32",
    }
    with (
        tile.module("m", target=target) as module,
        tile.kernel("relu", memory, block=32 * count) as (a, b, c, d, alpha),
    ):
        tile_a = tile.operand_tensor(FORM, "a", rows, DEPTH, warps=warps)
        tile_b = tile.operand_tensor(FORM, "b", DEPTH, cols, warps=warps)
        tile_c = tile.operand_tensor(FORM, "c", rows, cols, warps=warps)
        half = tile.tensor_type((rows, cols), "f16", tile_c.encoding.text.value)
        by_rows = tile.tensor_type((rows, cols), "f16", row_tile(rows, cols, 8, count))

        fa, fb = tile.load(a, 0, 0, type=tile_a), tile.load(b, 0, 0, type=tile_b)
        product = tile.dot(FORM, fa, fb, tile.fill(0.0, tile_c))
        scaled = arith.mulf(product, tile.fill(alpha, tile_c))
        total = arith.addf(scaled, tile.load(c, 0, 0, type=tile_c, vector=2))
        result = arith.truncf(half, arith.maximumf(total, tile.fill(0.0, tile_c)))
        match way:
            case "direct":
                tile.store(result, d, 0, 0, vector=2)
            case "converted":
                converted = tile.convert_layout(result, row_tile(rows, cols, 8, count))
                tile.store(converted, d, 0, 0, vector=8)
            case "buffer" | "transposed":
                turned = way == "transposed"
                shape = (cols, rows) if turned else (rows, cols)
                buffer = tile.alloc_shared(shape, "f16", "128B")
                tile.store(result, buffer, 0, 0, transposed=turned)
                gpu.barrier()
                held = tile.load(buffer, 0, 0, type=by_rows, transposed=turned)
                tile.store(held, d, 0, 0, vector=8)
    return tilec.compile(module)


@pytest.mark.parametrize("way", ["direct", "converted", "buffer", "transposed"])
@pytest.mark.parametrize("target", ["sm_80", "sm_90a"])
@pytest.mark.parametrize(
    ("rows", "cols", "warps"), [(64, 64, (2, 2)), (16, 128, (1, 4)), (32, 64, (1, 1))]
)
def test_relu(
    run: Any, rng: Any, way: str, target: str, rows: int, cols: int, warps: tuple[int, int]
) -> None:
    a, b = rng.integers(-4, 5, (rows, DEPTH)), rng.integers(-4, 5, (DEPTH, cols))
    c, d = rng.integers(-99, 99, (rows, cols)), np.zeros((rows, cols), np.float16)
    arrays = [a.astype(np.float16), b.astype(np.float16), c.astype(np.float32), d, np.float32(0.5)]
    report = run(relu(way, target, rows, cols, warps), "relu", (1,), arrays, target=target)
    np.testing.assert_array_equal(d, np.maximum(0.5 * (a @ b) + c, 0).astype(np.float16))
    through_matrices = target == "sm_90a" and way != "direct"
    assert ("stmatrix" in report.instructions) == through_matrices

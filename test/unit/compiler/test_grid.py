"""Kernels whose grid follows from their arguments are launched without one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tilec
from tilec.isa import LaunchError
from tilec.launch.abi import Abi, Extent, KernelEntry
from tilec.tools import tile_run

PRODUCT = """
func.func @product(%a: memref<?x?x?xf16>, %b: memref<?x?x?xf16>, %c: memref<?x?x?xf32>) {
  linalg.batch_matmul ins(%a, %b : memref<?x?x?xf16>, memref<?x?x?xf16>)
      outs(%c : memref<?x?x?xf32>)
  return
}
"""
OTHER = """
gpu.module @m {
  gpu.func @other() kernel attributes {known_block_size = array<i32: 32, 1, 1>} { gpu.return }
}
"""


@pytest.fixture(scope="module")
def product() -> Any:
    return tilec.compile(PRODUCT)


def arrays(batch: int, m: int, n: int, k: int) -> tuple[Any, Any, Any]:
    random = np.random.default_rng(0)
    a, b = (
        random.integers(-4, 5, shape).astype(np.float16) for shape in ((batch, m, k), (batch, k, n))
    )
    return a, b, np.zeros((batch, m, n), np.float32)


@pytest.mark.parametrize("extents", [(2, 130, 257, 70), (1, 1, 1, 1), (3, 0, 5, 4), (0, 5, 5, 5)])
def test_the_grid_follows_from_the_arguments(product: Any, extents: tuple[int, ...]) -> None:
    a, b, c = arrays(*extents)
    product.launch(a, b, c, device="sim")
    np.testing.assert_array_equal(c, a.astype(np.float64) @ b.astype(np.float64))


def test_a_grid_that_is_given_holds(product: Any) -> None:
    a, b, c = arrays(1, 130, 4, 4)
    product.launch(a, b, c, grid=1, device="sim")
    assert c[0, :128].any()
    assert not c[0, 128:].any()


def test_without_either_the_user_is_asked() -> None:
    with pytest.raises(LaunchError, match="does not fix its grid; give one"):
        tilec.compile(OTHER).launch(device="sim")


def test_json(product: Any) -> None:
    (kernel,) = Abi.parse(str(product.abi)).kernels
    assert kernel == product.kernels[0]
    assert kernel.grid == ((Extent(2, 2, 128),), (Extent(2, 1, 128),), (Extent(2, 0, 1),))


def test_axes_multiply() -> None:
    kernel = KernelEntry("k", (), grid=((Extent(0, 0, 3), Extent(0, 1, 1)), (), (Extent(1, 0, 2),)))
    assert kernel.ctas([(7, 4), (0,)]) == (12, 1, 1)


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program = tmp_path / "product.mlir"
    program.write_text(PRODUCT.replace("x?x?xf", "x?xf").replace("batch_", ""))
    arguments = [
        f"--arg={spec}" for spec in ("randn:130x9:f16", "randn:9x3:f16", "zeros:130x3:f32")
    ]
    assert tile_run.main([str(program), "--device=sim", "--check=gemm", *arguments]) == 0
    assert "check gemm: argument 2: largest difference" in capsys.readouterr().out

"""The examples on a GPU: numpy's product, and bit by bit what the simulator gives for that GPU."""

from pathlib import Path

import numpy as np
import pytest
import tilec
from tilec.sim import launch

EXAMPLES = Path(__file__).parents[2] / "examples"

pytestmark = pytest.mark.device


def _gemm(m: int, n: int, k: int):
    rng = np.random.default_rng(m + n + k)
    a = rng.standard_normal((m, k)).astype(np.float16)
    b = rng.standard_normal((k, n)).astype(np.float16)
    return a, b, np.zeros((m, n), np.float32)


@pytest.mark.parametrize(("m", "n", "k"), [(128, 128, 64), (256, 384, 192), (512, 512, 512)])
def test_gemm(gpu, launch_on_gpu, m, n, k):
    compiled = tilec.compile(EXAMPLES / "gemm.mlir", target=gpu)
    (kernel,) = compiled.kernels
    a, b, c = _gemm(m, n, k)
    simulated = c.copy()

    def arguments(result):
        return [a, m, k, k, b, k, n, n, result, m, n, n]

    grid = (n // 128, m // 128, 1)
    shared = kernel.dynamic_shared
    launch_on_gpu(compiled.ptx, kernel.name, grid, kernel.block, arguments(c), shared)
    product = a.astype(np.float64) @ b.astype(np.float64)
    assert np.allclose(c, product, rtol=1e-3, atol=1e-2)
    launch(
        compiled.ptx,
        kernel.name,
        grid,
        kernel.block,
        arguments(simulated),
        arch=gpu,
        dynamic_smem=shared,
    )
    assert (c.view(np.uint32) == simulated.view(np.uint32)).all()


def test_one_instruction(gpu, launch_on_gpu):
    compiled = tilec.compile(EXAMPLES / "mma.mlir", target=gpu)
    (kernel,) = compiled.kernels
    rng = np.random.default_rng(1)
    a = rng.standard_normal((16, 16)).astype(np.float16)
    b = rng.standard_normal((8, 16)).astype(np.float16)
    c = rng.standard_normal((16, 8)).astype(np.float32)
    on_gpu, simulated = np.zeros_like(c), np.zeros_like(c)
    launch_on_gpu(compiled.ptx, kernel.name, (1, 1, 1), kernel.block, [a, b, c, on_gpu], 0)
    launch(compiled.ptx, kernel.name, (1, 1, 1), kernel.block, [a, b, c, simulated], arch=gpu)
    assert np.allclose(on_gpu, a.astype(float) @ b.T.astype(float) + c, rtol=1e-3, atol=1e-2)
    assert (on_gpu.view(np.uint32) == simulated.view(np.uint32)).all()

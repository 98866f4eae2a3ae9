"""CUDA C++ compiled by nvcc runs unchanged and gives what numpy gives, with no finding."""

from __future__ import annotations

import math
import shutil
import subprocess
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from tilec.sim import Module, launch, read

HERE = Path(__file__).parent

pytestmark = pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is not installed")


def compiled(name: str, folder: Path, *options: str) -> Module:
    target = folder / f"{name}.ptx"
    source = HERE / f"{name}.cu"
    command = ["nvcc", "-arch=sm_80", *options, "-ptx", source, "-o", target]
    subprocess.run(command, check=True, capture_output=True)
    return read(target)


@pytest.fixture(scope="module")
def features(tmp_path_factory: pytest.TempPathFactory) -> Module:
    return compiled("features", tmp_path_factory.mktemp("ptx"), "-lineinfo")


@pytest.fixture(scope="module")
def gemm(tmp_path_factory: pytest.TempPathFactory) -> Module:
    return compiled("gemm", tmp_path_factory.mktemp("ptx"))


@pytest.fixture(scope="module", params=[(), ("-G",)], ids=["optimised", "debug"])
def library(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Module:
    return compiled("library", tmp_path_factory.mktemp("ptx"), "-std=c++17", *request.param)


def parameters(n: int, bias: list[float]) -> np.void:
    packed = np.zeros(1, [("n", "i4"), ("bias", "f4", 3)])
    packed["n"], packed["bias"] = n, bias
    return packed[0]  # type: ignore[no-any-return]


def test_calls_tables_and_printf(features: Module) -> None:
    n = 300
    x = np.random.default_rng(0).integers(0, 9, n).astype(np.float32)
    y = np.zeros(n + 1, np.float32)
    report = launch(features, "features", 2, 256, [y, x, parameters(n, [1, 2, 3])]).require_ok()
    assert report.output == f"3: {x[3]:.2f} three\n"
    table, fibonacci = [1, 2, 3, 4], [0, 1, 1, 2, 3, 5, 8]
    for i in range(n):
        value = float(x[i]) + [1, 2, 3][i % 3]
        for j in range(i % 5):
            value = value * 1.5 + table[j & 3]
        assert y[i] == value + fibonacci[i % 7]
    assert y[n] == 1


def test_findings_name_the_line_of_the_cuda_program(features: Module) -> None:
    x = np.ones(300, np.float32)
    report = launch(features, "features", 2, 256, [x.copy(), x, parameters(300, [1, 2, 3])])
    (finding,) = report.findings
    assert finding.kind == "out-of-bounds"
    file, _, line = finding.source.rpartition(":")
    assert file.endswith("features.cu")
    assert "y[p.n] = 1.0f" in (HERE / "features.cu").read_text().splitlines()[int(line) - 1]


def test_assert(features: Module) -> None:
    x = np.ones(8, np.float32)
    report = launch(features, "features", 1, 8, [x.copy(), x, parameters(8, [0, 0, 0])])
    (finding,) = report.findings
    assert finding.kind == "trap"
    assert "assertion `p.bias[0] > 0` failed" in finding.message


def test_shared_memory_shuffles_and_stacks(features: Module) -> None:
    before = np.random.default_rng(1).integers(0, 9, 256).astype(np.float32)
    y, total = before.copy(), np.zeros(1, np.int32)
    launch(features, "warps", 1, 256, [y, total], dynamic_smem=512).require_ok()
    t = np.arange(256)
    v = before[::-1] + (t ^ 1)
    v = v + v[t ^ 3]
    assert np.array_equal(y, v + v * (before.astype(int) & 7))
    assert total[0] == np.count_nonzero(t % 3 == 0)


@pytest.mark.parametrize("numerics", ["exact", "fast"])
def test_gemm_with_mma_ldmatrix_and_cp_async(gemm: Module, numerics: str) -> None:
    rng = np.random.default_rng(2)
    m, n, k = 256, 128, 192
    a, b = (rng.integers(-4, 5, s).astype(np.float16) for s in ((m, k), (n, k)))
    c = np.zeros((m, n), np.float16)
    report = launch(
        gemm, "gemm", (1, 2), 256, [a, b, c, n, k], dynamic_smem=98304, numerics=numerics
    ).require_ok()
    assert np.array_equal(c, (a.astype(np.float32) @ b.astype(np.float32).T).astype(np.float16))
    assert report.flops == 2 * m * n * k
    assert report.conflicts == 0
    # Each CTA reads 256 rows of k halves, and stores 16 bytes of each sector at a time.
    assert report.sectors == 2 * 256 * k * 2 // 32 + m * n * 2 // 16
    # A row of 16 bytes in each of 8 phases: 4 wavefronts an ldmatrix.x4 or 512-byte copy.
    assert report.wavefronts == 4 * (report.instructions["ldmatrix"] + 2 * 8 * 8 * k // 64)


def test_mathematical_functions(library: Module) -> None:
    x = np.random.default_rng(3).uniform(-3, 3, 700).astype(np.float32)
    y, z = np.zeros(700, np.float32), np.zeros(700)
    launch(library, "functions", 3, 256, [y, z, x, 700]).require_ok()
    v, a = x.astype(np.float64), np.abs(x.astype(np.float64))
    single = np.sin(v) + np.cos(v) * np.tanh(v) + np.exp(v) - np.log(a + 1) + a**1.25
    single += 1 / np.sqrt(a + 1) + np.fmod(v, 0.75) + np.vectorize(math.erf)(v)
    assert np.allclose(y, single, rtol=2e-6, atol=2e-6)
    assert np.allclose(z, np.sin(v) + np.exp(v) + a**1.75 + np.sqrt(a), rtol=1e-14)


def test_cooperative_groups(library: Module) -> None:
    x = np.random.default_rng(4).integers(0, 9, 5000).astype(np.float32)
    total = np.zeros(1, np.float32)
    launch(library, "sum", 4, 256, [total, x, 5000]).require_ok()
    assert total[0] == x.sum()


def test_wmma(library: Module) -> None:
    rng = np.random.default_rng(5)
    a, b = (rng.integers(-3, 4, (16, 16)).astype(np.float16) for _ in range(2))
    c = np.zeros((16, 16), np.float32)
    launch(library, "tile", 1, 32, [c, a, b]).require_ok()
    assert np.array_equal(c, 2 * (a.astype(np.float32) @ b.T.astype(np.float32) + 1))


def test_narrow_types(library: Module) -> None:
    x = np.random.default_rng(6).uniform(-4, 4, 64).astype(np.float32)
    y = np.zeros((64, 4), np.float32)
    launch(library, "narrow", 1, 64, [y, x]).require_ok()
    expected = [
        x.astype(np.float16) + np.float16(1),
        x.astype(ml_dtypes.bfloat16) * ml_dtypes.bfloat16(2),
        x.astype(ml_dtypes.float8_e4m3fn),
        x.astype(ml_dtypes.float8_e5m2),
    ]
    assert np.array_equal(y, np.stack([e.astype(np.float32) for e in expected], axis=1))


def test_pipelines_and_barriers_of_libcudacxx(library: Module) -> None:
    x = np.random.default_rng(7).integers(0, 9, 512).astype(np.float32)
    y = np.zeros(256, np.float32)
    launch(library, "pipeline", 1, 256, [y, x]).require_ok()
    assert np.array_equal(y, x[:256][::-1] + x[256:][::-1])


def test_virtual_functions(library: Module) -> None:
    y = np.zeros(64, np.int32)
    launch(library, "virtuals", 1, 64, [y]).require_ok()
    t = np.arange(64)

    def f(x: object) -> np.ndarray:
        return np.where(t & 1, np.add(x, 1), np.multiply(x, 2))  # type: ignore[call-overload]

    assert np.array_equal(y, np.choose(t % 5, [3, 7, f(1), f(9), -1]) + f(t))

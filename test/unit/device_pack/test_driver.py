"""What crosses the driver's C interface by ctypes: pointers, sizes, parameters, the log.

A library in C stands for the driver; skipped where there is no C compiler.
"""

import ctypes
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

HERE = Path(__file__).parent
PTX = ".version 8.0\n.target sm_80\n.visible .entry scale() { ret; }"

pytestmark = [
    pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler"),
    pytest.mark.skipif(sys.platform != "linux", reason="the library is for Linux"),
]


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    path = tmp_path_factory.mktemp("driver") / "libcuda.so"
    source = HERE / "libcuda_exported.c"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", path, source], check=True)
    return path


@pytest.fixture
def cuda(compiled):
    from device_run.driver import Cuda

    return Cuda(ctypes.CDLL(str(compiled)))


def values(*pointers, factor):
    return [*map(ctypes.c_uint64, pointers), ctypes.c_float(factor)]


def test_what_it_says_of_itself(cuda):
    assert (cuda.name, cuda.architecture, cuda.driver) == ("GPU of C 0", "sm_90", "13.0")
    assert cuda.limits["shared_per_cta"] == 227 * 1024


def test_a_kernel_on_memory(cuda, capfd):
    x = np.arange(64, dtype=np.float32)
    y = np.zeros_like(x)
    module = cuda.load(PTX)
    function = cuda.function(module, "scale", 100_000)
    assert (function.registers, function.local_bytes) == (40, 0)
    source, copy, result = (cuda.alloc(x.nbytes) for _ in range(3))
    assert source > 1 << 32  # of which no half is lost on the way
    cuda.upload(source, x)
    cuda.copy(copy, source, x.nbytes)
    cuda.fill(result, 0xFF, x.nbytes)
    cuda.launch(function, (2, 1, 1), (32, 1, 1), values(result, copy, factor=2.5))
    cuda.synchronize()
    cuda.download(result, y)
    assert (y == 2.5 * x).all()
    for place in (source, copy, result):
        cuda.free(place)
    cuda.unload(module)
    said = capfd.readouterr().err
    assert "kernel scale" in said
    assert "opt in 8 100000" in said
    assert "launch grid 2 1 1 block 32 1 1 shared 100000 stream 0" in said


def test_times(cuda):
    start, end = cuda.event(), cuda.event()
    cuda.record(start)
    cuda.record(end)
    assert cuda.milliseconds(start, end) == 1.5


def test_errors_say_why(cuda):
    from device_run.driver import DeviceError

    with pytest.raises(DeviceError, match="CUDA_ERROR_INVALID_PTX\nline 1: wrong"):
        cuda.load("wrong")
    with pytest.raises(DeviceError, match="cuMemAlloc_v2: CUDA_ERROR_OUT_OF_MEMORY"):
        cuda.alloc(1 << 31)
    function = cuda.function(cuda.load(PTX), "scale")
    cuda.launch(function, (1, 1, 1), (32, 1, 1), values(0, 0, factor=1))
    with pytest.raises(DeviceError, match="cuCtxSynchronize: CUDA_ERROR_ILLEGAL_ADDRESS"):
        cuda.synchronize()


def test_a_pack_run_as_a_command(compiled, tmp_path):
    """The whole command, its sections in processes of their own: this GPU computes nothing."""
    import json
    import os

    from device_pack.write import write
    from tilec.isa import form

    chosen = [form("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32")]
    pack = tmp_path / "pack"
    write(
        pack, "sm_90a", chosen=chosen, elements=256, kernels=[], suite=[], with_programs=False,
        jobs=1, say=lambda _: None,
    )  # fmt: skip
    (tmp_path / "libcuda.so.1").symlink_to(compiled)
    done = subprocess.run(
        [sys.executable, "pack/run_device.py", "--sections", "forms", "--out", "results.json"],
        cwd=tmp_path,
        env={**os.environ, "LD_LIBRARY_PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    # The kernel takes four pointers, not `scale`'s: its result is what it held before, or a fault.
    assert done.returncode == 1, done.stderr
    document = json.loads((tmp_path / "results.json").read_text())
    assert document["gpu"] == "GPU of C 0"
    (row,) = document["rows"]
    assert row["section"] == "forms"
    assert row.get("wrong") or row["failure"].startswith("exit ")
    assert done.stdout.startswith("GPU of C 0, CUDA 13.0; kernels for sm_90a\n")
    assert "== forms" in done.stdout

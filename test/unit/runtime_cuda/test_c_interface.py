"""What crosses the driver's C interface through the real cuda-bindings: pointers to parameters,
launch attributes, the assembler's log. `libcuda.c` stands for the driver; skipped where there is no
C compiler or no cuda-bindings."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("cuda.bindings.driver", reason="cuda-bindings is not installed")

HERE = Path(__file__).parent
COMPILER = shutil.which("cc")

pytestmark = [
    pytest.mark.skipif(COMPILER is None, reason="no C compiler"),
    pytest.mark.skipif(sys.platform != "linux", reason="the library is for Linux"),
]

SCRIPT = """
import numpy as np
from tilec.isa import TilecError
from tilec.runtime import cuda

PTX = '''{ptx}'''

def refused(action):
    try:
        action()
    except TilecError as error:
        print(type(error).__name__, error)

gpu = cuda.gpu()
print(gpu, gpu.target, gpu.driver_version)
module = cuda.load(PTX)
kernel = module.kernel()
print(module.log, kernel.registers, kernel.occupancy(64, 100000))
x, y = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
kernel.launch(2, 32, [y, x, 2])
print((y == 2 * x).all())
on_gpu, stream, start, end = cuda.Array.of(x), cuda.Stream(), cuda.Event(), cuda.Event()
arguments = [on_gpu, on_gpu, 3.0]
launch = kernel.bind((2, 3), 32, arguments, dynamic_smem=512, cluster=(2, 3), stream=stream)
start.record(stream)
launch()
end.record(stream)
print(end.since(start), (on_gpu.numpy() == 3 * x).all())
binary = cuda.load(b"\\x7fELF\\0").kernel("scale")
print([p.size for p in binary.parameters])
binary.launch(2, 32, [y, x, 4.0])
print((y == 4 * x).all())
refused(lambda: cuda.load(PTX + "// wrong").kernel())
refused(lambda: cuda.Array((1 << 20, 1 << 20)))
refused(lambda: kernel.launch(2, 32, [None, x, 2]))
kernel.launch(2, 32, [y, x, 5])
print((y == 5 * x).all())
"""
PRINTED = """\
GPU 0 (GPU of C 0) sm_90a 13.0
assembled 40 31
True
1.5 True
[8, 8, 4]
True
LoadError the driver's assembler refuses the module for GPU 0 (GPU of C 0), sm_90a:
line 1: wrong
OutOfMemoryError the array takes 4398046511104 bytes; GPU 0 (GPU of C 0) has 4096 bytes of free \
memory
FaultError kernel 'scale' faulted on GPU 0 (GPU of C 0): it accessed an address where no memory is \
allocated (CUDA_ERROR_ILLEGAL_ADDRESS). Arrays on that GPU are lost; the next launch begins a new \
context. The simulator names the instruction and the thread
True
"""
PLAIN = "launch grid 2 1 1 block 32 1 1 shared 0 stream 0"
REPORTED = [
    "kernel scale",
    "opt in 8 100000",
    PLAIN,
    "launch grid 2 3 1 block 32 1 1 shared 512 stream 77 attribute 4: 2 3 1",
    "kernel scale",
    PLAIN,
    PLAIN,
    "kernel scale",  # loaded again
    PLAIN,
]


def test_through_the_bindings(tmp_path, scale):
    library = tmp_path / "libcuda.so.1"
    options = ["-shared", "-fPIC", "-w", "-Wl,-soname,libcuda.so.1"]
    source = str(HERE / "libcuda.c")
    subprocess.run([str(COMPILER), *options, "-o", str(library), source], check=True)
    ptx = scale.replace(".reqntid 32, 1, 1", "")
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT.format(ptx=ptx)],
        env=os.environ | {"LD_LIBRARY_PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == PRINTED, done.stderr
    assert done.stderr.splitlines() == REPORTED

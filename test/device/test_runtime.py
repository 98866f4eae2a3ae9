"""`tilec.runtime.cuda` on a GPU: what the unit tests suppose of CUDA's driver is so."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import tilec
from tilec.runtime import cuda

pytestmark = pytest.mark.device

EXAMPLES = Path(__file__).parents[2] / "examples"
X = np.arange(32, dtype=np.float32)

HEAD = ".version 7.0\n.target sm_80\n.address_size 64\n"
SCALE = f"""{HEAD}
.visible .entry scale(.param .u64 y, .param .u64 x, .param .f32 factor)
{{
  .reg .f32 %f<3>; .reg .b64 %d<4>; .reg .b32 %r<2>;
  ld.param.u64 %d1, [y]; ld.param.u64 %d2, [x]; ld.param.f32 %f1, [factor];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %d3, %r1, 4; add.u64 %d1, %d1, %d3; add.u64 %d2, %d2, %d3;
  ld.global.f32 %f2, [%d2]; mul.rn.f32 %f2, %f2, %f1; st.global.f32 [%d1], %f2;
  ret;
}}
"""
# What is written to the last word of the dynamic shared memory comes back.
SHARED = f"""{HEAD}
.extern .shared .align 16 .b8 memory[];
.visible .entry shared(.param .u64 y, .param .u32 last)
{{
  .reg .b64 %d<2>; .reg .b32 %r<4>;
  ld.param.u64 %d1, [y]; ld.param.u32 %r1, [last];
  mov.u32 %r2, memory; add.u32 %r2, %r2, %r1;
  mov.u32 %r3, 1234; st.shared.u32 [%r2], %r3; ld.shared.u32 %r3, [%r2];
  st.global.u32 [%d1], %r3;
  ret;
}}
"""
RANK = """.version 7.8
.target sm_90
.address_size 64
.visible .entry rank(.param .u64 y)
{
  .reg .b64 %d<3>; .reg .b32 %r<3>;
  ld.param.u64 %d1, [y]; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %cluster_ctarank;
  mul.wide.u32 %d2, %r1, 4; add.u64 %d1, %d1, %d2; st.global.u32 [%d1], %r2;
  ret;
}
"""
VALUES = f"""{HEAD}
.visible .entry store(
  .param .u64 y, .param .u8 a, .param .f64 b, .param .u16 c, .param .align 8 .b8 s[16])
{{
  .reg .b64 %d<3>; .reg .b16 %h<2>;
  ld.param.u64 %d1, [y];
  ld.param.u8 %h1, [a]; st.global.u8 [%d1], %h1;
  ld.param.u64 %d2, [b]; st.global.u64 [%d1+8], %d2;
  ld.param.u16 %h1, [c]; st.global.u16 [%d1+16], %h1;
  ld.param.u64 %d2, [s]; st.global.u64 [%d1+24], %d2;
  ld.param.u64 %d2, [s+8]; st.global.u64 [%d1+32], %d2;
  ret;
}}
"""
FAULT = f"""
import numpy as np
from tilec.runtime import cuda
from tilec.isa import TilecError
kernel = cuda.load('''{SCALE}''').kernel()
y, x = np.zeros(32, np.float32), np.ones(32, np.float32)
held = cuda.Array.of(x)
try:
    kernel.launch(1, 32, [None, x, 2.0])
except cuda.FaultError as error:
    print(error.code, error.kernel)
try:
    held.numpy()
except TilecError as error:
    print(type(error).__name__)
kernel.launch(1, 32, [y, x, 2.0])
print(y.sum())
"""


@pytest.fixture(autouse=True, scope="module")
def device() -> cuda.Device:
    try:
        return cuda.gpu()
    except cuda.UnavailableError as error:
        pytest.skip(str(error))


def test_arrays_of_the_host():
    y = np.zeros((32, 2), np.float32)
    y[:, 1] = -1
    flat = y.reshape(-1)[:32]
    kernel = cuda.load(SCALE).kernel()
    kernel.launch(1, 32, [flat, X, 3])
    assert (y.reshape(-1)[:32] == 3 * X).all()
    assert (y.reshape(-1)[33::2] == -1).all()
    assert kernel.registers > 0
    assert 1 <= kernel.occupancy(32) <= 32


def test_every_size_of_parameter():
    out = np.zeros(40, np.uint8)
    structure = (np.uint32(7), np.float64(0.5))
    cuda.launch(VALUES, "store", 1, 1, [out, 200, -2.25, np.float16(0.5), structure])
    assert out[0] == 200
    assert out[8:16].view(np.float64) == -2.25
    assert out[16:18].view(np.float16) == 0.5
    assert out[24:28].view(np.uint32) == 7
    assert out[32:40].view(np.float64) == 0.5


def test_arrays_on_the_gpu_streams_and_events():
    x, y = cuda.Array.of(X), cuda.Array(X.shape)
    stream, start, end = cuda.Stream(), cuda.Event(), cuda.Event()
    launch = cuda.load(SCALE).kernel().bind(1, 32, [y, x, 2.0], stream=stream)
    start.record(stream)
    for _ in range(100):
        launch()
    end.record(stream)
    assert 0 < end.since(start) < 1000
    stream.synchronize()
    assert (y.numpy() == 2 * X).all()


def test_a_binary():
    compiled = tilec.compile(EXAMPLES / "mma.mlir", target=cuda.gpu().target.name)
    rng = np.random.default_rng(1)
    a = rng.standard_normal((16, 16)).astype(np.float16)
    b = rng.standard_normal((8, 16)).astype(np.float16)
    c = rng.standard_normal((16, 8)).astype(np.float32)
    ptx, binary = np.zeros_like(c), np.zeros_like(c)
    compiled.launch(a, b, c, ptx, grid=1, device="cuda")
    kernel = cuda.load(compiled.cubin).kernel(compiled.kernels[0].name)
    kernel.launch(1, 32, [a, b, c, binary])
    assert (ptx == binary).all()
    assert np.allclose(ptx, a.astype(float) @ b.T.astype(float) + c, rtol=1e-3, atol=1e-2)


def test_all_the_shared_memory(device):
    most = device.attribute("MAX_SHARED_MEMORY_PER_BLOCK_OPTIN")
    y = np.zeros(1, np.uint32)
    cuda.launch(SHARED, "shared", 1, 1, [y, most - 4], dynamic_smem=most)
    assert y[0] == 1234


def test_clusters(device):
    if not device.attribute("CLUSTER_LAUNCH"):
        pytest.skip(f"{device} has no clusters")
    y = np.full(8, 99, np.uint32)
    cuda.launch(RANK, "rank", 8, 32, [y], cluster=4)
    assert y.tolist() == [0, 1, 2, 3] * 2


def test_tensors_of_torch():
    torch = pytest.importorskip("torch")
    x = torch.arange(32, dtype=torch.float32, device="cuda")
    y = torch.zeros_like(x)
    kernel = cuda.load(SCALE).kernel()
    kernel.launch(1, 32, [y, x, 2.0])
    assert torch.equal(y, 2 * x)
    stream = torch.cuda.Stream()
    kernel.launch(1, 32, [y, x, 5.0], stream=stream)
    stream.synchronize()
    assert torch.equal(y, 5 * x)


def test_a_text_that_does_not_assemble():
    with pytest.raises(cuda.LoadError) as caught:
        cuda.load(SCALE.replace("mul.rn.f32", "mul.rn.f33")).kernel()
    assert "line" in caught.value.log


def test_a_version_that_the_driver_does_not_know():
    with pytest.raises(cuda.LoadError, match=r"PTX 99\.0, newer than the driver"):
        cuda.load(SCALE.replace(".version 7.0", ".version 99.0")).kernel()


def test_a_fault_in_a_process_of_its_own():
    done = subprocess.run(
        [sys.executable, "-c", FAULT], capture_output=True, text=True, check=False
    )
    assert done.stdout == "CUDA_ERROR_ILLEGAL_ADDRESS scale\nFaultError\n64.0\n", done.stderr

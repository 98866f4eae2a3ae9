"""What a launch on a GPU does: with the simulator behind the driver, the same arguments give the
same bits as the simulator's own launch; what is copied, opted in to, and awaited."""

import sys
from pathlib import Path
from types import SimpleNamespace

import ml_dtypes
import numpy as np
import pytest
import tilec
from tilec import sim
from tilec.runtime import cuda

ROOT = Path(__file__).resolve().parents[3]
X = np.arange(32, dtype=np.float32)

# Every type of parameter, stored one behind the other.
TYPES = {
    "u8": np.uint8(200),
    "s16": np.int16(-3),
    "b32": np.float32(1.5),
    "f16": np.float16(0.5),
    "u64": np.uint64(1 << 40),
    "f64": np.float64(-2.25),
}
STORE = """\
.version 8.0
.target sm_80
.address_size 64
.entry store(.param .u64 out, {parameters}, .param .align 8 .b8 s[16])
{{
  .reg .b64 %d<4>; .reg .b32 %r<3>; .reg .b16 %h<3>;
  ld.param.u64 %d1, [out];
{body}
  ld.param.u64 %d2, [s]; st.global.u64 [%d1+48], %d2;
  ld.param.u64 %d2, [s+8]; st.global.u64 [%d1+56], %d2;
  ret;
}}
"""
REGISTERS = {1: "%h1", 2: "%h1", 4: "%r1", 8: "%d2"}


def store() -> str:
    body = []
    for i, value in enumerate(TYPES.values()):
        bits, register = 8 * value.itemsize, REGISTERS[value.itemsize]
        body.append(f"  ld.param.b{bits} {register}, [p{i}]; st.global.b{bits} [%d1+{8 * i}], ")
        body[-1] += f"{register};"
    parameters = ", ".join(f".param .{type_} p{i}" for i, type_ in enumerate(TYPES))
    return STORE.format(parameters=parameters, body="\n".join(body))


@pytest.mark.parametrize("typed", [True, False], ids=["numpy scalars", "Python scalars"])
def test_every_type_of_parameter(fake, typed):
    values = [value if typed else value.item() for value in TYPES.values()]
    out = np.zeros(64, np.uint8)
    cuda.launch(store(), "store", 1, 1, [out, *values, (np.uint64(7), np.int32(-1), np.int32(9))])
    for i, value in enumerate(TYPES.values()):
        assert out[8 * i : 8 * i + value.itemsize].tobytes() == value.tobytes()
    assert out[48:].tobytes() == np.uint64(7).tobytes() + np.array([-1, 9], np.int32).tobytes()


@pytest.mark.parametrize("name", ["gemm", "mma"])
def test_examples_have_the_simulators_bits(fake, name):
    compiled = tilec.compile(ROOT / "examples" / f"{name}.mlir", target="sm_90a")
    rng = np.random.default_rng(3)
    shapes = {"gemm": [(128, 64), (64, 128), (128, 128)], "mma": [(16, 16), (8, 16), (16, 8), None]}
    a, b, *rest = shapes[name]
    given = [rng.standard_normal(s).astype(np.float16) for s in (a, b)]
    given += [rng.standard_normal(s or rest[0]).astype(np.float32) for s in rest]
    on_gpu, simulated = ([*given[:-1], given[-1].copy()] for _ in range(2))
    assert compiled.launch(*on_gpu, grid=1, device="cuda") is None
    assert compiled.launch(*simulated, grid=1, device="sim").ok
    assert len(fake.reports) == 1
    assert (on_gpu[-1].view(np.uint32) == simulated[-1].view(np.uint32)).all()


def test_arrays_are_copied_there_and_back(fake, kernel):
    y = np.zeros_like(X)
    kernel.launch(1, 32, [y, X, 3])
    assert (y == 3 * X).all()
    assert not fake.memory  # freed


def test_gaps_of_a_strided_array_stay(kernel):
    base = np.full((32, 3), -1, np.float32)
    flat = np.zeros(94, np.float32)
    kernel.launch(1, 32, [flat, base[:, 0], 2.0])
    assert (flat[:32] == -2).all()
    part = np.full((4, 16), 5, np.float32)
    kernel.launch(1, 32, [part[:2, :], X, 1.0])
    assert (part[:2].ravel() == X).all()
    assert (part[2:] == 5).all()


def test_what_is_read_only_does_not_change(kernel):
    y = np.zeros_like(X)
    y.flags.writeable = False
    kernel.launch(1, 32, [y, X, 3.0])
    assert not y.any()


def test_views_that_overlap_are_one_memory(fake, scale):
    # Lanes write what others read: only a barrier puts the loads before the stores.
    kernel = cuda.load(scale.replace("st.global", "bar.warp.sync -1; st.global")).kernel()
    base = np.arange(40, dtype=np.float32)
    expected = base.copy()
    expected[:32] = 2 * base[:32]
    kernel.launch(1, 32, [base, base[:32], 2.0])  # no thread writes what another reads
    assert (base == expected).all()
    assert len(fake.named("cuMemAlloc")) == 1
    assert not fake.memory
    pairs = np.arange(64, dtype=np.float32)
    kernel.launch(1, 32, [pairs[:32], pairs[32:], 1.0])  # side by side they stay two
    assert (pairs[:32] == pairs[32:]).all()
    assert len(fake.named("cuMemAlloc")) == 3


def test_an_array_passed_twice_has_one_address(fake, kernel):
    both = X.copy()
    kernel.launch(1, 32, [both, both, 2.0])
    assert (both == 2 * X).all()
    assert len(fake.named("cuMemAlloc")) == 1


def test_arrays_of_narrow_types(fake, scale):
    y = np.zeros(64, ml_dtypes.bfloat16)
    cuda.launch(scale, "scale", 1, 32, [y, X, 1.0])
    assert (y.view(np.float32) == X).all()


def test_arrays_on_the_gpu_are_not_copied(fake, kernel):
    x, y = cuda.Array.of(X), cuda.Array(X.shape)
    before = len(fake.calls)
    kernel.launch(1, 32, [y, x, 4.0])
    assert not [call for call in fake.calls[before:] if "Mem" in call[0]]
    assert (y.numpy() == 4 * X).all()


def test_the_cuda_array_interface(fake, kernel):
    x, y = cuda.Array.of(X), cuda.Array(X.shape)
    known = x.__cuda_array_interface__ | {"stream": 5}
    kernel.launch(1, 32, [y, SimpleNamespace(__cuda_array_interface__=known), 4.0])
    assert (y.numpy() == 4 * X).all()
    assert fake.named("cuStreamSynchronize")[0] == [5]  # what made it has ended


class Tensor:
    """What a library shares by DLPack."""

    def __init__(self, array, kind=2, ordinal=0):
        self.array, self.kind, self.ordinal = array, kind, ordinal

    def __dlpack_device__(self):
        return self.kind, self.ordinal

    def __dlpack__(self, **_):
        return self.array


@pytest.fixture
def cuda_core(monkeypatch):
    """cuda-core's view of what is shared; notes the streams that are to wait."""
    streams = []

    def from_dlpack(tensor, stream_ptr):
        streams.append(stream_ptr)
        array = tensor.__dlpack__()
        return SimpleNamespace(
            ptr=array.pointer,
            shape=array.shape,
            strides=None,
            dtype=array.dtype,
            device_id=tensor.ordinal,
        )

    shared = SimpleNamespace(StridedMemoryView=SimpleNamespace(from_dlpack=from_dlpack))
    monkeypatch.setitem(sys.modules, "cuda.core.utils", shared)
    return streams


def test_dlpack(fake, kernel, cuda_core):
    x, y = cuda.Array.of(X), cuda.Array(X.shape)
    kernel.launch(1, 32, [y, Tensor(x), 4.0])
    kernel.launch(1, 32, [y, Tensor(x), 4.0], stream=9)
    assert (y.numpy() == 4 * X).all()
    assert cuda_core == [1, 9]  # DLPack's number of the default stream, and the stream


def test_dlpack_of_another_gpu(fake, kernel, cuda_core):
    with pytest.raises(
        tilec.isa.LaunchError, match="argument 1 is on GPU 1; the kernel is on GPU 0"
    ):
        kernel.launch(1, 32, [X, Tensor(cuda.Array.of(X), ordinal=1), 4.0])
    assert len(fake.memory) == 0


def test_dlpack_of_the_host(fake, kernel, cuda_core):
    with pytest.raises(tilec.isa.LaunchError, match="argument 1 is a Tensor in the host's memory"):
        kernel.launch(1, 32, [X, Tensor(None, kind=1), 4.0])


def test_dlpack_without_cuda_core(fake, kernel, monkeypatch):
    monkeypatch.setitem(sys.modules, "cuda.core.utils", None)
    with pytest.raises(cuda.UnavailableError, match=r"argument 1 is shared by DLPack.*cuda-core"):
        kernel.launch(1, 32, [X, Tensor(None), 4.0])


def test_extents_of_arrays_on_the_gpu_are_passed(fake):
    compiled = tilec.compile(ROOT / "examples" / "gemm.mlir", target="sm_90a")
    rng = np.random.default_rng(5)
    a = rng.standard_normal((128, 64)).astype(np.float16)
    b = rng.standard_normal((64, 128)).astype(np.float16)
    c = np.zeros((128, 128), np.float32)
    on_gpu = [cuda.Array.of(x) for x in (a, b, c)]
    assert compiled.launch(*on_gpu, grid=1) is None  # no device named: where the arrays are
    sim.launch(
        compiled.ptx, "gemm", 1, 256, [a, *a.shape, 64, b, *b.shape, 128, c, *c.shape, 128],
        dynamic_smem=compiled.kernels[0].dynamic_shared,
    )  # fmt: skip
    assert (on_gpu[2].numpy().view(np.uint32) == c.view(np.uint32)).all()


def test_it_waits_unless_there_is_a_stream(fake, kernel):
    x, y = cuda.Array.of(X), cuda.Array(X.shape)
    kernel.launch(1, 32, [y, x, 4.0])
    assert fake.calls[-1] == ("cuStreamSynchronize", 0)
    stream = cuda.Stream()
    kernel.launch(1, 32, [y, x, 4.0], stream=stream)
    assert fake.calls[-1][0] == "cuLaunchKernelEx"
    assert fake.calls[-1][1].hStream == 77
    kernel.launch(1, 32, [np.zeros_like(X), x, 4.0], stream=stream)  # has to be copied back
    assert ("cuStreamSynchronize", 77) in fake.calls


@pytest.mark.parametrize(
    "stream",
    [
        6,
        SimpleNamespace(__cuda_stream__=lambda: (0, 6)),
        SimpleNamespace(__cuda_stream__=(0, 6)),
        SimpleNamespace(cuda_stream=6),
    ],
    ids=["handle", "protocol", "protocol as a property", "torch"],
)
def test_streams_of_others(fake, kernel, stream):
    kernel.launch(1, 32, [cuda.Array.of(X), cuda.Array.of(X), 4.0], stream=stream)
    assert fake.named("cuLaunchKernelEx")[0][0].hStream == 6


def test_shared_memory_is_opted_in_to_once(fake, kernel):
    opted = "cuFuncSetAttribute"
    args = [None, None, 1.0]
    kernel.occupancy(32, 48 * 1024)
    assert not fake.named(opted)  # every CTA has so much
    assert kernel.occupancy(32, 100 * 1024) == 2
    kernel.occupancy(32, 100 * 1024)
    ((_, attribute, size),) = fake.named(opted)
    assert (attribute, size) == ("CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES", 100 * 1024)
    kernel.bind(1, 32, args, dynamic_smem=200 * 1024)
    assert fake.named(opted)[-1][2] == 200 * 1024


WAITS = """
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out) { griddepcontrol.wait; ret; }
"""


@pytest.mark.parametrize("cluster", [None, 2])
def test_a_kernel_that_waits_may_begin_early(fake, cluster):
    """One that does not wait is launched behind those before it, as ever."""
    launched = cuda.load(WAITS).kernel("k").bind(4, 32, [None], cluster=cluster)
    plain = cuda.load(WAITS.replace("griddepcontrol.wait;", "")).kernel("k").bind(4, 32, [None])
    attributes = {one.id: one.value for one in launched._config.attrs}
    name = "CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION"
    assert attributes[name].programmaticStreamSerializationAllowed == 1
    assert launched._config.numAttrs == len(attributes) == (1 if cluster is None else 2)
    assert plain._config.numAttrs == 0


def test_clusters(fake, kernel):
    launch = kernel.bind((4, 2), 32, [None, None, 1.0], cluster=(2, 2))
    with pytest.raises(sim.SimulationError):  # null pointers
        launch()
    config = fake.named("cuLaunchKernelEx")[0][0]
    (attribute,) = config.attrs
    assert config.numAttrs == 1
    assert attribute.id == "CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION"
    assert vars(attribute.value.clusterDim) == {"x": 2, "y": 2, "z": 1}
    assert not fake.named("cuFuncSetAttribute")
    assert kernel.clusters(16, 32) == 8
    ((_, allowed, yes),) = fake.named("cuFuncSetAttribute")
    assert (allowed, yes) == ("CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED", 1)


def test_a_bound_launch_is_made_again_and_again(fake, kernel):
    x, y = cuda.Array.of(X), cuda.Array(X.shape)
    launch = kernel.bind(1, 32, [y, x, 2.0], stream=cuda.Stream())
    launch()
    x.fill(X + 1)
    launch()
    assert (y.numpy() == 2 * (X + 1)).all()
    assert len(fake.reports) == 2


def test_a_module_is_loaded_once(fake, scale, tmp_path):
    file = tmp_path / "scale.ptx"
    file.write_text(scale)
    for code in (scale, file, scale.encode()):
        cuda.launch(code, "scale", 1, 32, [np.zeros_like(X), X, 1.0])
    assert len(fake.named("cuModuleLoadDataEx")) <= 2  # text, and bytes


def test_a_binary_takes_what_the_driver_says(fake, monkeypatch):
    fake.sizes = [8, 4, 4, 24]
    monkeypatch.setattr(fake, "cuModuleGetFunction", lambda hmod, name: fake._answer((1, None, "")))
    parameters = cuda.load(b"\x7fELF\0").kernel("k").parameters
    assert [(p.type, p.size) for p in parameters] == [
        ("b64", 8),
        ("b32", 4),
        ("b32", 4),
        ("b8", 24),
    ]


def test_streams_and_events(fake):
    stream, start, end = cuda.Stream(), cuda.Event(), cuda.Event()
    start.record(stream)
    end.record()
    stream.wait(end)
    assert end.since(start) == 1.5
    stream.synchronize()
    assert fake.named("cuEventRecord") == [[88, 77], [88, 0]]
    assert fake.named("cuStreamWaitEvent") == [[77, 88, 0]]
    assert fake.calls.index(("cuEventSynchronize", 88)) < fake.calls.index(
        ("cuEventElapsedTime", 88, 88)
    )
    for one in (stream, start, end):
        one.close()
    assert len(fake.named("cuEventDestroy")) == 2


def test_arrays_are_freed_when_nothing_refers_to_them(fake):
    array = cuda.Array.of(X)
    assert len(fake.memory) == 1
    del array
    assert not fake.memory
    held = cuda.Array((2, 3), np.int8)
    held.close()
    held.close()
    assert not fake.memory

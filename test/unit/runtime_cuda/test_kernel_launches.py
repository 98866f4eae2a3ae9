"""Launches of kernels in Python on a driver that records: streams, waiting, doing it again."""

import gc
import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import tilec
import tilec.lang as tl
from tilec.runtime import cuda

Vector = tl.Array[tl.float32, int]
SCALE = 2.0


@tilec.kernel(warps=1, target="sm_80")
def scaled(x: Vector, out: Vector, by: float = 1.0, n: int = 64) -> None:
    at = tl.program_id(0) * 64
    held = tl.load(x, at, 64) * by * SCALE
    tl.store(out, at, held, mask=at + tl.arange(64) < n)


X = np.arange(64, dtype=np.float32)


class Tensor:
    """An array of another library, which has torch's way to say where it is."""

    is_cuda = True

    def __init__(self, array: Any) -> None:
        self._array = array
        self.shape, self.dtype, self.device = array.shape, array.dtype, "cuda:0"

    def data_ptr(self) -> int:
        return int(self._array.pointer)

    def stride(self) -> tuple[int, ...]:
        return (1,)

    @property
    def __cuda_array_interface__(self) -> Any:
        return self._array.__cuda_array_interface__


@pytest.fixture
def arrays(on_gpu: Any) -> tuple[Any, Any]:
    return on_gpu(X), on_gpu(np.zeros_like(X))


@pytest.fixture
def kernel() -> Any:
    """The kernel, with no launch made before."""
    return scaled.using(cache=False)


def waits(fake: Any) -> int:
    return len(fake.named("cuStreamSynchronize"))


def test_a_launch_does_not_wait(fake: Any, arrays: Any, kernel: Any) -> None:
    x, out = arrays
    assert kernel[1](x, out, 3.0) is None
    assert waits(fake) == 0
    np.testing.assert_array_equal(out.numpy(), X * 6)


def test_a_launch_waits_if_asked(fake: Any, arrays: Any, kernel: Any) -> None:
    run = kernel.using(wait=True)
    for count in (1, 2):
        run[1](*arrays)
        assert waits(fake) == count


def test_arrays_of_the_host_are_copied_back(fake: Any, kernel: Any) -> None:
    out = np.zeros_like(X)
    run = kernel.using(device="cuda")
    run[1](X, out, 0.5)
    run[1](X + 1, out, 0.5)
    np.testing.assert_array_equal(out, X + 1)
    assert waits(fake) == 2


def test_a_stream_is_taken(fake: Any, arrays: Any, kernel: Any) -> None:
    with pytest.raises(tilec.isa.LaunchError, match="legal: a CUDA stream, its handle, or None"):
        kernel.using(stream="mine")
    run = kernel.using(stream=cuda.Stream())
    run[1](*arrays)
    run[1](*arrays)
    kernel[1](*arrays)
    configs = [config for config, *_ in fake.named("cuLaunchKernelEx")]
    assert [int(config.hStream) for config in configs] == [77, 77, 0]
    assert waits(fake) == 0


def test_another_library_s_present_stream_is_taken(
    fake: Any, arrays: Any, kernel: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    present = SimpleNamespace(cuda_stream=5)
    library = SimpleNamespace(current_stream=lambda _: present)
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(cuda=library))
    monkeypatch.setattr(Tensor, "__module__", "torch")
    given = [Tensor(array) for array in arrays]
    kernel[1](*given)
    kernel[1](*given)
    present.cuda_stream = 6
    kernel[1](*given)
    kernel[1](x=given[0], out=given[1])
    present.cuda_stream = 7
    kernel[1](x=given[0], out=given[1])
    configs = [config for config, *_ in fake.named("cuLaunchKernelEx")]
    assert [int(config.hStream) for config in configs] == [5, 5, 6, 6, 7]
    assert waits(fake) == 0


def test_a_library_whose_stream_is_not_known_is_waited_for(
    fake: Any, arrays: Any, kernel: Any
) -> None:
    given = [Tensor(array) for array in arrays]
    kernel[1](*given)
    kernel[1](*given)
    assert waits(fake) == 2
    for _ in range(2):
        kernel[1](x=given[0], out=given[1])
    assert waits(fake) == 4
    kernel.using(wait=False)[1](*given)
    assert waits(fake) == 4


class HostTensor:
    """An array of another library in the host's memory, as torch's are."""

    is_cuda, device = False, "cpu"

    def __init__(self, array: Any) -> None:
        self.array = array
        self.shape, self.dtype = array.shape, array.dtype

    def data_ptr(self) -> int:
        return int(self.array.ctypes.data)

    def stride(self) -> tuple[int, ...]:
        return (1,)

    def __dlpack_device__(self) -> Any:
        return self.array.__dlpack_device__()

    def __dlpack__(self, **options: Any) -> Any:
        return self.array.__dlpack__(**options)


def test_arrays_of_a_library_on_the_host_have_no_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    def current_stream(device: Any) -> Any:
        raise ValueError(f"Expected a cuda device, but got: {device}")

    library = SimpleNamespace(current_stream=current_stream)
    torch = SimpleNamespace(cuda=library, Tensor=type(None))
    monkeypatch.setitem(sys.modules, "torch", torch)
    monkeypatch.setattr(HostTensor, "__module__", "torch")
    x, out = HostTensor(X.copy()), HostTensor(np.zeros_like(X))
    for _ in range(2):
        assert not scaled[1](x, out, 3.0).findings
        np.testing.assert_array_equal(out.array, X * 6)


def prepared(kernel: Any) -> int:
    return len(kernel.prepared._found)


def test_the_same_launch_is_made_again(fake: Any, arrays: Any, kernel: Any) -> None:
    x, out = arrays
    for by in (3.0, 3.0, 4.0, 3.0):
        kernel[1](x, out, by)
        np.testing.assert_array_equal(out.numpy(), X * 2 * by)
    assert prepared(kernel) == 2
    kernel[lambda given: given["n"] // 64](x, out, 5.0)
    np.testing.assert_array_equal(out.numpy(), X * 10)
    kernel[1](x, out=out, by=6.0)
    np.testing.assert_array_equal(out.numpy(), X * 12)
    assert prepared(kernel) == 4
    loads = len(fake.named("cuModuleLoadDataEx"))
    kernel[1](x, out=out, by=6.0)
    assert len(fake.named("cuModuleLoadDataEx")) == loads


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ((1.0, 64), (1.0, 32)),
        ((1.0, 64), (-1.0, 64)),
        ((0.0, 64), (-0.0, 64)),
        ((1, 64), (1.0, 64)),
        ((np.float32(1.5), 64), (np.float32(2.5), 64)),
    ],
)
def test_other_scalars_are_other_launches(
    fake: Any, arrays: Any, kernel: Any, one: Any, other: Any
) -> None:
    x, out = arrays
    for by, n in (one, other, one):
        out.fill(np.full_like(X, 7))
        kernel[1](x, out, by, n)
        expected = np.where(np.arange(64) < n, X * np.float32(by) * 2, 7).astype(np.float32)
        assert out.numpy().tobytes() == expected.tobytes()


def test_what_is_wrong_stays_wrong(fake: Any, arrays: Any, kernel: Any) -> None:
    x, out = arrays
    kernel[1](x, out, 1.0)
    for wrong in (True, "1.0", None):
        with pytest.raises(tilec.isa.LaunchError, match="argument 'by' is"):
            kernel[1](x, out, wrong)
    with pytest.raises(tilec.isa.LaunchError, match="grid"):
        kernel[-1](x, out, 1.0)


def test_other_arrays_are_other_launches(on_gpu: Any, arrays: Any, kernel: Any) -> None:
    x, out = arrays
    kernel[1](x, out)
    other = on_gpu(X * 3)
    kernel[1](other, out)
    np.testing.assert_array_equal(out.numpy(), X * 6)
    kernel[1](out, out)  # one memory: another compilation
    np.testing.assert_array_equal(out.numpy(), X * 12)


def test_what_the_kernel_reads_counts(
    fake: Any, arrays: Any, kernel: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    x, out = arrays
    kernel[1](x, out)
    monkeypatch.setitem(globals(), "SCALE", 5.0)
    kernel[1](x, out)
    np.testing.assert_array_equal(out.numpy(), X * 5)
    monkeypatch.setitem(globals(), "SCALE", 2.0)
    kernel[1](x, out)
    np.testing.assert_array_equal(out.numpy(), X * 2)


def test_after_a_reset_it_is_made_anew(on_gpu: Any, kernel: Any) -> None:
    x, out = on_gpu(X), on_gpu(X)
    kernel[1](x, out)
    cuda.gpu().reset()
    x, out = on_gpu(X), on_gpu(X)
    kernel[1](x, out)
    np.testing.assert_array_equal(out.numpy(), X * 2)


def test_no_array_is_kept(fake: Any, kernel: Any) -> None:
    """Not even until garbage is collected: memory of a GPU runs out before the collector runs."""
    gc.disable()
    try:
        x, out = cuda.Array.of(X), cuda.Array.of(X)
        kernel[1](x, out)
        assert prepared(kernel) == 1
        held = len(fake.memory)
        del x, out
        assert len(fake.memory) == held - 2
    finally:
        gc.enable()


def test_settings_do_not_share_launches(fake: Any, arrays: Any, kernel: Any) -> None:
    x, out = arrays
    kernel[1](x, out)
    other = kernel.using(warps=2)
    other[1](x, out)
    assert prepared(kernel) == prepared(other) == 1
    blocks = [config.blockDimX for config, *_ in fake.named("cuLaunchKernelEx")]
    assert blocks == [32, 64]


def test_wait_is_a_truth_value() -> None:
    with pytest.raises(tilec.TilecError, match="wait is True, False, or None"):
        scaled.using(wait="yes")

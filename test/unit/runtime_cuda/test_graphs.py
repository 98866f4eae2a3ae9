"""Launches recorded into a CUDA graph, on a driver that refuses what a capture forbids."""

from __future__ import annotations

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


@tilec.kernel(warps=1, target="sm_80")
def doubled(x: Vector, out: Vector) -> None:
    tl.store(out, 0, tl.load(x, 0, 64) * 2)


X = np.arange(64, dtype=np.float32)


@pytest.fixture
def stream(fake: Any) -> cuda.Stream:
    return cuda.Stream()


@pytest.fixture
def kernel(stream: cuda.Stream) -> Any:
    """The kernel on that stream, with no launch made before."""
    return doubled.using(cache=False, stream=stream)


def recorded_calls(fake: Any) -> list[str]:
    """The driver's functions called from the beginning of the last capture to its end."""
    names = [name for name, *_ in fake.calls]
    start = len(names) - 1 - names[::-1].index("cuStreamBeginCapture")
    return names[start + 1 : names.index("cuStreamEndCapture", start)]


def test_launches_are_made_again_together(
    fake: Any, on_gpu: Any, kernel: Any, stream: cuda.Stream
) -> None:
    x, y, z = on_gpu(X), on_gpu(np.zeros_like(X)), on_gpu(np.zeros_like(X))
    kernel[1](x, y)  # compiled and loaded
    y.fill(np.zeros_like(X))
    with cuda.record(stream) as graph:
        kernel[1](x, y)
        kernel[1](y, z)  # other addresses: all is checked and packed anew
    assert set(recorded_calls(fake)) <= {"cuCtxSetCurrent", "cuLaunchKernelEx"}
    assert not y.numpy().any()  # nothing has run
    graph()
    np.testing.assert_array_equal(z.numpy(), 4 * X)
    x.fill(X + 1)
    graph(cuda.Stream())
    np.testing.assert_array_equal(z.numpy(), 4 * X + 4)
    assert len(fake.named("cuGraphLaunch")) == 2
    graph.close()
    assert len(fake.named("cuGraphExecDestroy")) == len(fake.named("cuGraphDestroy")) == 1
    with pytest.raises(cuda.CudaError, match="holds nothing: it is closed"):
        graph()


def test_a_bound_launch(fake: Any, on_gpu: Any, stream: cuda.Stream) -> None:
    x, y = on_gpu(X), on_gpu(np.zeros_like(X))
    launch = doubled.compile(x, y).bind(x, y, grid=1, stream=stream)
    with cuda.record(stream) as graph:
        launch()
    assert set(recorded_calls(fake)) == {"cuCtxSetCurrent", "cuLaunchKernelEx"}
    graph()
    np.testing.assert_array_equal(y.numpy(), 2 * X)


def test_torch_records_by_itself(fake: Any, on_gpu: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Inside of `torch.cuda.graph` torch's present stream is the one that is captured."""
    x, y = on_gpu(X), on_gpu(np.zeros_like(X))
    present = SimpleNamespace(cuda_stream=5)
    torch = SimpleNamespace(cuda=SimpleNamespace(current_stream=lambda _: present))
    monkeypatch.setitem(sys.modules, "torch", torch)

    def tensor(array: Any) -> Any:
        made = type("Tensor", (), {})()
        type(made).__module__ = "torch"
        made.__cuda_array_interface__ = array.__cuda_array_interface__
        made.shape, made.dtype, made.device = array.shape, array.dtype, "cuda:0"
        made.is_cuda, made.data_ptr, made.stride = True, lambda: array.pointer, lambda: (1,)
        return made

    run = doubled.using(cache=False)
    run[1](tensor(x), tensor(y))
    fake.cuStreamBeginCapture(5, "mode")
    present.cuda_stream = 5
    run[1](tensor(x), tensor(y))
    _, recorded = fake.cuStreamEndCapture(5)
    assert len(recorded) == 1
    calls = recorded_calls(fake)
    assert set(calls) <= {"cuCtxSetCurrent", "cuLaunchKernelEx", "cuPointerGetAttribute"}


def refused(run: Any, stream: cuda.Stream, message: str) -> None:
    with pytest.raises(cuda.CaptureError, match=message), cuda.record(stream):
        run()


def test_what_cannot_be_recorded(fake: Any, on_gpu: Any, kernel: Any, stream: cuda.Stream) -> None:
    x, y = on_gpu(X), on_gpu(np.zeros_like(X))
    refused(lambda: kernel[1](x, y), stream, "cuModuleLoad.* of kernels that were launched before")
    kernel[1](x, y)
    on_host = kernel.using(device="cuda")
    refused(lambda: on_host[1](X, X.copy()), stream, "cuMemAlloc.* arrays are on the GPU")
    waiting = kernel.using(wait=True)
    waiting[1](x, y)
    refused(lambda: waiting[1](x, y), stream, "cuStreamSynchronize.* without a wait")
    elsewhere = kernel.using(stream=None)
    refused(lambda: elsewhere[1](x, y), stream, "cuLaunchKernelEx.* only launches on this stream")
    kernel[1](x, y)  # the stream is as it was
    np.testing.assert_array_equal(y.numpy(), 2 * X)


def test_garbage_is_not_collected_meanwhile(
    fake: Any, on_gpu: Any, kernel: Any, stream: cuda.Stream
) -> None:
    """The memory of an array in a cycle would be given back, which ends the recording."""
    x, y = on_gpu(X), on_gpu(np.zeros_like(X))
    kernel[1](x, y)
    before = gc.get_threshold()
    cycle: list[Any] = [on_gpu(X)]
    cycle.append(cycle)
    try:
        with cuda.record(stream) as graph:
            del cycle
            gc.set_threshold(1, 1, 1)
            kernel[1](x, y)
    finally:
        gc.set_threshold(*before)
    assert "cuMemFree" not in recorded_calls(fake)
    assert gc.isenabled()
    graph()
    np.testing.assert_array_equal(y.numpy(), 2 * X)


def test_a_reset_loses_it(fake: Any, on_gpu: Any, kernel: Any, stream: cuda.Stream) -> None:
    x, y = on_gpu(X), on_gpu(X)
    kernel[1](x, y)
    with cuda.record(stream) as graph:
        kernel[1](x, y)
    cuda.gpu().reset()
    with pytest.raises(cuda.CudaError, match="the graph was lost when the context"):
        graph()
    graph.close()

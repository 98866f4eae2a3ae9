"""The section `overhead`: what a launch costs the host, and the GPU between two kernels."""

from __future__ import annotations

import ctypes
import statistics
import time
from collections.abc import Callable, Iterator
from typing import Any

from .driver import Cuda

Row = dict[str, Any]

LAUNCHES = 200
ROUNDS = 11

PTX = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry nothing(.param .u64 a, .param .u64 b, .param .u64 c, .param .u32 n)
{
    ret;
}
"""
"""A kernel that takes four arguments and does nothing."""


def run(cuda: Cuda) -> Iterator[Row]:
    """Microseconds of a launch by each way, all in turns."""
    module = cuda.load(PTX)
    ways: dict[str, Callable[[], None]] = {"driver, from Python by ctypes": _ctypes(cuda, module)}
    refusals = {}
    others = {
        "tilec.runtime.cuda": lambda: _tilec(bound=False),
        "tilec.runtime.cuda, bound": lambda: _tilec(bound=True),
        "Triton": _triton,
    }
    for name, make in others.items():
        try:
            launch = make()
            launch()
        except Exception as error:
            refusals[name] = str(error).splitlines()[0]
        else:
            ways[name] = launch
    for launch in ways.values():
        _microseconds(cuda, launch)
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in ways}
    for _ in range(ROUNDS):
        for name, launch in ways.items():
            times[name].append(_microseconds(cuda, launch))
    for name, found in times.items():
        host, device = (statistics.median(column) for column in zip(*found, strict=True))
        said = f"{host:6.2f} us on the host, {device:6.2f} us a launch in all: {name}"
        yield {"work": "overhead", "way": name, "host_us": host, "us": device, "says": said}
    for name, reason in refusals.items():
        yield {"work": "overhead", "way": name, "skipped": reason}


def _microseconds(cuda: Cuda, launch: Callable[[], None]) -> tuple[float, float]:
    """Of a launch, until the host goes on and until all have run."""
    cuda.synchronize()
    start = time.perf_counter()
    for _ in range(LAUNCHES):
        launch()
    host = time.perf_counter() - start
    cuda.synchronize()
    whole = time.perf_counter() - start
    return host / LAUNCHES * 1e6, whole / LAUNCHES * 1e6


def _ctypes(cuda: Cuda, module: ctypes.c_void_p) -> Callable[[], None]:
    function = cuda.function(module, "nothing")
    values = [*(ctypes.c_uint64(0) for _ in range(3)), ctypes.c_uint32(1)]
    return lambda: cuda.launch(function, (1, 1, 1), (32, 1, 1), values)


def _tilec(*, bound: bool) -> Callable[[], None]:
    from tilec.runtime import cuda as runtime

    kernel = runtime.load(PTX).kernel("nothing")
    arrays = [runtime.Array((32,)) for _ in range(3)]
    stream = runtime.Stream()
    if bound:
        return kernel.bind(1, 32, [*arrays, 1], stream=stream)
    return lambda: kernel.launch(1, 32, [*arrays, 1], stream=stream)


def _triton() -> Callable[[], None]:
    import torch

    from .triton_nothing import nothing

    tensors = [torch.zeros(32, device="cuda") for _ in range(3)]
    return lambda: nothing[(1,)](*tensors, 1)

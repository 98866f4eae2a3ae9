# ruff: noqa: N802 (the driver's names)
"""A CUDA driver that records what it is asked, with the simulator as its GPU.

It has the functions of `cuda.bindings.driver` that tilec calls, which `test_bindings.py` holds
against the real ones, and what CUDA's documentation says of them: addresses and handles are worth
nothing in another context, and a fault makes every call fail until the context is reset.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from tilec import sim
from tilec.runtime import cuda
from tilec.runtime.cuda import device, driver

LIMITS = {
    "COMPUTE_CAPABILITY_MAJOR": 9,
    "COMPUTE_CAPABILITY_MINOR": 0,
    "MAX_GRID_DIM_X": (1 << 31) - 1,
    "MAX_GRID_DIM_Y": 65535,
    "MAX_GRID_DIM_Z": 65535,
    "MULTIPROCESSOR_COUNT": 132,
    "MAX_SHARED_MEMORY_PER_BLOCK_OPTIN": 227 * 1024,
    "CLUSTER_LAUNCH": 1,
    "L2_CACHE_SIZE": 4096,
}
CODES = {
    "CUDA_SUCCESS": 0,
    "CUDA_ERROR_INVALID_VALUE": 1,
    "CUDA_ERROR_OUT_OF_MEMORY": 2,
    "CUDA_ERROR_INVALID_HANDLE": 400,
    "CUDA_ERROR_CONTEXT_IS_DESTROYED": 709,
    "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED": 900,
    "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED": 901,
    "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT": 906,
}
UNSAFE_IN_CAPTURE = frozenset(
    {
        *("cuMemAlloc", "cuMemFree", "cuModuleLoadDataEx", "cuModuleUnload", "cuCtxSynchronize"),
        *("cuMemcpyHtoD", "cuMemcpyDtoH", "cuStreamSynchronize", "cuEventSynchronize"),
    }
)
"""What CUDA's documentation forbids while a stream is captured, of what tilec calls."""


class Status(int):
    """A `CUresult`."""

    name: str

    def __new__(cls, name: str) -> Status:
        made = super().__new__(cls, CODES.get(name, 999))
        made.name = name
        return made


class Names:
    """An enumeration whose members are their names; it notes which are used."""

    def __init__(self, enum: str, used: set[tuple[str, str]]) -> None:
        self._enum, self._used = enum, used

    def __getattr__(self, member: str) -> str:
        self._used.add((self._enum, member))
        return member


class FakeDriver:
    """`cuda.bindings.driver`.

    Attributes:
        calls: every call: the function, then its arguments.
        failing: by function, the error of its next call.
        limits: what the GPU's attributes are.
        gpus: how many there are.
        faulting: kernels that fault, with the error.
        logs: what the assembler writes: into the log of information, and of errors.
    """

    def __init__(self) -> None:
        self.calls: list[tuple[Any, ...]] = []
        self.failing: dict[str, str] = {}
        self.limits = dict(LIMITS)
        self.gpus = 1
        self.faulting: dict[str, str] = {}
        self.logs = {"CU_JIT_INFO_LOG_BUFFER": b"", "CU_JIT_ERROR_LOG_BUFFER": b""}
        self.memory: dict[int, np.ndarray[Any, Any]] = {}
        self.reports: list[sim.Report] = []
        self.used: set[tuple[str, str]] = set()
        self.sizes: list[int] = []
        self.capturing: int | None = None
        self.invalid = False
        self.recorded: list[Callable[[], Any]] = []
        self._sticky = ""
        self._context = 1
        self._next = 0x7F00_0000_0000
        for enum in (
            "CUdevice_attribute",
            "CUfunction_attribute",
            "CUjit_option",
            "CUlaunchAttributeID",
            "CUpointer_attribute",
            "CUstreamCaptureMode",
        ):
            setattr(self, enum, Names(enum, self.used))
        self.CUlaunchConfig = lambda: SimpleNamespace(attrs=[], numAttrs=0)
        self.CUlaunchAttribute = SimpleNamespace
        self.CUlaunchAttributeValue = lambda: SimpleNamespace(clusterDim=SimpleNamespace())

    def __getattribute__(self, name: str) -> Any:
        found = super().__getattribute__(name)
        if not name.startswith("cu"):
            return found

        def called(*args: Any) -> tuple[Any, ...]:
            self.calls.append((name, *args))
            code = self.failing.pop(name, "")
            if name == "cuModuleLoadDataEx":
                self._assemble(*args)
            if not code and self.capturing is not None and name in UNSAFE_IN_CAPTURE:
                code = "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED"
                self.capturing = None
                self.invalid = True
            if code:
                return (Status(code), *[None] * (name not in ("cuInit", "cuLaunchKernelEx")))
            return found(*args)

        return called

    def named(self, function: str) -> list[tuple[Any, ...]]:
        """The arguments of every call of a function."""
        return [args for name, *args in self.calls if name == function]

    def _answer(self, *values: Any) -> tuple[Any, ...]:
        return (Status(self._sticky or "CUDA_SUCCESS"), *values)

    # Devices and contexts

    def cuInit(self, flags):
        return self._answer()

    def cuDriverGetVersion(self):
        return self._answer(13000)

    def cuDeviceGetCount(self):
        return self._answer(self.gpus)

    def cuDeviceGet(self, ordinal):
        return self._answer(ordinal)

    def cuDeviceGetName(self, length, dev):
        return self._answer(b"Fake H200".ljust(length, b"\0"))

    def cuDeviceGetAttribute(self, attrib, dev):
        return self._answer(self.limits[attrib.removeprefix("CU_DEVICE_ATTRIBUTE_")])

    def cuDevicePrimaryCtxRetain(self, dev):
        return self._answer(self._context)

    def cuDevicePrimaryCtxReset(self, dev):
        self._sticky = ""
        self._context += 1
        self.memory.clear()
        return self._answer()

    def cuDevicePrimaryCtxRelease(self, dev):
        return self._answer()

    def cuCtxSetCurrent(self, ctx):
        good = ctx == self._context
        return (Status("CUDA_SUCCESS" if good else "CUDA_ERROR_CONTEXT_IS_DESTROYED"),)

    def cuCtxSynchronize(self):
        return self._answer()

    # Modules

    def _assemble(self, image, count, options, values):
        for option, value in zip(options, values, strict=True):
            if option in self.logs:
                value[: len(self.logs[option])] = self.logs[option]

    def cuModuleLoadDataEx(self, image, count, options, values):
        return self._answer((self._context, image.rstrip(b"\0").decode()))

    def cuModuleUnload(self, hmod):
        return self._answer()

    def cuModuleGetFunction(self, hmod, name):
        context, ptx = hmod
        module = sim.read(ptx)
        if name.decode() not in module.functions:
            return Status("CUDA_ERROR_NOT_FOUND"), None
        return self._answer((context, module, name.decode()))

    def cuFuncGetAttribute(self, attrib, hfunc):
        _, module, name = hfunc
        required = module.functions[name].directives.get("reqntid", (1024,))
        known = {
            "MAX_THREADS_PER_BLOCK": int(np.prod(required)),
            "NUM_REGS": 40,
            "SHARED_SIZE_BYTES": 0,
            "LOCAL_SIZE_BYTES": 0,
        }
        return self._answer(known[attrib.removeprefix("CU_FUNC_ATTRIBUTE_")])

    def cuFuncSetAttribute(self, hfunc, attrib, value):
        return self._answer()

    def cuFuncGetParamInfo(self, func, index):
        if index >= len(self.sizes):
            return Status("CUDA_ERROR_INVALID_VALUE"), 0, 0
        return self._answer(8 * index, self.sizes[index])

    def cuOccupancyMaxActiveBlocksPerMultiprocessor(self, func, threads, dynamic):
        return self._answer(min(2048 // threads, 228 * 1024 // (dynamic + 1024)))

    def cuOccupancyMaxActiveClusters(self, func, config):
        shape = config.attrs[0].value.clusterDim
        return self._answer(132 // (shape.x * shape.y * shape.z))

    # Memory

    def cuMemAlloc(self, size):
        if size > 1 << 30:
            return Status("CUDA_ERROR_OUT_OF_MEMORY"), 0
        start = self._next
        self._next += -(-size // 512) * 512
        self.memory[start] = np.zeros(size, np.uint8)
        return self._answer(start)

    def cuMemFree(self, pointer):
        if not self._sticky:
            self.memory.pop(pointer, None)
        return self._answer()

    def cuMemGetInfo(self):
        return self._answer(1 << 30, 1 << 32)

    def cuMemcpyHtoD(self, target, source, size):
        memory = self._at(target)
        memory[:size] = np.frombuffer(ctypes.string_at(source, size), np.uint8)
        return self._answer()

    def cuMemcpyDtoH(self, target, source, size):
        ctypes.memmove(target, self._at(source).tobytes(), size)
        return self._answer()

    def cuMemcpyHtoDAsync(self, target, source, size, stream):
        return self.cuMemcpyHtoD(target, source, size)

    def cuMemcpyDtoHAsync(self, target, source, size, stream):
        return self._answer() if self._sticky else self.cuMemcpyDtoH(target, source, size)

    def cuMemcpyDtoDAsync(self, target, source, size, stream):
        self._at(target)[:size] = self._at(source)[:size].copy()
        return self._answer()

    def cuMemsetD8Async(self, target, value, size, stream):
        self._at(target)[:size] = value
        return self._answer()

    def cuPointerGetAttribute(self, attribute, pointer):
        if self._at(pointer) is None:
            return Status("CUDA_ERROR_INVALID_VALUE"), None
        return self._answer(0)

    def _at(self, address):
        """The memory from an address to the end of its allocation; None outside all."""
        for start, memory in self.memory.items():
            if start <= address < start + memory.size:
                return memory[address - start :]
        return None

    # Streams, events and launches

    def cuStreamCreate(self, flags):
        return self._answer(77)

    def cuStreamSynchronize(self, stream):
        return self._answer()

    def cuStreamWaitEvent(self, stream, event, flags):
        return self._answer()

    def cuStreamDestroy(self, stream):
        return self._answer()

    def cuStreamBeginCapture(self, stream, mode):
        self.capturing, self.invalid, self.recorded = stream, False, []
        return self._answer()

    def cuStreamEndCapture(self, stream):
        self.capturing = None
        if self.invalid:
            return Status("CUDA_ERROR_STREAM_CAPTURE_INVALIDATED"), None
        return self._answer(tuple(self.recorded))

    def cuGraphInstantiate(self, graph, flags):
        return self._answer(graph)

    def cuGraphLaunch(self, graph, stream):
        for launch in graph:
            launch()
        return self._answer()

    def cuGraphDestroy(self, graph):
        return self._answer()

    def cuGraphExecDestroy(self, graph):
        return self._answer()

    def cuEventCreate(self, flags):
        return self._answer(88)

    def cuEventRecord(self, event, stream):
        return self._answer()

    def cuEventSynchronize(self, event):
        return self._answer()

    def cuEventElapsedTime(self, start, end):
        return self._answer(1.5)

    def cuEventDestroy(self, event):
        return self._answer()

    def cuLaunchKernelEx(self, config, function, places, extra):
        context, module, name = function
        if context != self._context:
            return (Status("CUDA_ERROR_INVALID_HANDLE"),)
        if name in self.faulting:
            self._sticky = self.faulting[name]
            return (Status("CUDA_SUCCESS"),)  # a launch does not wait for the fault
        parameters = module.functions[name].parameters
        addresses = ctypes.cast(places, ctypes.POINTER(ctypes.c_void_p))
        views: dict[int, np.ndarray[Any, Any]] = {}
        args: list[Any] = []
        for index, parameter in enumerate(parameters):
            raw = ctypes.string_at(addresses[index], parameter.size)
            pointer = int.from_bytes(raw, "little") if parameter.size == 8 else 0
            memory = self._at(pointer)
            args.append(raw if memory is None else views.setdefault(pointer, memory))
        grid = config.gridDimX, config.gridDimY, config.gridDimZ
        block = config.blockDimX, config.blockDimY, config.blockDimZ
        shared = config.sharedMemBytes

        def launch():
            report = sim.launch(module, name, grid, block, args, arch="sm_90", dynamic_smem=shared)
            self.reports.append(report.require_ok())

        if self.capturing is None:
            launch()
        elif config.hStream == self.capturing:
            self.recorded.append(launch)
        else:  # the default stream waits for all others
            self.invalid = True
            return (Status("CUDA_ERROR_STREAM_CAPTURE_IMPLICIT"),)
        return (Status("CUDA_SUCCESS"),)


def _forget() -> None:
    driver.bindings.cache_clear()
    device._known.cache_clear()
    import_module("tilec.runtime.cuda.launch")._loaded.cache_clear()


@pytest.fixture
def no_bindings(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """cuda-bindings is not installed."""
    monkeypatch.setitem(sys.modules, "cuda.bindings.driver", None)
    _forget()
    yield
    _forget()


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeDriver]:
    """The driver that records."""
    made = FakeDriver()
    monkeypatch.setitem(sys.modules, "cuda.bindings.driver", made)
    _forget()
    yield made
    _forget()


@pytest.fixture
def on_gpu(fake: FakeDriver) -> Iterator[Callable[[Any], Any]]:
    """Gives arrays on the GPU, which are not freed in the driver of another test."""
    made: list[Any] = []

    def array(of: Any) -> Any:
        made.append(cuda.Array.of(of))
        return made[-1]

    yield array
    for one in made:
        one._free.detach()


# y[i] = factor * x[i] of a CTA's 32 threads.
SCALE = """\
.version 8.0
.target sm_80
.address_size 64
.visible .entry scale(
  .param .u64 .ptr .global .align 4 y, // written
  .param .u64 x,
  .param .f32 factor
)
.reqntid 32, 1, 1
{
  .reg .f32 %f<3>; .reg .b64 %d<4>; .reg .b32 %r<4>;
  ld.param.u64 %d1, [y];
  ld.param.u64 %d2, [x];
  ld.param.f32 %f1, [factor];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ctaid.x;
  mad.lo.u32 %r1, %r2, 32, %r1;
  mul.wide.u32 %d3, %r1, 4;
  add.u64 %d1, %d1, %d3;
  add.u64 %d2, %d2, %d3;
  ld.global.f32 %f2, [%d2];
  mul.rn.f32 %f2, %f2, %f1;
  st.global.f32 [%d1], %f2;
  ret;
}
"""


@pytest.fixture
def scale() -> str:
    """PTX that scales an array."""
    return SCALE


@pytest.fixture
def kernel(fake: FakeDriver, scale: str) -> cuda.Kernel:
    """The kernel of that PTX, loaded."""
    return cuda.load(scale).kernel()

"""A CUDA driver whose GPU is the simulator, and the benchmarks' packages on the path."""

from __future__ import annotations

import ctypes
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tilec.isa.boxes import Im2col
from tilec.layout.swizzle import SWIZZLES as _SWIZZLES
from tilec.sim import TensorMap, launch, read
from tilec.sim.fitting import kernel_of
from tilec.sim.map_bytes import FILLS, INTERLEAVES, TYPES, Descriptor

BENCHMARKS = Path(__file__).parents[3] / "benchmarks"
sys.path.insert(0, str(BENCHMARKS))

_BASE = 1 << 40
_GAP = 1 << 36
SWIZZLES = tuple(_SWIZZLES)
_ATTRIBUTES = {16: 4, 13: 1_000_000, 38: 1 << 16, 97: 232448}


class FakeLibrary:
    """What `libcuda` answers, with the simulator as its GPU.

    Attributes:
        calls: names of the functions called, in order.
        faults: statuses to answer with, by function name.
        checks: whether a launch fails with which something is wrong.
    """

    def __init__(self, target: str = "sm_90a") -> None:
        self.target = target
        self.driver = 13000
        self.calls: list[str] = []
        self.faults: dict[str, int] = {}
        self.checks = True
        self._arrays: dict[int, np.ndarray] = {}
        self._modules: dict[int, Any] = {}
        self._functions: dict[int, tuple[Any, str]] = {}
        self._events = 0
        self._time = 0.0

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("cu"):
            raise AttributeError(name)
        answer = getattr(self, f"_{name.removesuffix('_v2')}", lambda *_: None)

        def call(*arguments: Any) -> int:
            self.calls.append(name)
            if name in self.faults:
                return self.faults[name]
            return answer(*arguments) or 0

        return call

    @property
    def allocated(self) -> int:
        """Pieces of memory not yet given back."""
        return len(self._arrays)

    def _cuDriverGetVersion(self, version):  # noqa: N802
        version._obj.value = self.driver

    def _cuDeviceGetName(self, name, *_):  # noqa: N802
        name.value = b"Simulator"

    def _cuDeviceGetAttribute(self, value, number, _):  # noqa: N802
        major, minor = divmod(int("".join(c for c in self.target if c.isdigit())), 10)
        value._obj.value = {**_ATTRIBUTES, 75: major, 76: minor}[number]

    def _cuGetErrorName(self, status, text):  # noqa: N802
        text._obj.value = {2: b"CUDA_ERROR_OUT_OF_MEMORY", 700: b"CUDA_ERROR_ILLEGAL_ADDRESS"}.get(
            status, b"CUDA_ERROR_UNKNOWN"
        )

    def _cuMemAlloc(self, pointer, size):  # noqa: N802
        address = _BASE + _GAP * len(self.calls)
        self._arrays[address] = np.zeros(size.value, np.uint8)
        pointer._obj.value = address

    def _cuMemFree(self, pointer):  # noqa: N802
        del self._arrays[pointer.value]

    def _at(self, address: int) -> np.ndarray:
        base = max(b for b in self._arrays if b <= address)
        return self._arrays[base][address - base :]

    def _cuMemcpyHtoD(self, to, source, size):  # noqa: N802
        held = (ctypes.c_ubyte * size.value).from_address(source.value)
        self._at(to.value)[: size.value] = np.frombuffer(held, np.uint8)

    def _cuMemcpyDtoH(self, to, source, size):  # noqa: N802
        held = (ctypes.c_ubyte * size.value).from_address(to.value)
        np.frombuffer(held, np.uint8)[:] = self._at(source.value)[: size.value]

    def _cuMemcpyDtoD(self, to, source, size):  # noqa: N802
        self._at(to.value)[: size.value] = self._at(source.value)[: size.value]

    def _cuMemsetD8(self, to, byte, size):  # noqa: N802
        self._at(to.value)[: size.value] = byte.value

    def _cuModuleLoadDataEx(self, module, text, *_):  # noqa: N802
        if text.value.startswith(b"\x7fELF"):
            return 200  # CUDA_ERROR_INVALID_IMAGE: this GPU runs PTX
        module._obj.value = len(self._modules) + 1
        self._modules[module._obj.value] = read(text.value.decode())
        return 0

    def _cuModuleGetFunction(self, function, module, name):  # noqa: N802
        function._obj.value = len(self._functions) + 1
        self._functions[function._obj.value] = self._modules[module.value], name.decode()

    def _cuFuncGetAttribute(self, value, *_):  # noqa: N802
        value._obj.value = 0

    def _cuLaunchKernel(self, function, gx, gy, gz, bx, by, bz, shared, _, places, __):  # noqa: N802
        module, name = self._functions[function.value]
        parameters = kernel_of(module, name).parameters
        values: list[Any] = []
        for place, parameter in zip(places, parameters, strict=True):
            held = bytes((ctypes.c_ubyte * parameter.size).from_address(place))
            if parameter.size == 128:
                values.append(self._map(held))
                continue
            number = int.from_bytes(held, "little")
            values.append(self._at(number) if number >= _BASE else held)
        options = {"arch": self.target, "dynamic_smem": shared, "checks": self.checks}
        report = launch(module, name, (gx, gy, gz), (bx, by, bz), values, **options)
        self._time += 1.0
        return 0 if report.ok else 700

    def _cuTensorMapEncodeTiled(self, map_, type_, rank, address, *rest):  # noqa: N802
        dims, strides, box, *others = rest
        self._encode(map_, type_, address, (dims, strides, box), others)

    def _cuTensorMapEncodeIm2col(self, map_, type_, rank, address, *rest):  # noqa: N802
        dims, strides, lower, upper, channels, pixels, *others = rest
        walked = Im2col(tuple(lower), tuple(upper), channels.value, pixels.value)
        self._encode(map_, type_, address, (dims, strides, [1] * rank), others, walked)

    def _encode(self, map_, type_, address, extents, others, walked=None):
        """The bytes that the simulator has, and the promotion, of which it knows nothing."""
        dims, strides, box = map(tuple, extents)
        steps, interleave, swizzle, promotion, fill = others
        assert (interleave, list(steps)) == (0, [1] * len(dims))
        assert 0 <= promotion <= 3
        assert fill == 0 or type_ >= 6  # a NaN is of floats
        assert ctypes.addressof(map_._obj) % 64 == 0
        codes = SWIZZLES[swizzle], INTERLEAVES[interleave], FILLS[fill]
        one = Descriptor(
            address.value, TYPES[type_], dims, strides, box, tuple(steps), *codes, walked
        )
        assert one.problem() is None
        data = bytearray(one.encode())
        data[10] |= promotion << 5
        ctypes.memmove(map_._obj, bytes(data), 128)

    def _map(self, held: bytes) -> TensorMap:
        known = Descriptor.decode(held)
        names = {"u8": "u1", "u16": "u2", "s32": "i4", "f16": "f2", "f64": "f8", "bf16": "bfloat16"}
        kind = np.dtype(names.get(known.type, "f4"))
        steps = (*known.strides[::-1], kind.itemsize)
        array = np.ndarray(known.dims[::-1], kind, self._at(known.address), 0, steps)
        return TensorMap(array, box=known.box[::-1], swizzle=known.swizzle, fill=known.fill)

    def _cuEventCreate(self, event, _):  # noqa: N802
        self._events += 1
        event._obj.value = self._events

    def _cuEventElapsedTime(self, value, *_):  # noqa: N802
        value._obj.value = self._time + 0.5
        self._time = 0.0


@pytest.fixture
def library() -> FakeLibrary:
    return FakeLibrary()


@pytest.fixture
def cuda(library):
    from device_run.driver import Cuda

    return Cuda(library)

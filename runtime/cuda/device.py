"""GPUs, and the one context of each."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

from tilec.isa import TARGETS, Scope, Target
from tilec.isa.lazy import cached_property

from .driver import bindings, call
from .errors import (
    FAULTS,
    CaptureError,
    CudaError,
    DriverError,
    FaultError,
    OutOfMemoryError,
    UnavailableError,
)


class Device:
    """A GPU with its primary context, which torch, CuPy and JAX use as well.

    Attributes:
        ordinal: its number among the GPUs that the driver shows.
        name: its name, such as `NVIDIA H200`.
        target: the most special target that runs on it, such as `sm_90a`.
        epoch: how many contexts have been reset; what belongs to an earlier one is gone.
        faulted: whether a kernel has faulted, so that the context is of no more use.
        recorders: lists that take the launches of graphs which are being recorded.
    """

    def __init__(self, ordinal: int) -> None:
        count = call("cuDeviceGetCount")
        if not 0 <= ordinal < count:
            known = ", ".join(map(str, range(count))) or "none"
            raise UnavailableError(f"there is no GPU {ordinal}; there are: {known}")
        self.ordinal = ordinal
        self.epoch = 0
        self._handle = call("cuDeviceGet", ordinal)
        self._attributes: dict[str, int] = {}
        self._context: Any = None
        self.faulted = False
        self.recorders: list[list[object]] = []
        self._kernel = ""
        name: bytes = call("cuDeviceGetName", 128, self._handle)
        self.name = name.partition(b"\0")[0].decode()
        self.target = _target(
            10 * self.attribute("COMPUTE_CAPABILITY_MAJOR")
            + self.attribute("COMPUTE_CAPABILITY_MINOR")
        )

    def __str__(self) -> str:
        return f"GPU {self.ordinal} ({self.name})"

    def attribute(self, name: str) -> int:
        """A `CU_DEVICE_ATTRIBUTE_…`, by the rest of its name."""
        if name not in self._attributes:
            kind = getattr(bindings().CUdevice_attribute, f"CU_DEVICE_ATTRIBUTE_{name}")
            self._attributes[name] = call("cuDeviceGetAttribute", kind, self._handle)
        return self._attributes[name]

    @cached_property
    def driver_version(self) -> str:
        """The CUDA version that the driver supports, such as `13.0`."""
        number = call("cuDriverGetVersion")
        return f"{number // 1000}.{number % 1000 // 10}"

    @property
    def multiprocessors(self) -> int:
        """Its SMs."""
        return self.attribute("MULTIPROCESSOR_COUNT")

    def activate(self) -> None:
        """Make its context the calling thread's, after a fault a new one.

        Raises:
            CudaError: if there is none; after a fault that the driver does not get over, a new
                process may have one.
        """
        try:
            if self.faulted:
                self.reset()
            if self._context is None:
                self._context = call("cuDevicePrimaryCtxRetain", self._handle)
            call("cuCtxSetCurrent", self._context)
        except DriverError as error:
            raise CudaError(
                f"{self} has no context: {error}. Some drivers do not create a new one after a "
                f"kernel's fault; start a new process"
            ) from None

    def reset(self) -> None:
        """Destroy its context with all arrays, modules and streams in it, other libraries' too.

        What tilec has loaded it loads again when next launched.
        """
        if self._context is not None:
            call("cuDevicePrimaryCtxReset", self._handle)
            call("cuDevicePrimaryCtxRelease", self._handle)
        self._context = None
        self.faulted = False
        self._kernel = ""
        self.epoch += 1

    def call(self, function: str, *args: Any, kernel: str = "") -> Any:
        """Call a function of the driver on the context.

        Args:
            function: its name.
            args: its arguments.
            kernel: the kernel that it launches, which a later fault is put down to.

        Raises:
            FaultError: if a kernel has faulted, whichever function it is that says so.
            OutOfMemoryError: if the GPU's memory is full.
            CaptureError: if a stream is recorded, and that does not go together.
            DriverError: if it fails otherwise.
        """
        self._kernel = kernel or self._kernel
        try:
            return call(function, *args)
        except DriverError as error:
            if error.code in FAULTS:
                self.faulted = True
                raise FaultError(error.code, self._kernel, str(self)) from None
            if error.code == "CUDA_ERROR_OUT_OF_MEMORY":
                raise OutOfMemoryError(f"{self} has too little free memory: {error}") from None
            if error.code.startswith("CUDA_ERROR_STREAM_CAPTURE"):
                raise CaptureError(error.code, function) from None
            raise

    def synchronize(self) -> None:
        """Wait for all that was launched on it.

        Raises:
            FaultError: if a kernel has faulted.
        """
        self.activate()
        self.call("cuCtxSynchronize")


class Resource:
    """Something in a GPU's context, and lost with it.

    Attributes:
        device: the GPU.
    """

    def __init__(self, device: int) -> None:
        self.device = gpu(device)
        self.device.activate()
        self._epoch = self.device.epoch

    @property
    def lost(self) -> bool:
        """Whether its context is gone."""
        return self._epoch != self.device.epoch

    def _call(self, function: str, *args: Any) -> Any:
        if self.lost:
            what = type(self).__name__.lower()
            raise CudaError(f"the {what} was lost when the context of {self.device} was reset")
        if not self.device.faulted:
            self.device.activate()  # for the calling thread, which may be another
        return self.device.call(function, *args)


def _target(number: int) -> Target:
    """The most special target of an architecture; of one that is not known, the number alone."""
    for scope in (Scope.ARCHITECTURE, Scope.PLAIN):
        found = TARGETS.get(f"sm_{number}{scope}")
        if found is not None:
            return found
    plain = [t for t in TARGETS.values() if t.scope is Scope.PLAIN]
    nearest = max(
        (t for t in plain if t.number <= number), key=lambda t: t.number, default=plain[0]
    )
    return replace(nearest, name=f"sm_{number}", number=number, family=0)


_known = cache(Device)


def gpu(ordinal: int = 0) -> Device:
    """A GPU by its number.

    Raises:
        UnavailableError: if there is none.
    """
    return _known(ordinal)


def available(target: Target | None = None) -> bool:
    """Whether there is a GPU, and the first runs code for `target`."""
    try:
        first = gpu()
    except UnavailableError:
        return False
    return target is None or target.runs_on(first.target)

"""PTX and binaries on a GPU: loading, launches, arrays, streams and events.

Nothing of CUDA is imported before it is used; without it, everything here raises an
`UnavailableError` that says what is missing.
"""

from .bound import Launch
from .device import Device, available, gpu
from .errors import (
    CaptureError,
    CudaError,
    DriverError,
    FaultError,
    LoadError,
    OutOfMemoryError,
    UnavailableError,
)
from .graphs import Graph, record
from .kernel import Kernel
from .launch import launch
from .memory import Array
from .module import Module, load
from .streams import Event, Stream
from .timing import Timing, compare, do_bench

__all__ = [
    "Array",
    "CaptureError",
    "CudaError",
    "Device",
    "DriverError",
    "Event",
    "FaultError",
    "Graph",
    "Kernel",
    "Launch",
    "LoadError",
    "Module",
    "OutOfMemoryError",
    "Stream",
    "Timing",
    "UnavailableError",
    "available",
    "compare",
    "do_bench",
    "gpu",
    "launch",
    "load",
    "record",
]

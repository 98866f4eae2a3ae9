"""PTX on the CPU: any kernel, tensor cores included, bit for bit, with checks and counts."""

from typing import TYPE_CHECKING

from tilec.isa.lazy_names import lazy_names

from .errors import LaunchError, PtxError, UnsupportedInstructionError
from .launch import launch
from .ptx import Module, read
from .report import Finding, Line, MatrixCount, Report, SimulationError

if TYPE_CHECKING:
    from tilec.isa.boxes import Im2col

    from .orders.summary import Orders
    from .stepping import Breakpoint, Debugger, QuitDebugging, Stop
    from .tensor_map import TensorMap
    from .timeline import Timeline
    from .timing import Recording, Schedule
    from .unsupported import check

__all__ = [
    "Breakpoint",
    "Debugger",
    "Finding",
    "Im2col",
    "LaunchError",
    "Line",
    "MatrixCount",
    "Module",
    "Orders",
    "PtxError",
    "QuitDebugging",
    "Recording",
    "Report",
    "Schedule",
    "SimulationError",
    "Stop",
    "TensorMap",
    "Timeline",
    "UnsupportedInstructionError",
    "check",
    "launch",
    "read",
]

_HOMES = {
    "Breakpoint": ".stepping",
    "Debugger": ".stepping",
    "Im2col": "tilec.isa.boxes",
    "Orders": ".orders.summary",
    "QuitDebugging": ".stepping",
    "Recording": ".timing",
    "Schedule": ".timing",
    "Stop": ".stepping",
    "TensorMap": ".tensor_map",
    "Timeline": ".timeline",
    "check": ".unsupported",
}
"""Where that is which a launch does not need."""

if not TYPE_CHECKING:
    __getattr__ = lazy_names(__name__, _HOMES)


def __dir__() -> list[str]:
    """What editors and notebooks complete."""
    return sorted(__all__)

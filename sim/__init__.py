"""PTX on the CPU: any kernel, tensor cores included, bit for bit, with checks and counts."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

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

if not TYPE_CHECKING:  # or any name would be one to a type checker

    def __getattr__(name: str) -> Any:
        """What is exported, imported when first used."""
        if name not in _HOMES:
            raise AttributeError(f"module 'tilec.sim' has no attribute '{name}'")
        return getattr(import_module(_HOMES[name], __name__), name)


def __dir__() -> list[str]:
    """What editors and notebooks complete."""
    return sorted(__all__)

"""PTX on the CPU: any kernel, tensor cores included, bit for bit, with checks and counts."""

from tilec.isa.boxes import Im2col

from .errors import LaunchError, PtxError, UnsupportedInstructionError
from .launch import launch
from .orders.summary import Orders
from .ptx import Module, read
from .report import Finding, Line, MatrixCount, Report, SimulationError
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

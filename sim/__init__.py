"""PTX on the CPU: any kernel, tensor cores included, bit for bit, with checks and counts."""

from .errors import LaunchError, PtxError, UnsupportedInstructionError
from .launch import launch
from .ptx import Module, read
from .report import Finding, Line, MatrixCount, Report, SimulationError
from .unsupported import check

__all__ = [
    "Finding",
    "LaunchError",
    "Line",
    "MatrixCount",
    "Module",
    "PtxError",
    "Report",
    "SimulationError",
    "UnsupportedInstructionError",
    "check",
    "launch",
    "read",
]

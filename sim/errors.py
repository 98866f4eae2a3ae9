"""What can go wrong with a PTX text, a launch, or a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilec.isa import LaunchError, TilecError

if TYPE_CHECKING:
    from .ptx.module import Instruction
    from .report import Report

__all__ = [
    "LaunchError",
    "PtxError",
    "SimulationError",
    "StoppedError",
    "UnsupportedInstructionError",
]


class PtxError(TilecError):
    """A place in a PTX text that cannot be read or is not supported.

    Attributes:
        file: name of the text.
        line, column: place, from 1.
        reason: what is wrong there.
    """

    def __init__(self, reason: str, file: str, line: int, column: int, text: str = "") -> None:
        self.reason = reason
        self.file = file
        self.line = line
        self.column = column
        message = f"{file}:{line}:{column}: {reason}"
        if text:
            pad = "".join(c if c == "\t" else " " for c in text[: column - 1])
            message += f"\n{text}\n{pad}^"
        super().__init__(message)


class UnsupportedInstructionError(PtxError):
    """An instruction that the simulator does not execute."""


class SimulationError(TilecError):
    """A run that cannot go on, or a report that holds findings.

    Attributes:
        report: the report up to that point, or None.
    """

    def __init__(self, message: str, report: Report | None = None) -> None:
        self.report = report
        super().__init__(message)


class StoppedError(SimulationError):
    """A run that a kernel ended itself, or in which no thread can go on.

    Attributes:
        kind: kind of the finding that it makes.
        instruction: where the first thread concerned stands, or None.
        thread: that thread, or empty.
    """

    def __init__(
        self, kind: str, message: str, instruction: Instruction | None, thread: str
    ) -> None:
        self.kind = kind
        self.instruction = instruction
        self.thread = thread
        super().__init__(message)

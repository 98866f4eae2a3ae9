"""What can go wrong with a PTX text or a launch."""

from __future__ import annotations

from tilec.isa import LaunchError, TilecError

__all__ = ["LaunchError", "PtxError", "UnsupportedInstructionError"]


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

"""What is wrong with a kernel, shown at the user's own line."""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType

from tilec.isa import TilecError
from tilec.isa.notebooks import is_users
from tilec.isa.wording import counted
from tilec.report.diagnostics import Place, quoted

_SHOWN = 4
"""Calls on the way to an error that are shown."""


class KernelError(TilecError):
    """An error in a kernel's Python: `file:line:col: error: …`, the source line and a caret.

    Attributes:
        place: where it is.
        reason: what is wrong and what would be legal.
        calls: the calls of helpers on the way to it, innermost first.
        others: further errors that were found with it, and notes: place, severity, reason.
    """

    def __init__(
        self,
        place: Place,
        reason: str,
        calls: Sequence[Place] = (),
        others: Sequence[tuple[Place, str, str]] = (),
    ) -> None:
        self.place = place
        self.reason = reason
        self.calls = tuple(calls)
        self.others = tuple(others)
        super().__init__("\n".join(self._lines()))

    def _lines(self) -> list[str]:
        lines = [f"{self.place}: error: {self.reason}", *quoted(self.place)]
        for call in self.calls[:_SHOWN]:
            lines += [f"{call}: note: called from here", *quoted(call)]
        if len(self.calls) > _SHOWN:
            lines.append(f"note: and {counted(len(self.calls) - _SHOWN, 'more call')}")
        for place, severity, reason in self.others:
            lines += [f"{place}: {severity}: {reason}", *quoted(place)]
        return lines


def user_places(traceback: TracebackType | None) -> list[Place]:
    """The places in the user's code that an exception passed through, innermost first."""
    found: list[Place] = []
    while traceback is not None:
        frame = traceback.tb_frame
        if is_users(frame):
            position = list(frame.f_code.co_positions())[traceback.tb_lasti // 2]
            line, column = position[0] or traceback.tb_lineno, position[2] or 0
            found.append(Place(frame.f_code.co_filename, line, column + 1))
        traceback = traceback.tb_next
    return found[::-1]

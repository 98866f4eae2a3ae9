"""Findings of the simulator at the lines of the program, of PTX that does not tell them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from tilec.report.ptx_places import places_of
from tilec.sim import Report, SimulationError

_LINES = re.compile(r"(?:<ptx>:|\bline )\d+\b(?! \()|\blines \d+(?:, \d+)*\b(?! \()")
"""Lines of PTX in a message, of which no line of a program is said."""


def name_lines(report: Report, ptx: str, with_lines: Callable[[], str]) -> None:
    """Say of findings which line of the program they are about.

    Args:
        report: whose findings change.
        ptx: what ran.
        with_lines: makes the same with `.loc`; it is called if a finding lacks its line.
    """
    unsaid = [one for one in report.findings if one.line and not one.source]
    if not unsaid:
        return
    origins = _origins(ptx, with_lines)
    for one in unsaid:
        one.source = origins.get(one.line, "")
        one.message = _named(one.message, origins)


def with_lines_named(
    error: SimulationError, ptx: str, with_lines: Callable[[], str]
) -> SimulationError:
    """The same error, with its findings' lines of the program."""
    if error.report is not None:
        name_lines(error.report, ptx, with_lines)
    if _LINES.search(str(error)) is None:
        return error
    return SimulationError(_named(str(error), _origins(ptx, with_lines)), error.report)


def _origins(ptx: str, with_lines: Callable[[], str]) -> Mapping[int, str]:
    """Of lines of PTX, `file:line` of the program."""
    return {at: f"{file}:{line}" for at, (file, line, _) in places_of(ptx, with_lines())}


def _named(message: str, origins: Mapping[int, str]) -> str:
    def one(number: re.Match[str]) -> str:
        origin = origins.get(int(number[0]))
        return number[0] if origin is None else f"{number[0]} ({origin})"

    return _LINES.sub(lambda lines: re.sub(r"\d+", one, lines[0]), message)

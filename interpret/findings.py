"""What the interpreter has to say of a program besides its results."""

from __future__ import annotations

from typing import NamedTuple

from tilec.ir.aliases import Location
from tilec.isa import TilecError


class Finding(NamedTuple):
    """Something that the program does and must not, or whose result is not said.

    Attributes:
        kind: `bounds`, `race`, `uninitialised`, `overwritten`, `in flight`, `proxy`, `barrier`,
            `divergent`, `unspecified`, `columns`, `deadlock` or `endless`.
        message: what it is.
        location: of the op.
    """

    kind: str
    message: str
    location: Location


class NoMeaning(TilecError):  # noqa: N818 (it is not a fault of the program's)
    """An op, or a use of it, of which the interpreter does not know what it means.

    Attributes:
        op: the op's name.
        location: its place.
    """

    def __init__(self, op: str, location: Location, why: str = "") -> None:
        super().__init__(f"'{op}' op has no interpretation{f': {why}' if why else ''}")
        self.op = op
        self.location = location


class Undefined(TilecError):  # noqa: N818
    """A program that cannot go on, since it takes too many steps or waits for nothing."""

    def __init__(self, finding: Finding) -> None:
        super().__init__(finding.message)
        self.finding = finding

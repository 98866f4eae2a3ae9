"""How a block of statements ends."""

from __future__ import annotations

from enum import IntEnum
from typing import Any, NamedTuple


class Way(IntEnum):
    """A way in which a block ends, as a number that the kernel can hold."""

    END = 0
    CONTINUE = 1
    BREAK = 2
    RETURN = 3


class BlockEnd(NamedTuple):
    """How a block ended, or may end when the kernel runs.

    Attributes:
        ways: those that are possible.
        code: which of them it is: one of `Way`, or a scalar of the kernel if there are several.
    """

    ways: frozenset[Way]
    code: Any

    @property
    def known(self) -> Way | None:
        """The only way; None if the kernel decides."""
        return next(iter(self.ways)) if len(self.ways) == 1 else None

    def without(self, *ways: Way) -> BlockEnd:
        """The same where it is known that it is none of these."""
        return end_of(self.ways - set(ways), self.code)


def end_of(ways: frozenset[Way], code: Any) -> BlockEnd:
    """An end in one of several ways, told by a code that is needed if there are two."""
    return BlockEnd(ways, next(iter(ways)) if len(ways) == 1 else code)


def ended(way: Way) -> BlockEnd:
    """An end that is known when the kernel is compiled."""
    return BlockEnd(frozenset((way,)), way)


END = ended(Way.END)
"""The end of the last statement."""
VALUE = "the returned value"
"""The name of what a function returns among those of its variables; no variable has it."""
CODE = "the way it ends"
"""The name of a block's `code` where two blocks are joined."""

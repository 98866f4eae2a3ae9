"""Registers of an operand, and what has been decoded from them."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, TypeVar

from numpy.typing import NDArray

T = TypeVar("T")


class Fragment:
    """Registers of one operand for many warps.

    Matrices decoded from them are kept for the next product, since the same fragment of A meets
    several of B, and a result is the next addend. So registers must not be written to.

    Args:
        registers: (warps, registers, 32), or what makes them when they are first asked for.
    """

    __slots__ = ("_made", "_registers")

    def __init__(self, registers: NDArray[Any] | Callable[[], NDArray[Any]]) -> None:
        self._registers = registers
        self._made: dict[Hashable, Any] = {}

    @property
    def registers(self) -> NDArray[Any]:
        """(warps, registers, 32)."""
        if callable(self._registers):
            self._registers = self._registers()
        return self._registers

    def made(self, key: Hashable, make: Callable[[], T]) -> T:
        """What `make` gives, called once for each key."""
        found: T
        if key in self._made:
            found = self._made[key]
        else:
            found = self._made[key] = make()
        return found

    def keep(self, key: Hashable, value: object) -> None:
        """Let `made` give this."""
        self._made[key] = value

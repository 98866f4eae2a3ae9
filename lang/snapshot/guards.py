"""Checks that what was read is as it was: fast, since every launch makes them.

What was read is compared by identity, down to values that cannot change. So a guard may fail though
nothing differs, and then the values are looked at again; it never holds where something does.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from operator import is_, itemgetter
from typing import Any, Final

import numpy as np

Get = Callable[[Any, Any], Any]
"""As `get` of a dictionary: the value of a key, or the default."""
Count = Callable[[Any], int]
Iterate = Callable[[Any], Iterator[object]]


class _Missing:
    """What stands for a value where there is none."""

    def __repr__(self) -> str:
        return "nothing"


MISSING: Final = _Missing()


class Guards:
    """What was read, and what it was. An object that is guarded is kept alive."""

    def __init__(self) -> None:
        self._entries: list[tuple[Get, object, object]] = []
        self._parts: list[tuple[Callable[[Any], object], object, object]] = []
        self._elements: list[tuple[Count, Iterate, Any, tuple[object, ...]]] = []
        self._arrays: list[tuple[np.ndarray[Any, Any], object, bytes | None]] = []
        self._variables: list[tuple[str, str | None]] = []
        self._environments: list[dict[str, str]] = []

    def entry(self, get: Get, key: object, value: object) -> None:
        """`get(key, MISSING)` is `value`."""
        self._entries.append((get, key, value))

    def item(self, sequence: Sequence[object], index: int) -> None:
        """`sequence[index]` is what it is."""
        self.part(itemgetter(index), sequence, sequence[index])

    def part(self, get: Callable[[Any], object], owner: object, value: object) -> None:
        """`get(owner)` is `value`."""
        self._parts.append((get, owner, value))

    def elements(self, container: Collection[object], base: type | None = None) -> None:
        """A container has the same elements in the same order.

        Args:
            container: any.
            base: the class whose methods say what is in it; by default its own.
        """
        methods: Any = base or type(container)
        found = tuple(methods.__iter__(container))
        self._elements.append((methods.__len__, methods.__iter__, container, found))

    def mapping(self, container: Mapping[Any, object]) -> None:
        """A mapping has the same keys and values in the same order."""
        self.elements(container.keys())
        self.elements(container.values())

    def array(self, array: np.ndarray[Any, Any], *, bits: bool = True) -> None:
        """An array has the same form and, if wanted, bits."""
        self._arrays.append((array, form(array), array.tobytes() if bits else None))

    def variable(self, name: str, value: str | None) -> None:
        """A variable of the environment is `value`, or None if it is not set."""
        self._variables.append((name, value))

    def environment(self) -> None:
        """All variables of the environment are what they are."""
        self._environments.append(dict(os.environ))

    def hold(self) -> bool:
        """Whether all is as it was."""
        try:
            return self._hold()
        except (AttributeError, LookupError, RuntimeError, ValueError):  # no longer there
            return False

    def _hold(self) -> bool:
        for get, key, value in self._entries:
            if get(key, MISSING) is not value:
                return False
        for part, owner, value in self._parts:
            if part(owner) is not value:
                return False
        for count, iterate, container, elements in self._elements:
            if count(container) != len(elements):
                return False
            if not all(map(is_, iterate(container), elements)):
                return False
        for array, known, bits in self._arrays:
            if form(array) != known or (bits is not None and array.tobytes() != bits):
                return False
        for name, known in self._variables:
            if os.environ.get(name) != known:
                return False
        return all(dict(os.environ) == environment for environment in self._environments)


def form(array: np.ndarray[Any, Any]) -> tuple[object, ...]:
    """Everything about an array but its elements."""
    return array.dtype, array.shape, array.strides, array.flags.num

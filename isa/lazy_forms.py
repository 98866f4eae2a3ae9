"""Forms that are made when they are asked for: where there are thousands, and programs use few."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain

from .form_classes import Form


class LazyForms(Mapping[str, Form]):
    """Forms by key, each made once.

    Args:
        makers: what makes each form, by its key, in the table's order.
    """

    def __init__(self, makers: Mapping[str, Callable[[], Form]]) -> None:
        self._makers = makers
        self._made: dict[str, Form] = {}

    def __getitem__(self, key: str) -> Form:
        found = self._made.get(key)
        if found is None:
            found = self._made[key] = self._makers[key]()
        return found

    def __contains__(self, key: object) -> bool:
        return key in self._makers

    def __iter__(self) -> Iterator[str]:
        return iter(self._makers)

    def __len__(self) -> int:
        return len(self._makers)


class ChainedForms(Mapping[str, Form]):
    """Several mappings of forms, one after the other, without a key in common.

    Args:
        parts: the mappings.
    """

    def __init__(self, parts: Sequence[Mapping[str, Form]]) -> None:
        self._parts = parts

    def __getitem__(self, key: str) -> Form:
        for part in self._parts:
            if key in part:
                return part[key]
        raise KeyError(key)

    def __contains__(self, key: object) -> bool:
        return any(key in part for part in self._parts)

    def __iter__(self) -> Iterator[str]:
        return chain.from_iterable(self._parts)

    def __len__(self) -> int:
        return sum(map(len, self._parts))

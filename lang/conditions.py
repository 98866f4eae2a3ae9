"""What Python's `and`, `or`, `not`, conditional expressions and some builtins do in kernels."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from tilec.isa import TilecError

from . import rewriting
from .arithmetic import maximum, minimum
from .branches import choice
from .dtypes import bool_
from .program import Range
from .tile import Tile

Later = Callable[[], Any]


def _and(first: Any, *rest: Later) -> Any:
    for part in rest:
        if isinstance(first, Tile):
            first = _truth(first, "and", "&") & _truth(part(), "and", "&")
        elif not first:
            return first
        else:
            first = part()
    return first


def _or(first: Any, *rest: Later) -> Any:
    for part in rest:
        if isinstance(first, Tile):
            first = _truth(first, "or", "|") | _truth(part(), "or", "|")
        elif first:
            return first
        else:
            first = part()
    return first


def _not(value: Any) -> Any:
    return ~_truth(value, "not", "~") if isinstance(value, Tile) else not value


def _choice(condition: Any, one: Later, other: Later) -> Any:
    """`one if condition else other`."""
    if isinstance(condition, Tile):
        return choice(condition, one, other)
    return one() if condition else other()


def _truth(value: Any, word: str, operator: str) -> Any:
    if isinstance(value, Tile):
        if value.shape:
            raise TilecError(f"'{word}' takes scalars; of tiles use {operator}, or tl.where")
        return value.astype(bool_)
    return bool(value)


def _range(*arguments: Any) -> Range:
    """`range` as a loop of the kernel."""
    if not 1 <= len(arguments) <= 3:
        raise TilecError(f"range takes one to three numbers, not {len(arguments)}")
    start, stop, *step = (0, *arguments) if len(arguments) == 1 else arguments
    return Range(start, stop, *step)


def _extreme(name: str, combine: Callable[[Any, Any], Tile]) -> Callable[..., Any]:
    plain = getattr(builtins, name)

    def extreme(*arguments: Any, **options: Any) -> Any:
        values = arguments[0] if len(arguments) == 1 else arguments
        if isinstance(values, Tile):
            raise TilecError(f"of the elements of a tile, tl.{name} takes the extreme")
        if not any(isinstance(value, Tile) for value in values):
            return plain(*arguments, **options)
        found, *rest = values
        for value in rest:
            found = combine(found, value)
        return found

    return extreme


BUILTINS: Mapping[str, Any] = MappingProxyType(
    {
        "range": _range,
        "max": _extreme("max", maximum),
        "min": _extreme("min", minimum),
    }
)
"""Builtins that take scalars of the kernel, too; a user's own names come before them."""

REWRITTEN: Mapping[str, Any] = MappingProxyType(
    {
        rewriting.AND: _and,
        rewriting.OR: _or,
        rewriting.NOT: _not,
        rewriting.CHOICE: _choice,
    }
)

"""What Python's `and`, `or`, `not`, conditional expressions and some builtins do in kernels."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from operator import not_, truth
from types import MappingProxyType
from typing import Any

from tilec.isa import TilecError

from . import rewriting
from .arithmetic import binary, maximum, minimum
from .branches import choice
from .carried import is_number
from .casts import common
from .dtypes import bool_
from .elementwise import where
from .program import Range
from .tile import Tile

Later = Callable[[], Any]


def _and(first: Any, *rest: Later) -> Any:
    return _joined(first, rest, not_, partial(_operand, "and"))


def _or(first: Any, *rest: Later) -> Any:
    return _joined(first, rest, truth, partial(_operand, "or"))


def _all(first: Any, *rest: Later) -> Any:
    """`and` where the truth alone matters."""
    return _joined(first, rest, not_, lambda a, b: _truth(a, "and") & _truth(b, "and"))


def _any(first: Any, *rest: Later) -> Any:
    """`or` where the truth alone matters."""
    return _joined(first, rest, truth, lambda a, b: _truth(a, "or") | _truth(b, "or"))


def _joined(
    first: Any,
    rest: Sequence[Later],
    ends: Callable[[Any], bool],
    combine: Callable[[Tile, Any], Tile],
) -> Any:
    """Operands from left to right, up to one of Python's that ends it; those of the kernel all."""
    for part in rest:
        if isinstance(first, Tile):
            first = combine(first, part())
        elif ends(first):
            return first
        else:
            first = part()
    return first


def _operand(word: str, first: Tile, second: Any) -> Tile:
    """`first and second`, or `first or second`: as in Python, one of the two.

    Raises:
        TilecError: if they are tiles, or of two types.
    """
    _check_scalar(first, word)
    held = first.astype(bool_)
    if isinstance(second, Tile):
        _check_scalar(second, word)
        is_bool, fits = second.dtype is bool_, common(first, second) is not None
    else:
        is_bool, fits = isinstance(second, bool), is_number(second)
    if not fits or is_bool != (first.dtype is bool_):
        raise TilecError(
            f"'{word}' gives one of its operands, and {first!r} and {second!r} are of two types: "
            "compare first, as in n != 0, or cast one"
        )
    if is_bool:
        return binary("bitwise_and" if word == "and" else "bitwise_or", held, second)
    return where(held, second, first) if word == "and" else where(held, first, second)


def _not(value: Any) -> Any:
    return ~_truth(value, "not") if isinstance(value, Tile) else not value


def _choice(condition: Any, one: Later, other: Later) -> Any:
    """`one if condition else other`."""
    if isinstance(condition, Tile):
        return choice(condition, one, other)
    return one() if condition else other()


def _truth(value: Any, word: str) -> Any:
    if isinstance(value, Tile):
        _check_scalar(value, word)
        return value.astype(bool_)
    return bool(value)


def _check_scalar(value: Tile, word: str) -> None:
    if value.shape:
        operator = {"and": "&", "or": "|", "not": "~"}[word]
        raise TilecError(f"'{word}' takes scalars; of tiles use {operator}, or tl.where")


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
        rewriting.ALL: _all,
        rewriting.ANY: _any,
        rewriting.NOT: _not,
        rewriting.CHOICE: _choice,
    }
)

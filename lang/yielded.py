"""Values that loops and branches yield: tiles, numbers, tuples, lists and dataclasses of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

from tilec.isa import TilecError

from .casts import astype, widen
from .dtypes import DType, bool_, float32, intp
from .emit import constant
from .tile import Tile


@dataclass(frozen=True)
class Undefined:
    """What a name stands for where it may have no value.

    Attributes:
        reason: why it has none.
    """

    reason: str


def leaves(value: Any) -> Iterator[Any]:
    """What a value is made of, from left to right."""
    if isinstance(value, tuple | list):
        for part in value:
            yield from leaves(part)
    elif _is_record(value):
        for field in fields(value):
            yield from leaves(getattr(value, field.name))
    else:
        yield value


def _is_record(value: Any) -> bool:
    """Whether a value is an object of a dataclass."""
    return is_dataclass(value) and not isinstance(value, type)


def rebuild(value: Any, parts: Iterator[Any]) -> Any:
    """A value like `value` made of other leaves."""
    if isinstance(value, list):
        return [rebuild(part, parts) for part in value]
    if isinstance(value, tuple):
        made = (rebuild(part, parts) for part in value)
        return type(value)(*made) if hasattr(value, "_fields") else type(value)(made)
    if _is_record(value):
        record = object.__new__(type(value))
        for field in fields(value):
            object.__setattr__(record, field.name, rebuild(getattr(value, field.name), parts))
        return record
    return next(parts)


def by_leaf(make: Callable[..., Any], value: Any, *others: Any) -> Any:
    """A value like `value`, each leaf made of the leaves at its place, of values of one form."""
    parts = zip(*map(leaves, (value, *others)), strict=True)
    return rebuild(value, iter([make(*at) for at in parts]))


def with_own_lists(names: Mapping[str, Any], local: Iterable[str]) -> dict[str, Any]:
    """Names with copies of their lists, which may be changed; names of one list have one copy.

    Args:
        names: values by name.
        local: the names that may have lists that change.
    """
    lists = {name: names[name] for name in local if isinstance(names.get(name), list)}
    copies = {id(value): by_leaf(lambda leaf: leaf, value) for value in lists.values()}
    return {**names, **{name: copies[id(value)] for name, value in lists.items()}}


def have_same_form(one: Any, other: Any) -> bool:
    """Whether two values are tuples, lists and dataclasses of the same form."""
    if _is_record(one) or _is_record(other):
        if type(one) is not type(other):
            return False
        pairs = ((getattr(one, f.name), getattr(other, f.name)) for f in fields(one))
        return all(have_same_form(a, b) for a, b in pairs)
    if isinstance(one, tuple | list):
        return (
            type(one) is type(other)
            and len(one) == len(other)
            and all(have_same_form(a, b) for a, b in zip(one, other, strict=True))
        )
    return not isinstance(other, tuple | list)


def is_number(value: Any) -> bool:
    """Whether a value is one of Python's numbers, which can become a scalar of the kernel."""
    return isinstance(value, bool | int | float)


def as_scalar(value: Any, dtype: type[DType] | None = None) -> Tile:
    """A tile, or a number as a scalar of the kernel."""
    if isinstance(value, Tile):
        return value
    default = bool_ if isinstance(value, bool) else float32 if isinstance(value, float) else intp
    element = dtype or default
    natural = element is intp and value >= 0
    return Tile(constant(value, element), element, natural=natural)


def convert_to(value: Any, like: Tile, name: str, where: str) -> Tile:
    """`value` as a tile of the type of `like`.

    Args:
        value: a tile or a number.
        like: a tile.
        name: of the variable, for errors.
        where: what hands it on, for errors.

    Raises:
        TilecError: if it is of another type.
    """
    if is_number(value):
        natural = like.dtype is intp and value >= 0
        made = constant(value, like.dtype, like.shape)
        return Tile(made, like.dtype, like.shape, natural=natural)
    if not isinstance(value, Tile):
        raise TilecError(f"'{name}' is {value!r} {where}, where it was {like!r}")
    if not value.shape and not like.shape and intp in (value.dtype, like.dtype):
        value = _convert_integer(value, like.dtype)
    if value.dtype is not like.dtype or value.shape != like.shape:
        raise TilecError(
            f"'{name}' changes its type {where}, from {like!r} to {value!r}: it must keep "
            "element type and shape; cast it, or begin with such a tile"
        )
    assert isinstance(value, Tile)
    return value


def _convert_integer(value: Tile, dtype: type[DType]) -> Tile:
    """A scalar of intp, or one to become so, converted if nothing is lost but digits of a float."""
    if dtype.kind == "float":
        return astype(value, dtype)
    wide = widen(value, dtype)
    return value if wide is None else wide


def zeros_like(value: Any) -> Any:
    """A value with zeros for its tiles, for where nobody reads them; anything else as it is."""

    def zero(leaf: Any) -> Any:
        if not isinstance(leaf, Tile):
            return leaf
        made = constant(0, leaf.dtype, leaf.shape)
        return Tile(made, leaf.dtype, leaf.shape, natural=leaf.natural)

    return by_leaf(zero, value)


def is_same(one: Any, other: Any) -> bool:
    """Whether two values of the compilation are the same; 0.0 and -0.0 are not."""
    if one is other:
        return True
    if type(one) is not type(other) or not is_number(one):
        return False
    return float(one).hex() == float(other).hex() if isinstance(one, float) else bool(one == other)

"""Parameters of a search space: a name and the values to try."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .errors import TuningError

_MOST_VALUES = 4096


@dataclass(frozen=True)
class Parameter:
    """A parameter of a search space.

    Attributes:
        name: the name of a constant or setting of a kernel, or of a parameter of a template.
        values: the values to try, in order, without duplicates.
        default: the value of the kernel without tuning.
        place: `file:line:col` of its declaration, or empty.
    """

    name: str
    values: tuple[int, ...]
    default: int
    place: str = ""


def powers(first: int, last: int, *, base: int = 2) -> tuple[int, ...]:
    """`first`, `first * base`, … up to `last`.

    Raises:
        TuningError: if there is no such power, or a bound or the base is too small.
    """
    if first < 1 or base < 2:
        raise TuningError(f"powers({first}, {last}, base={base}); legal: from 1 on, by 2 or more")
    found: list[int] = []
    while first <= last and len(found) < _MOST_VALUES:
        found.append(first)
        first *= base
    if not found:
        raise TuningError("the first bound of the powers is above the last")
    return tuple(found)


def parameter(name: str, given: object, default: int | None, place: str = "") -> Parameter:
    """A parameter from how a declaration writes its values.

    Args:
        name: its name.
        given: a value, a list or `range` of them, or `{"from": 16, "to": 256}` with `"step"` or
            `"times"`, both bounds included.
        default: what the kernel has; None for the first value.
        place: where it stands.

    Raises:
        TuningError: at the place, for what gives no integers.
    """
    if not name.isidentifier():
        raise TuningError(f"'{name}' cannot name a parameter", place)
    if isinstance(given, Mapping):
        values: Iterable[Any] = _between(name, given, place)
    elif isinstance(given, Sequence) and not isinstance(given, str):
        values = given
    else:
        values = (given,)
    found = tuple(dict.fromkeys(_integer(name, one, place) for one in values))
    if not found:
        raise TuningError(f"parameter '{name}' has no values", place)
    if len(found) > _MOST_VALUES:
        raise TuningError(
            f"parameter '{name}' has {len(found)} values; legal: {_MOST_VALUES}", place
        )
    return Parameter(name, found, found[0] if default is None else default, place)


def _integer(name: str, value: object, place: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TuningError(f"parameter '{name}' has the value {value!r}; integers are legal", place)
    return value


def _between(name: str, given: Mapping[str, Any], place: str) -> Iterable[int]:
    """The values of `{"from": …, "to": …}`."""
    keys = set(given)
    if not {"from", "to"} <= keys or not keys <= {"from", "to", "step", "times"} or len(keys) > 3:
        raise TuningError(
            f"parameter '{name}' has {{{', '.join(sorted(map(str, keys)))}}}; legal: from and to, "
            "with step or times",
            place,
        )
    numbers = {key: _integer(name, value, place) for key, value in given.items()}
    first, last = numbers["from"], numbers["to"]
    step = numbers.get("step", 1)
    if first > last or step < 1 or ("times" in numbers and (numbers["times"] < 2 or first < 1)):
        raise TuningError(f"parameter '{name}' has no value between its bounds", place)
    if "times" in numbers:
        return powers(first, last, base=numbers["times"])
    return range(first, last + 1, step)

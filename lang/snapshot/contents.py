"""What builtin containers and numbers hold, and their subclasses beside their attributes."""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Collection
from functools import partial
from hashlib import blake2b
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np

from .exact import exact
from .guards import form
from .record import Record, UnrecordableError

Look: TypeAlias = Callable[[Record, str, Any], object]
"""Records a value under a label."""


def _look_at_sequence(record: Record, label: str, value: Any, base: type) -> list[object]:
    """Record the elements of a container, and give them, by the methods of its base."""
    parts = list(base.__iter__(value))  # type: ignore[attr-defined] # each of these has it
    if base is not tuple:
        record.guards.elements(value, base)
    texts = [exact(part) for part in parts]
    if None not in texts:
        record.line(label, f"{base.__name__} [{', '.join(map(str, texts))}]")
        return parts
    record.line(label, f"{base.__name__} of {len(parts)}")
    for at, part in enumerate(parts):
        record.add(f"{label}[{at}]", part)
    return parts


def _look_at_set(record: Record, label: str, value: Any, base: type) -> None:
    parts = _look_at_sequence(record, label, value, base)
    if not all(type(part) in (bool, int, float) for part in parts):
        record.set_order()


def _look_at_dict(record: Record, label: str, value: dict[Any, Any]) -> None:
    keys, values = value.keys(), value.values()
    if type(value) is not OrderedDict:  # whose order is another than that of its base
        keys, values = dict.keys(value), dict.values(value)
    _look_at_mapping(record, label, keys, values)


def _look_at_mapping(
    record: Record, label: str, keys: Collection[Any], values: Collection[Any]
) -> None:
    record.guards.elements(keys)
    record.guards.elements(values)
    texts = [exact(part) for part in (*keys, *values)]
    if None not in texts:
        half = len(keys)
        pairs = (f"{key}: {part}" for key, part in zip(texts[:half], texts[half:], strict=True))
        record.line(label, f"dict {{{', '.join(pairs)}}}")
        return
    record.line(label, f"dict of {len(keys)}")
    for at, (key, part) in enumerate(zip(keys, values, strict=True)):
        name = exact(key)
        record.line(f"key {at} of {label}", name or "an object")
        if name is None:
            record.add(f"key {at} of {label}", key)
        record.add(f"{label}[{key!r}]" if name else f"value {at} of {label}", part)


def _look_at_array(record: Record, label: str, value: np.ndarray[Any, Any]) -> None:
    if value.dtype.hasobject:
        raise UnrecordableError(f"{label} is an array of objects")
    record.guards.array(value)
    bits = blake2b(value.tobytes(), digest_size=16).hexdigest()
    record.line(label, f"array {form(value)} {bits}")


def _look_at_proxy(record: Record, label: str, value: MappingProxyType[Any, Any]) -> None:
    _look_at_mapping(record, label, value.keys(), value.values())


def _look_at_default_dict(record: Record, label: str, value: defaultdict[Any, Any]) -> None:
    _look_at_dict(record, label, value)
    record.guards.part(_FACTORY, value, value.default_factory)
    record.add(f"default of {label}", value.default_factory)


def _look_at_deque(record: Record, label: str, value: deque[Any]) -> None:
    _look_at_sequence(record, label, value, deque)
    record.line(f"length of {label}", str(value.maxlen))


_FACTORY = defaultdict.__dict__["default_factory"].__get__

CONTENTS: dict[type, Look] = {
    int: lambda record, label, value: record.line(label, str(exact(int.__pos__(value)))),
    float: lambda record, label, value: record.line(label, str(exact(float.__pos__(value)))),
    complex: lambda record, label, value: record.line(label, str(exact(complex.__pos__(value)))),
    str: lambda record, label, value: record.line(label, str(exact(str.__str__(value)))),
    bytes: lambda record, label, value: record.line(label, bytes.__repr__(value)),
    bytearray: partial(_look_at_sequence, base=bytearray),
    tuple: partial(_look_at_sequence, base=tuple),
    list: partial(_look_at_sequence, base=list),
    set: partial(_look_at_set, base=set),
    frozenset: partial(_look_at_set, base=frozenset),
    dict: _look_at_dict,
}
"""Of builtin classes and their subclasses: what is in them."""

OF_CONTAINERS: dict[type, Look] = {
    **{kind: CONTENTS[kind] for kind in (bytearray, tuple, list, set, frozenset, dict)},
    OrderedDict: _look_at_dict,
    MappingProxyType: _look_at_proxy,
    defaultdict: _look_at_default_dict,
    deque: _look_at_deque,
    np.ndarray: _look_at_array,
}
"""Of containers, not of their subclasses: what of them is recorded."""

"""Attributes that can be told without running any code: those of modules, classes and instances."""

from __future__ import annotations

from abc import ABCMeta
from types import FunctionType, MemberDescriptorType, ModuleType
from typing import Any, Final

import numpy as np

from .exact import exact
from .fixed import is_pure, name_of
from .guards import MISSING
from .record import Record

STOP: Final = object()
"""What an attribute is cannot be told: all of its object has to be looked at."""
DONE: Final = object()
"""What an attribute is has been recorded."""
_MRO = type.__dict__["__mro__"].__get__
_OF_ARRAYS = frozenset(("shape", "dtype", "ndim", "size", "itemsize", "nbytes"))


def attribute(record: Record, label: str, owner: Any, name: str) -> object:
    """An attribute of an object, with guards that it is as it was; or STOP, or DONE."""
    if type(owner) is ModuleType:
        return _of_module(record, label, owner, name)
    if issubclass(type(owner), type):
        return _of_class(record, owner, name)
    if type(owner) is np.ndarray and name in _OF_ARRAYS:
        record.guards.array(owner, bits=False)
        return getattr(owner, name)
    if exact(owner) is None and has_plain_access(type(owner)):
        return _of_instance(record, owner, name)
    return STOP


def has_plain_access(kind: type) -> bool:
    """Whether instances of a class have their attributes found as those of `object`."""
    found: object = kind.__getattribute__
    return found is object.__getattribute__


def dictionary(owner: Any) -> dict[str, object] | None:
    """The dictionary of an instance, whatever its class says of attributes; None without one."""
    try:
        found: dict[str, object] = object.__getattribute__(owner, "__dict__")
    except AttributeError:
        return None
    return found


def slot(descriptor: MemberDescriptorType, owner: object) -> object:
    """What an instance has in a slot; MISSING if it is empty."""
    try:
        return descriptor.__get__(owner)
    except AttributeError:
        return MISSING


def _of_module(record: Record, label: str, module: ModuleType, name: str) -> object:
    variables, pure = vars(module), is_pure(module.__name__)
    if pure and name not in variables and not module.__name__.startswith("tilec."):
        getattr(module, name, None)  # numpy, too, imports some of its parts when they are used
    value = variables.get(name, MISSING)
    record.guards.entry(variables.get, name, value)
    if pure and (value is MISSING or _is_called(value, name)):
        # tilec's operations come with their first use, and have the same line before it.
        record.fixed(f"{label}.{name}", f"{module.__name__}.{name}")
        return DONE
    if value is not MISSING:
        return value
    maker = variables.get("__getattr__", MISSING)
    record.guards.entry(variables.get, "__getattr__", maker)
    record.line(f"{label}.{name}", "nothing" if maker is MISSING else "from __getattr__")
    if maker is not MISSING:
        record.add(f"{label}.__getattr__", maker)
    return DONE


def _is_called(value: object, name: str) -> bool:
    return name_of(value) is not None and getattr(value, "__name__", None) == name


def _of_class(record: Record, owner: type, name: str) -> object:
    if exact(owner) is not None or type(owner) not in (type, ABCMeta) or hasattr(type, name):
        return STOP
    value = _in_classes(record, owner, name)
    if type(value) is staticmethod:
        return value.__func__
    if value is MISSING or (is_descriptor(value) and type(value) is not FunctionType):
        return STOP
    return value


def _of_instance(record: Record, owner: object, name: str) -> object:
    value = _in_classes(record, type(owner), name)
    record.guards.part(type, owner, type(owner))
    if type(value) is MemberDescriptorType:
        found = slot(value, owner)
        record.guards.part(value.__get__, owner, found)
        return STOP if found is MISSING else found
    own = dictionary(owner)
    if own is None or (value is not MISSING and is_descriptor(value)):
        return STOP
    record.guards.part(dictionary, owner, own)
    record.guards.entry(own.get, name, own.get(name, MISSING))
    found = own.get(name, value)
    return STOP if found is MISSING else found


def _in_classes(record: Record, owner: type, name: str) -> object:
    """What a class and its bases have under a name."""
    record.guards.part(_MRO, owner, _MRO(owner))
    for one in _MRO(owner):
        value = one.__dict__.get(name, MISSING)
        record.guards.entry(one.__dict__.get, name, value)
        if value is not MISSING:
            return value
    return MISSING


def is_descriptor(value: object) -> bool:
    """Whether a value in a class decides what an attribute is."""
    return hasattr(type(value), "__get__")

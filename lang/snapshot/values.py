"""Every value that can be recorded, kind by kind."""

from __future__ import annotations

import dataclasses
import functools
import operator
import os
from collections import namedtuple
from types import (
    BuiltinFunctionType,
    ClassMethodDescriptorType,
    FunctionType,
    GetSetDescriptorType,
    MemberDescriptorType,
    MethodDescriptorType,
    MethodType,
    MethodWrapperType,
    ModuleType,
    SimpleNamespace,
    WrapperDescriptorType,
)
from typing import Any

from ..functions import Function
from .code import look_at_function, look_at_source
from .contents import CONTENTS, OF_CONTAINERS, Look
from .exact import exact
from .fixed import class_name, name_of
from .objects import BUILTIN, look_at_class, look_at_instance, look_at_module
from .record import Members, Record, UnrecordableError


def look(record: Record, label: str, value: Any) -> None:
    """Record a value.

    Raises:
        UnrecordableError: if it cannot be.
    """
    text = exact(value)
    if text is not None:
        if issubclass(type(value), type):
            record.fixed(label, text.removeprefix("class "))
        else:
            record.line(label, text)
        return
    if issubclass(type(value), type):
        look_at_class(record, label, value)
        return
    if not record.first(label, value):
        return
    known = _KINDS.get(type(value))
    if known is not None:
        known(record, label, value)
        return
    name = name_of(value) if type(value).__module__ in ("builtins", "numpy") else None
    if name is not None:
        record.fixed(label, name)
    elif value is os.environ:
        record.guards.environment()
        record.line(label, repr(sorted(os.environ.items())))
    else:
        for base in BUILTIN:
            if issubclass(type(value), base):
                CONTENTS[base](record, f"contents of {label}", value)
        look_at_instance(record, label, value)


def _look_at_builtin(record: Record, label: str, value: Any) -> None:
    """A builtin function, or a builtin method of a class or an object."""
    name, owner = name_of(value), getattr(value, "__self__", None)
    if name is not None:
        record.fixed(label, name)
    elif owner is None or isinstance(owner, ModuleType):
        raise UnrecordableError(f"{label} is {value.__name__}, which may give anything")
    else:
        record.line(label, f"builtin method {value.__name__}")
        record.add(f"object of {label}", owner)


def _look_at_descriptor(record: Record, label: str, value: Any) -> None:
    owner = value.__objclass__
    name = class_name(owner)
    plain = type(value) is MemberDescriptorType or value.__name__ in ("__dict__", "__weakref__")
    if name is None and not plain:
        raise UnrecordableError(f"{label} is a method of {owner.__name__}, written in C")
    record.line(label, f"{value.__name__} of {name or 'its class'}")


def _look_at_namespace(record: Record, label: str, value: SimpleNamespace) -> None:
    record.line(label, "namespace")
    record.members(Members(label, vars(value).get, vars(value).keys(), lambda _: True))


def _look_at_field(record: Record, label: str, value: dataclasses.Field[Any]) -> None:
    """A field of a dataclass; of its type nothing is read but by code that names it."""
    record.line(label, "field")

    def get(name: str, default: object) -> object:
        return getattr(value, name, default) if name in value.__slots__ else default

    names = dict.fromkeys(value.__slots__)
    record.members(Members(label, get, names.keys(), lambda name: name != "type"))


def _look_at_statements(record: Record, label: str, value: Function) -> None:
    look_at_source(record, label, value.source, value.signature)


def _look_at_results(_record: Record, label: str, _value: object) -> None:
    raise UnrecordableError(f"{label} keeps the results of earlier calls, by functools.cache")


def _by_parts(what: str, *names: str) -> Look:
    """Record a value by attributes that never change."""

    def look_at(record: Record, label: str, value: object) -> None:
        record.line(label, what)
        record.any_class |= type(value) is classmethod
        for name in names:
            record.add(f"{name} of {label}", getattr(value, name))

    return look_at


def _by_reduction(record: Record, label: str, value: Any) -> None:
    """Record a value by the arguments that make it."""
    record.line(label, type(value).__name__)
    arguments = value.__reduce__()[1]
    record.mention(word for part in arguments if type(part) is str for word in part.split("."))
    for at, part in enumerate(arguments):
        record.add(f"{label}({at})", part)


_KINDS: dict[type, Look] = {
    **OF_CONTAINERS,
    FunctionType: look_at_function,
    Function: _look_at_statements,
    ModuleType: look_at_module,
    SimpleNamespace: _look_at_namespace,
    BuiltinFunctionType: _look_at_builtin,
    MethodWrapperType: _look_at_builtin,
    MethodType: _by_parts("method", "__func__", "__self__"),
    staticmethod: _by_parts("static method", "__func__"),
    classmethod: _by_parts("class method", "__func__"),
    property: _by_parts("property", "fget", "fset", "fdel"),
    functools.cached_property: _by_parts("cached property", "func"),
    functools.partial: _by_parts("partial", "func", "args", "keywords", "__dict__"),
    dataclasses.Field: _look_at_field,
    type(functools.lru_cache(len)): _look_at_results,
    type(vars(namedtuple("_Field", "x"))["x"]): _by_reduction,
    operator.attrgetter: _by_reduction,
    operator.itemgetter: _by_reduction,
    operator.methodcaller: _by_reduction,
    **dict.fromkeys(
        (
            ClassMethodDescriptorType,
            GetSetDescriptorType,
            MemberDescriptorType,
            MethodDescriptorType,
            WrapperDescriptorType,
        ),
        _look_at_descriptor,
    ),
}
"""Of other classes, not of their subclasses: what of an object is recorded."""

"""What classes, instances and modules hold: attributes, of which those count that code names."""

from __future__ import annotations

import abc
import enum
import typing
from types import (
    BuiltinFunctionType,
    ClassMethodDescriptorType,
    GetSetDescriptorType,
    MemberDescriptorType,
    MethodDescriptorType,
    ModuleType,
    WrapperDescriptorType,
)
from typing import Any

from .attributes import dictionary, slot
from .exact import exact
from .fixed import class_name, is_pure
from .record import NOT_READ, Members, Record, UnrecordableError

_MRO = type.__dict__["__mro__"].__get__
_HEAP_TYPE = 1 << 9
"""`Py_TPFLAGS_HEAPTYPE`, of `type.__flags__`."""
_INERT = frozenset((object, abc.ABC, typing.Generic, typing.Protocol))
"""Classes that read nothing of their subclasses' instances."""
_MAKERS = frozenset(("__init__", "__new__", "__post_init__"))
"""Methods that run only where an instance is made."""
BUILTIN = (int, float, complex, str, bytes, bytearray, tuple, list, set, frozenset, dict)
"""Builtin classes whose contents a subclass has beside its attributes."""
_OF_C = (
    ClassMethodDescriptorType,
    GetSetDescriptorType,
    MethodDescriptorType,
    WrapperDescriptorType,
)


def look_at_module(record: Record, label: str, module: ModuleType) -> None:
    """Record a module that code holds as a value."""
    name = module.__name__
    record.line(label, f"module {name}" if is_pure(name) else "module")
    if not name.startswith("tilec.") or not is_pure(name):
        record.variables(label, vars(module))
        if "__getattr__" in vars(module):
            record.add(f"{label}.__getattr__", vars(module)["__getattr__"])


def look_at_class(record: Record, label: str, owner: type, *, made: bool = True) -> None:
    """Record a class.

    Args:
        record: where to.
        label: what to call it.
        owner: the class, not of fixed code.
        made: whether code may make instances of it.

    Raises:
        UnrecordableError: if a base of it is written in C, and nothing is known of it.
    """
    if made:
        record.made.add(owner)
    if not record.first(label, owner):
        return
    record.line(label, f"class {owner.__qualname__}")
    record.guards.part(_MRO, owner, _MRO(owner))
    for base in _MRO(owner):
        name = class_name(base)
        if name is not None:
            record.line(f"base of {label}", name)
        elif not is_of_python(base):
            raise UnrecordableError(f"{label} is a {base.__name__}, which is written in C")
        else:
            # A pattern reads the attributes that the class says, by position.
            record.mention(base.__dict__.get("__match_args__", ()))
            _look_at_namespace(record, label, base, of=owner)
    if type(owner) not in (type, abc.ABCMeta, enum.EnumMeta):
        record.add(f"class of {label}", type(owner))


def _look_at_namespace(record: Record, label: str, base: type, *, of: type) -> None:
    def always(name: str) -> bool:
        if name in _MAKERS:
            return record.any_class or of in record.made
        special = name.startswith("__") and name.endswith("__")
        of_enum = isinstance(base, enum.EnumMeta) and name.startswith("_") and name.endswith("_")
        return (special or of_enum) and name not in NOT_READ

    if base is not of:
        label = f"{base.__name__} of {label}"
    record.members(Members(label, base.__dict__.get, base.__dict__.keys(), always))


def look_at_instance(record: Record, label: str, owner: object) -> None:
    """Record an object by its class and its attributes.

    Raises:
        UnrecordableError: if its class is written in C, and nothing is known of it.
    """
    kind = type(owner)
    name = class_name(kind)
    if not _holds_attributes_only(kind):
        raise UnrecordableError(f"{label} is a {kind.__name__}, whose state is its own")
    record.guards.part(type, owner, kind)
    if name is None:
        look_at_class(record, f"class of {label}", kind, made=False)
    else:
        record.line(label, name)
    whole = any(class_name(base) and base not in (*_INERT, *BUILTIN) for base in _MRO(kind))
    own = dictionary(owner)
    if own is not None:
        record.guards.part(dictionary, owner, own)
        record.members(Members(label, own.get, own.keys(), (lambda _: True) if whole else None))
    slots = _slots(kind)

    def get(key: str, default: object) -> object:
        return slot(slots[key], owner) if key in slots else default

    if slots:
        record.members(Members(label, get, slots.keys(), (lambda _: True) if whole else None))


def _slots(kind: type) -> dict[str, Any]:
    """The descriptors of the attributes that a class names in `__slots__`, by name."""
    return {
        name: value
        for base in reversed(_MRO(kind))
        for name, value in base.__dict__.items()
        if type(value) is MemberDescriptorType and base not in BUILTIN
    }


def _holds_attributes_only(kind: type) -> bool:
    """Whether the instances of a class are made of attributes, and of contents that are known."""
    return all(is_of_python(base) or base in (*_INERT, *BUILTIN) for base in _MRO(kind))


def is_of_python(kind: type) -> bool:
    """Whether a class was made by Python's `class`, so that its attributes are all it has."""
    if not kind.__flags__ & _HEAP_TYPE:
        return False
    declared = "__slots__" in kind.__dict__
    for name, value in kind.__dict__.items():
        if name in ("__dict__", "__weakref__"):
            continue
        if type(value) in _OF_C and value.__objclass__ is kind:
            return False
        if type(value) is MemberDescriptorType and not declared:
            return False
        if type(value) is BuiltinFunctionType and value.__self__ is kind:
            return False
    return True


def likeness(owner: Any) -> object:
    """What two objects have in common of which the same can be recorded while neither changes.

    Of an object that is nothing but plain attributes, and perhaps a tuple's plain elements, its
    class and those: another made of the same is recorded as the same. Of any other, its id.
    """
    kind = type(owner)
    is_tuple = issubclass(kind, tuple)
    held = exact(tuple.__getitem__(owner, slice(None))) if is_tuple else ""
    own = dictionary(owner)
    plain = "" if own is None else exact(tuple(own.items()))
    if held is None or plain is None or not _adds_a_dictionary(kind):
        return id(owner)
    return kind, held, plain


def _adds_a_dictionary(kind: type) -> bool:
    """Whether a class adds nothing to `object` or `tuple` but a dictionary."""
    bases = (object, tuple, *_INERT)
    return all(is_of_python(base) or base in bases for base in _MRO(kind)) and not _slots(kind)

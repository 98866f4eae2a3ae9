"""What the paths that code reads lead to."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.util import resolve_name
from types import CellType, ModuleType
from typing import NamedTuple

from .attributes import DONE, STOP, attribute
from .guards import MISSING
from .paths import Import, Name, Path, Step
from .record import Record, UnrecordableError

_SCANNED = (getattr, hasattr, type)
"""Builtins of which the code around them tells what they are used for."""


class Scope(NamedTuple):
    """What a function's names stand for.

    Attributes:
        cells: those of enclosing functions.
        globals: those of its module.
        builtins: those of Python.
        statements: whether its statements are the kernel's, where names of all kinds are one.
    """

    cells: Mapping[str, CellType]
    globals: Mapping[str, object]
    builtins: Mapping[str, object]
    statements: bool = False


def contents(cell: CellType) -> object:
    """What a variable of an enclosing function is."""
    try:
        return cell.cell_contents
    except ValueError:
        return MISSING


def resolve(record: Record, path: Path, scope: Scope, where: str) -> None:
    """Record what a path leads to.

    Args:
        record: where to.
        path: what is read.
        scope: what its name may be.
        where: the function that reads it, for people.

    Raises:
        UnrecordableError: for what cannot be recorded.
    """
    label = str(path.root)
    if isinstance(path.root, Import):
        value: object = _imported(path.root, scope)
    else:
        value = _value(record, path.root, scope, where)
    if value is MISSING or (not path.steps and any(value is one for one in _SCANNED)):
        return
    if value is hash and where == "__hash__":
        return  # the hash of an object, which only what orders a set or asks for it depends on
    for at, step in enumerate(path.steps):
        if value is os.environ or value is os.getenv:
            taken = _variable(record, label, path.steps[at:], where)
        else:
            taken = _taken(record, f"{label} in {where}", value, step)
        if taken is DONE:
            return
        if taken is STOP:
            record.mention(step.key for step in path.steps[at:] if step.kind == "attribute")
            break
        label, value = f"{label}{step}", taken
    record.add(f"{label} in {where}", value)


def _value(record: Record, root: Name, scope: Scope, where: str) -> object:
    """What a name stands for; MISSING for nothing, and for a variable of an inner function."""
    if root.name in scope.cells and (root.cell or scope.statements):
        cell = scope.cells[root.name]
        value = contents(cell)
        record.guards.part(contents, cell, value)
        if value is MISSING:
            record.line(f"{root} in {where}", "nothing")
        return value
    if root.cell:
        return MISSING
    for names in (scope.globals, scope.builtins):
        value = names.get(root.name, MISSING)
        record.guards.entry(names.get, root.name, value)
        if value is not MISSING:
            return value
    record.line(f"{root} in {where}", "nothing")
    return MISSING


def _imported(root: Import, scope: Scope) -> ModuleType:
    """The module that an import statement gives, imported as the statement would."""
    name = root.module
    try:
        if root.level:
            package = scope.globals.get("__package__") or scope.globals.get("__name__")
            name = resolve_name("." * root.level + name, str(package))
        found = import_module(name)
        for part in root.names:
            if part not in vars(found) and hasattr(found, "__path__"):
                import_module(f"{name}.{part}")
    except ImportError as error:
        raise UnrecordableError(f"{root}: {error}") from None
    return found if root.leaf else import_module(name.partition(".")[0])


def _variable(record: Record, label: str, steps: Sequence[Step], where: str) -> object:
    """A variable of the environment that code reads by a name that stands in it."""
    match steps:
        case [Step("item", str(name)), *_]:
            pass
        case [Step("attribute", "get"), Step("call", (str(name), *_)), *_]:
            pass
        case [Step("call", (str(name), *_)), *_]:
            pass
        case _:
            return STOP
    value = os.environ.get(name)
    record.guards.variable(name, value)
    record.line(f"{label}[{name!r}] in {where}", repr(value))
    return DONE


def _taken(record: Record, label: str, value: object, step: Step) -> object:
    """What a step takes of a value; STOP where that is not known at once."""
    if step.kind == "attribute":
        return attribute(record, label, value, step.key)
    if step.kind == "item" and type(value) is dict:
        found = value.get(step.key, MISSING)
        record.guards.entry(value.get, step.key, found)
        return STOP if found is MISSING else found
    if step.kind == "item" and type(value) in (list, tuple) and type(step.key) is int:
        sequence: Sequence[object] = value  # type: ignore[assignment] # as has just been asked
        if -len(sequence) <= step.key < len(sequence):
            record.guards.item(sequence, step.key)
            return sequence[step.key]
    return STOP

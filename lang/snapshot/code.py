"""What functions read: the names in their code, their defaults, and what they enclose."""

from __future__ import annotations

import builtins
from collections.abc import Mapping
from functools import partial
from hashlib import blake2b
from inspect import Parameter, Signature
from types import CellType, CodeType, FunctionType

from ..source import FunctionSource
from .bytecode import reads
from .fixed import is_pure
from .instructions import UnknownInstructionError
from .places import Span
from .record import Members, Record, UnrecordableError
from .resolve import Scope, contents, resolve

_CODE = FunctionType.__dict__["__code__"].__get__
_DEFAULTS = FunctionType.__dict__["__defaults__"].__get__
_KEYWORD_DEFAULTS = FunctionType.__dict__["__kwdefaults__"].__get__
_NAME = FunctionType.__dict__["__name__"].__get__
_QUALIFIED_NAME = FunctionType.__dict__["__qualname__"].__get__


def look_at_function(record: Record, label: str, function: FunctionType) -> None:
    """Record a function that runs as Python while the kernel is built."""
    code, module = function.__code__, function.__globals__.get("__name__")
    for part in (_CODE, _DEFAULTS, _KEYWORD_DEFAULTS, _NAME, _QUALIFIED_NAME):
        record.guards.part(part, function, part(function))
    for parameter, default in _defaults(function).items():
        record.add(f"default '{parameter}' of {label}", default)
    if function.__kwdefaults__:
        record.guards.mapping(function.__kwdefaults__)
    record.variables(label, function.__dict__)
    record.members(Members(label, partial(_attribute, function), ()))
    cells = _cells(function)
    if is_pure(module):
        record.fixed(label, f"{module}.{function.__qualname__}")
        for variable, cell in cells.items():
            record.guards.part(contents, cell, contents(cell))
            record.add(f"{variable} in {label}", contents(cell))
        return
    record.line(label, f"function {function.__name__} {function.__qualname__}")
    lines = [line for _, _, line in code.co_lines() if line is not None]
    first = code.co_firstlineno
    record.spans.append(Span(code.co_filename, first, max(lines, default=first)))
    builtins: dict[str, object] = getattr(function, "__builtins__")  # noqa: B009 (no stub has it)
    _look_at_code(record, code, Scope(cells, function.__globals__, builtins))


def look_at_source(
    record: Record, label: str, source: FunctionSource, signature: Signature | None = None
) -> None:
    """Record a function whose statements are the kernel's.

    Args:
        record: where to.
        label: what to call it.
        source: its statements.
        signature: of whose parameters the defaults count; None if they do not.
    """
    text = blake2b(source.text.encode("utf-8", "backslashreplace"), digest_size=16).hexdigest()
    record.line(label, f"statements {text}")
    for parameter in signature.parameters.values() if signature else ():
        if parameter.default is not Parameter.empty:
            record.add(f"default '{parameter.name}' of {label}", parameter.default)
    function, first = source.function, source.first_line
    record.spans.append(Span(source.file, first, source.tree.end_lineno or first))
    given = function.__globals__.get("__builtins__", builtins)
    scope = Scope(_cells(function), function.__globals__, _namespace(given), statements=True)
    _look_at_code(record, source.code, scope)


def _look_at_code(record: Record, code: CodeType, scope: Scope) -> None:
    try:
        found = reads(code)
    except UnknownInstructionError as error:
        raise UnrecordableError(f"'{code.co_name}' has the instruction {error}") from None
    record.line(f"code of {code.co_name}", found.text)
    record.mention(found.names, any_name=found.any_name)
    record.any_class |= found.any_class
    if found.set_order:
        record.set_order()
    for path in found.paths:
        resolve(record, path, scope, code.co_name)


def _attribute(function: FunctionType, name: str, default: object) -> object:
    return getattr(function, name) if name in ("__doc__", "__module__") else default


def _cells(function: FunctionType) -> dict[str, CellType]:
    return dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))


def _defaults(function: FunctionType) -> dict[str, object]:
    code, given = function.__code__, function.__defaults__ or ()
    positional = code.co_varnames[: code.co_argcount]
    found = dict(zip(positional[len(positional) - len(given) :], given, strict=True))
    return found | (function.__kwdefaults__ or {})


def _namespace(given: object) -> Mapping[str, object]:
    """The builtins of a module, which holds them as a module or as its dictionary."""
    return given if isinstance(given, dict) else vars(given)

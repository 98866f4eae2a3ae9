"""What a kernel is compiled from: its source, that of what it calls, and the globals it reads."""

from __future__ import annotations

import ast
import dis
import sys
from collections.abc import Callable, Iterator
from functools import cache
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from .functions import Function
from .source import text_of

_PLAIN = (bool, int, float, str, bytes, type(None), np.generic)
_FIXED = frozenset({"tilec", "numpy", "ml_dtypes", *sys.stdlib_module_names})
"""Packages whose functions do not change, or are told apart otherwise."""


class UnknownStateError(Exception):
    """A kernel reads what cannot be told apart from what it may become."""


def described(function: Callable[..., Any]) -> tuple[str, ...]:
    """What a function does in a kernel, as texts that change when that changes.

    Raises:
        UnknownStateError: if it reads a global that is neither code nor plain data.
    """
    return tuple(_described(function, set()))


def _described(function: Callable[..., Any], seen: set[CodeType]) -> Iterator[str]:
    code = function.__code__
    if code in seen:
        return
    seen.add(code)
    text, paths = _read(code)
    yield text
    cells = dict(zip(code.co_freevars, function.__closure__ or (), strict=True))
    for path in paths:
        root, *attributes = path.split(".")
        if root in cells:
            value = cells[root].cell_contents
        elif root in function.__globals__:
            value = function.__globals__[root]
        else:
            continue  # one of Python's own
        for attribute in attributes:
            if not isinstance(value, ModuleType) or _is_fixed(value.__name__):
                break
            value = getattr(value, attribute, None)
        yield from _value(path, value, seen)


def _value(path: str, value: Any, seen: set[CodeType]) -> Iterator[str]:
    if isinstance(value, Function):
        value = value.function
    if isinstance(value, FunctionType) and not _is_fixed(value.__module__):
        yield from _described(value, seen)
    elif isinstance(value, ModuleType) or (
        (isinstance(value, type) or callable(value)) and _is_fixed(value.__module__)
    ):
        yield f"{path}: {value.__name__}"
    elif isinstance(value, _PLAIN):
        yield f"{path} = {value!r}"
    elif type(value) in (tuple, frozenset):
        for part in value:
            yield from _value(path, part, seen)
    else:
        raise UnknownStateError(f"'{path}' is a {type(value).__name__}, which may change")


def _is_fixed(module: str | None) -> bool:
    return (module or "").partition(".")[0] in _FIXED


@cache
def _read(code: CodeType) -> tuple[str, tuple[str, ...]]:
    """A function's source, and the names that it reads, with their attributes."""
    try:
        text = text_of(code)
        tree = ast.parse(f"if True:\n{text}" if text[:1].isspace() else text)
    except (OSError, SyntaxError):
        raise UnknownStateError(f"the source of '{code.co_name}' cannot be read") from None
    nodes = (n for n in ast.walk(tree) if isinstance(n, ast.Attribute | ast.Name))
    paths = {_path(node) for node in nodes}
    outer = {*code.co_freevars, *_globals(code)}
    return text, tuple(sorted(path for path in paths if path.partition(".")[0] in outer))


def _globals(code: CodeType) -> Iterator[str]:
    """The global names that a function reads."""
    for instruction in dis.get_instructions(code):
        if instruction.opname == "LOAD_GLOBAL":
            yield instruction.argval
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _globals(constant)


def _path(node: ast.expr) -> str:
    """`a.b.c` of an attribute of a name; empty of any other expression."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else ""

"""A pass made from its name and the text of its options."""

from __future__ import annotations

import types
from dataclasses import fields
from enum import Enum
from typing import Union, get_args, get_origin, get_type_hints

from tilec.isa import nearest

from . import registry
from .base import Pass
from .pipeline_text import PipelineError, parse_options

_UPSTREAM = (
    "canonicalize",
    "convert-gpu-to-nvvm",
    "convert-nvvm-to-llvm",
    "convert-scf-to-cf",
    "convert-to-llvm",
    "cse",
    "inline",
    "loop-invariant-code-motion",
    "reconcile-unrealized-casts",
    "sccp",
    "symbol-dce",
)
"""Upstream passes offered as the nearest to an unknown name; upstream has no list to ask."""


class UnknownPassError(PipelineError):
    """A pipeline names a pass that no package has."""


def unknown_pass(name: str) -> UnknownPassError:
    """The error about a pass that does not exist, with the nearest names."""
    near = nearest(name, (*registry.names(installed=True), *_UPSTREAM), count=3)
    return UnknownPassError(f"unknown pass '{name}'; nearest: {', '.join(near)}")


def make_pass(name: str, options: str = "") -> Pass:
    """The pass called `name` of tilec, with options as a pipeline writes them.

    Raises:
        PipelineError: for an unknown pass or option, or a value of the wrong type.
        PluginError: if another package's pass cannot be used.
    """
    try:
        found = registry.pass_class(name)
    except KeyError:
        raise unknown_pass(name) from None
    given = parse_options(options)
    hints = get_type_hints(found) if given else {}
    by_option = {field.name.replace("_", "-"): field.name for field in fields(found)}
    values: dict[str, object] = {}
    for option, text in given.items():
        if option not in by_option:
            legal = ", ".join(nearest(option, by_option)) or "none"
            raise PipelineError(f"pass '{name}' has no option '{option}'; legal: {legal}")
        values[by_option[option]] = _value(f"{name}{{{option}}}", hints[by_option[option]], text)
    return found(**values)


def _value(what: str, kind: object, text: str) -> object:
    """`text` as a value of type `kind`.

    Raises:
        PipelineError: if it is none.
    """
    if get_origin(kind) in (Union, types.UnionType):
        kind = next(k for k in get_args(kind) if k is not type(None))
    if get_origin(kind) is tuple:
        return tuple(_value(what, get_args(kind)[0], part) for part in text.split(","))
    if kind is bool:
        if text not in ("true", "false", "1", "0"):
            raise PipelineError(f"{what}: '{text}' is not true or false")
        return text in ("true", "1")
    if kind is int:
        try:
            return int(text, 0)
        except ValueError:
            raise PipelineError(f"{what}: '{text}' is not an integer") from None
    if isinstance(kind, type) and issubclass(kind, Enum):
        legal = [str(member.value) for member in kind]
        if text not in legal:
            raise PipelineError(f"{what}: '{text}' is not one of {', '.join(legal)}")
        return kind(text)
    return text

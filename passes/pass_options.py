"""A pass made from its name and the text of its options."""

from __future__ import annotations

import types
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields
from enum import Enum
from typing import NamedTuple, Union, get_args, get_origin, get_type_hints

from tilec.isa import TilecError, nearest

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


_TYPES = "bool, int, float, str, an Enum, a tuple of one of them, and any of these or None"
"""What fields of passes may be, to be options."""


class UnknownPassError(PipelineError):
    """A pipeline names a pass that no package has.

    Attributes:
        name: what it calls the pass.
    """

    def __init__(self, name: str, near: Sequence[str]) -> None:
        super().__init__(f"unknown pass '{name}'; nearest: {', '.join(near)}")
        self.name = name


def unknown_pass(name: str) -> UnknownPassError:
    """The error about a pass that does not exist, with the nearest names."""
    names = (*registry.names(installed=True), *_UPSTREAM)
    return UnknownPassError(name, nearest(name, names, count=3))


def make_pass(name: str, options: str = "") -> Pass:
    """The pass called `name` of tilec, with options as a pipeline writes them.

    Raises:
        PipelineError: for an unknown pass or option, a value of the wrong type, an option that is
            missing and has no default, or options that the pass refuses.
        PluginError: if another package's pass cannot be used.
    """
    try:
        found = registry.pass_class(name)
    except KeyError:
        raise unknown_pass(name) from None
    given, known = parse_options(options), _options(found)
    hints = get_type_hints(found) if given else {}
    values: dict[str, object] = {}
    for option, text in given.items():
        if option not in known:
            legal = ", ".join(nearest(option, known)) or "none"
            raise PipelineError(f"pass '{name}' has no option '{option}'; legal: {legal}")
        field = known[option].name
        values[field] = _value(f"{name}{{{option}}}", hints[field], text)
    for option, (field, is_needed) in known.items():
        if is_needed and field not in values:
            raise PipelineError(f"pass '{name}' needs its option: write {name}{{{option}=…}}")
    return _made(found, values)


class _Option(NamedTuple):
    """A field of a pass, and whether it has no default."""

    name: str
    is_needed: bool


_known: dict[type[Pass], dict[str, _Option]] = {}


def _options(kind: type[Pass]) -> Mapping[str, _Option]:
    """The options of a pass by their names in a pipeline."""
    found = _known.get(kind)
    if found is None:
        found = _known[kind] = {
            field.name.replace("_", "-"): _Option(
                field.name, field.default is field.default_factory is MISSING
            )
            for field in fields(kind)
        }
    return found


def _made(kind: type[Pass], values: dict[str, object]) -> Pass:
    """A pass with options of their types.

    Raises:
        PipelineError: if it refuses them, as another package's may, and where it does.
    """
    try:
        return kind(**values)
    except TilecError:
        raise
    except Exception as error:
        import traceback  # noqa: PLC0415 (only for an error)

        last = traceback.extract_tb(error.__traceback__)[-1]
        of = registry.package_of(kind)
        raise PipelineError(
            f"pass '{kind.name}'{f' of {of}' if of else ''} does not take its options: "
            f"{type(error).__name__}: {error} ({last.filename}:{last.lineno})"
        ) from error


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
    if kind is float:
        try:
            return float(text)
        except ValueError:
            raise PipelineError(f"{what}: '{text}' is not a number") from None
    if isinstance(kind, type) and issubclass(kind, Enum):
        legal = [str(member.value) for member in kind]
        if text not in legal:
            raise PipelineError(f"{what}: '{text}' is not one of {', '.join(legal)}")
        return kind(text)
    if kind is not str:
        raise PipelineError(f"{what}: no text gives {_named(kind)}; legal: {_TYPES}")
    return text


def _named(kind: object) -> str:
    return f"a '{kind.__name__}'" if isinstance(kind, type) else f"'{kind}'"

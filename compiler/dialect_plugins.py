"""Dialects of other packages: loaded where a program names them, lowered before tilec's passes."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

from tilec.isa import UnknownNameError
from tilec.isa.plugins import Plugin, plugins
from tilec.passes.base import Pass

GROUP = "tilec.dialects"
"""The entry points by which other packages register dialects, each named as its dialect is."""


class DialectPlugin(NamedTuple):
    """What an entry point of the group stands for.

    Attributes:
        load: loads the dialect into an `ir.Context`.
        lowering: passes that leave nothing of the dialect; they run before those of tilec.
    """

    load: Callable[[Any], None]
    lowering: tuple[str | Pass, ...] = ()


_used: dict[str, DialectPlugin] = {}


def load_named(text: str, context: Any) -> bool:
    """Load the dialects that `text` names into `context`.

    Returns:
        Whether there were any that had not been loaded.

    Raises:
        PluginError: if one cannot be used.
    """
    new = [
        plugin
        for name, plugin in plugins(GROUP).items()
        if re.search(rf"\b{re.escape(name)}\.", text) and not context.is_dialect_loaded(name)
    ]
    for plugin in new:
        _load(plugin, context)
    return bool(new)


def load_dialect(name: str, context: Any) -> None:
    """Load another package's dialect into `context`, for a program that is built there.

    Raises:
        UnknownNameError: if no package registers it.
        PluginError: if it cannot be used.
    """
    found = plugins(GROUP)
    if name not in found:
        raise UnknownNameError("dialect of another package", name, found)
    if not context.is_dialect_loaded(name):
        _load(found[name], context)


def loaded(context: Any) -> tuple[DialectPlugin, ...]:
    """The dialects that were loaded here into `context`."""
    return tuple(used for name, used in _used.items() if context.is_dialect_loaded(name))


def _load(plugin: Plugin, context: Any) -> None:
    found = _checked(plugin)
    try:
        with context:
            found.load(context)
    except Exception as error:
        why = f"which cannot load the dialect: {type(error).__name__}: {error}"
        raise plugin.wrong(why) from error
    if not context.is_dialect_loaded(plugin.name):
        raise plugin.wrong(f"which loads no dialect '{plugin.name}'")
    _used[plugin.name] = found


@cache
def _checked(plugin: Plugin) -> DialectPlugin:
    found = plugin.load()
    if not isinstance(found, DialectPlugin):
        raise plugin.wrong(f"which is of type {type(found).__name__}, not tilec.DialectPlugin")
    return found

"""Names of a package that are imported when they are first used."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module


def lazy_names(package: str, homes: Mapping[str, str]) -> Callable[[str], object]:
    """The `__getattr__` of a package: a name is imported when it is first asked for, and kept.

    To a type checker any name of a module that has one is a name, so that only
    `if not TYPE_CHECKING:` does a package say `__getattr__ = lazy_names(__name__, _HOMES)`.

    Args:
        package: its name.
        homes: the module of each name, with a dot in front if it is in the package.
    """

    def find(name: str) -> object:
        if name not in homes:
            raise AttributeError(f"module '{package}' has no attribute '{name}'")
        found: object = getattr(import_module(homes[name], package), name)
        setattr(sys.modules[package], name, found)
        return found

    return find

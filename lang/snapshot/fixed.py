"""Code whose behaviour the key need not describe: it is told apart by versions, and keeps no state.

Functions and classes of such packages give the same for the same arguments, whenever and wherever
they are called. Of others, such as `time` or `random`, and of what keeps results of earlier
calls, nothing is known.
"""

from __future__ import annotations

import builtins
import sys
from functools import lru_cache
from types import ModuleType

from .words import words

_PURE = words(
    """
    tilec.lang tilec.isa tilec.layout tilec.dialects numpy ml_dtypes
    abc array bisect builtins cmath collections colorsys contextlib copy dataclasses enum fractions
    functools heapq itertools json keyword math numbers operator reprlib statistics string
    struct textwrap types typing
    _abc _bisect _collections _collections_abc _functools _heapq _operator _struct
    """
)
"""Packages, their modules included, whose code is fixed."""
_IMPURE = words(
    """
    numpy.ctypeslib numpy.distutils numpy.f2py numpy.lib._npyio_impl numpy.lib.npyio
    numpy.random numpy.testing
    """
)
"""Parts of those whose code is not."""
_IMPURE_FUNCTIONS = words(
    """
    numpy.DataSource numpy.byte_bounds numpy.fromfile numpy.fromregex numpy.genfromtxt
    numpy.get_printoptions numpy.getbufsize numpy.geterr numpy.geterrcall numpy.load numpy.loadtxt
    numpy.memmap numpy.save numpy.savetxt numpy.savez numpy.savez_compressed numpy.show_config
    numpy.show_runtime functools.cache functools.lru_cache typing.get_type_hints
    """
)
_IMPURE_BUILTINS = words(
    "__import__ breakpoint compile eval exec exit globals help id input locals memoryview open quit"
    " copyright credits license"
)
DEPENDS_ON_SET_ORDER = frozenset(f"builtins.{name}" for name in ("frozenset", "hash", "set"))
"""What depends on the hashes of texts, which differ from process to process."""
TAKES_ANY_NAME = words(
    """
    builtins.dir builtins.getattr builtins.hasattr builtins.vars copy.copy copy.deepcopy
    dataclasses.asdict dataclasses.astuple dataclasses.fields dataclasses.replace
    operator.attrgetter operator.methodcaller
    """
)
"""What takes attributes whose names need not stand in the code."""
CALLS_ANY_CLASS = words("builtins.type copy.copy copy.deepcopy dataclasses.replace")
"""What can make an instance of a class that the code does not name."""


def is_pure(module: object) -> bool:
    """Whether the code of a module of that name is fixed."""
    return isinstance(module, str) and _is_pure(module)


@lru_cache(maxsize=1024)
def _is_pure(module: str) -> bool:
    parts = module.split(".")
    prefixes = {".".join(parts[:end]) for end in range(1, len(parts) + 1)}
    return not prefixes.isdisjoint(_PURE) and prefixes.isdisjoint(_IMPURE)


def name_of(value: object) -> str | None:
    """The name of a function, class or other object that a module of fixed code holds under it.

    None for what has none, is held by no such module, or is known to read what changes.
    """
    module = getattr(value, "__module__", None) or _holder(value)
    name = getattr(value, "__qualname__", None) or getattr(value, "__name__", None)
    if not isinstance(name, str) or not isinstance(module, str) or not is_pure(module):
        return None
    if _found(module, name) is not value:
        return None
    full = f"{module}.{name}"
    if full in _IMPURE_FUNCTIONS or (module == "builtins" and name in _IMPURE_BUILTINS):
        return None
    return full


def class_name(value: type) -> str | None:
    """The name of a class of fixed code; None for others."""
    # A class says itself what it is called: it is asked only where that is believed.
    return name_of(value) if type(value).__module__ in _OF_CLASSES else None


_OF_CLASSES = ("abc", "builtins", "enum", "numpy", "tilec.lang.dtypes", "typing")
"""Modules whose classes of classes leave `__module__` and `__qualname__` to Python."""


def _holder(value: object) -> str | None:
    """The module of a builtin function, or of one of numpy's."""
    held = getattr(value, "__self__", None)
    if isinstance(held, ModuleType):
        return held.__name__
    return "numpy" if type(value).__module__ == "numpy" else None


def _found(module: str, name: str) -> object:
    """What a module holds under a name, classes' members by `Class.member`."""
    found: object = builtins if module == "builtins" else sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, "__dict__", {}).get(part)
    return found

"""The compile cache: what compilations gave, on disk, so that the same need not be done again."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .compilations import through_cache
    from .entries import LIMIT, CacheWarning, find, keep, key, store

__all__ = ["LIMIT", "CacheWarning", "find", "keep", "key", "store", "through_cache"]


def __getattr__(name: str) -> Any:
    """What is exported, imported when first used: most processes only ask whether to use it."""
    if name not in __all__:
        raise AttributeError(f"module 'tilec.cache' has no attribute '{name}'")
    home = ".compilations" if name == "through_cache" else ".entries"
    return getattr(import_module(home, __name__), name)

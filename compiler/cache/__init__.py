"""The compile cache: what compilations gave, on disk, so that the same need not be done again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilec.isa.lazy_names import lazy_names

if TYPE_CHECKING:
    from .compilations import through_cache
    from .entries import LIMIT, CacheWarning, find, keep, key, store

__all__ = ["LIMIT", "CacheWarning", "find", "keep", "key", "store", "through_cache"]

_HOMES = dict.fromkeys(__all__, ".entries") | {"through_cache": ".compilations"}
"""Where each is, imported when it is first used: most processes only ask whether to use it."""

if not TYPE_CHECKING:
    __getattr__ = lazy_names(__name__, _HOMES)

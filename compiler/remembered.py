"""The former home of `through_cache`, for code out of tree; it is in `tilec.cache`."""

from __future__ import annotations

from tilec.cache import through_cache

__all__ = ["through_cache"]

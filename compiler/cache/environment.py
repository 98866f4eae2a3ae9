"""What the environment asks of tilec: whether to use the compile cache, and where it is."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from tilec.isa import TilecError


def cache_wanted(asked: bool | None, *, default: bool = False) -> bool:
    """Whether to use the compile cache.

    Args:
        asked: what the caller's user asks for; None for whatever is usual.
        default: what is usual where the environment says nothing.

    Raises:
        TilecError: if `TILEC_CACHE` is neither 0 nor 1.
    """
    said = os.environ.get("TILEC_CACHE", "")
    if said not in ("", "0", "1"):
        raise TilecError(f"TILEC_CACHE is '{said}'; legal: 0 (never), 1 (where possible)")
    if said == "0" or asked is False:
        return False
    return bool(asked or said or default)


def cache_folder() -> Path:
    """Where the cache is: `TILEC_CACHE_DIR`, else in the platform's folder for caches.

    Raises:
        TilecError: if the user has no home.
    """
    if given := os.environ.get("TILEC_CACHE_DIR"):
        return Path(given)
    try:
        if sys.platform == "darwin":
            return Path.home() / "Library" / "Caches" / "tilec"
        base = Path(os.environ.get("XDG_CACHE_HOME", ""))
        # XDG Base Directory Specification: relative paths are ignored.
        return (base if base.is_absolute() else Path.home() / ".cache") / "tilec"
    except RuntimeError:
        raise TilecError("no home folder; set TILEC_CACHE_DIR") from None

"""The compile cache: what compilations gave, on disk, so that the same need not be done again.

It holds the PTX of a program with what is launched and remarked, and the binaries that ptxas made.
`TILEC_CACHE=0` turns it off, `TILEC_CACHE=1` on where it is off by default; `TILEC_CACHE_DIR` says
where it is. Trouble with the disk costs a warning and the time to compile, nothing else.
"""

from __future__ import annotations

import json
import os
import sys
import warnings
import zlib
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Any

from tilec.isa import TilecError

from .cache_store import BusyError, CacheError, Store
from .fingerprint import fingerprint

LIMIT = 256 * 1024 * 1024
"""Bytes that the cache may take; a GEMM's entry takes 5 kB."""


class CacheWarning(UserWarning):
    """The cache cannot be used; the compilation goes on without."""


def enabled(asked: bool | None, *, default: bool = False) -> bool:
    """Whether to use the cache.

    Args:
        asked: what the caller's user asks for; None for whatever is usual.
        default: what is usual where the environment says nothing.

    Raises:
        TilecError: if `TILEC_CACHE` is neither 0 nor 1.
    """
    said = os.environ.get("TILEC_CACHE", "")
    if said not in ("", "0", "1"):
        raise TilecError(f"TILEC_CACHE is '{said}'; legal: 0 (never), 1 (wherever it can be)")
    if said == "0" or asked is False:
        return False
    return bool(asked or said or default)


def folder() -> Path:
    """Where the cache is: `TILEC_CACHE_DIR`, else in the platform's folder for caches.

    Raises:
        CacheError: if the user has no home.
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
        raise CacheError("no home folder; set TILEC_CACHE_DIR") from None


def store() -> Store:
    """The entries on disk.

    Raises:
        CacheError: if the user has no home.
    """
    return Store(folder(), LIMIT)


def key(kind: str, *parts: object) -> str | None:
    """What an entry is found by.

    Args:
        kind: what it is of, so that two users of the cache never share one.
        parts: all that decides what comes out, as plain data that JSON can write: the source and
            what it calls, the target, the options.

    Returns:
        A digest of the parts and of the code that compiles; None if that code changed since this
        process began, which then has neither the old nor the new.
    """
    code = fingerprint()
    if code is None:
        return None
    text = json.dumps((kind, code, parts), sort_keys=True)
    return blake2b(text.encode(), digest_size=20).hexdigest()


def find(key: str | None) -> Any:
    """The data kept under `key`; None if there is none, or the cache cannot be used."""
    if key is None:
        return None
    try:
        value = store().get(key)
    except BusyError:
        return None
    except CacheError as error:
        _warn(str(error))
        return None
    return None if value is None else json.loads(zlib.decompress(value))


def keep(key: str | None, data: object, *, kind: str, name: str, target: str) -> None:
    """Keep plain data under `key`, if the cache can be used.

    Args:
        key: as `key` made it before the compilation began.
        data: what JSON can write.
        kind: what it is, for `tilec --cache list`, as are the following.
        name: what it is of.
        target: compilation target.
    """
    if key is None:
        return
    value = zlib.compress(json.dumps(data).encode(), 1)
    try:
        store().put(key, value, kind=kind, name=name, target=target)
    except BusyError:
        return
    except CacheError as error:
        _warn(str(error))


@cache
def _warn(problem: str) -> None:
    """Warn, once."""
    warnings.warn(
        f"no compile cache: {problem}; TILEC_CACHE=0 turns it off", CacheWarning, stacklevel=2
    )

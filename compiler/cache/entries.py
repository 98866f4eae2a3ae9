"""Plain data by key: what compilations gave.

It holds the PTX of a program with what is launched and remarked, and the binaries that ptxas made.
`environment` says whether to use it, and where it is. Trouble with the disk costs a warning and the
time to compile, nothing else.
"""

from __future__ import annotations

import json
import warnings
import zlib
from collections.abc import Callable
from hashlib import blake2b
from typing import Any, TypeVar

from tilec.isa import TilecError

from .database import BusyError, Store
from .environment import cache_folder
from .fingerprint import fingerprint

LIMIT = 256 * 1024 * 1024
"""Bytes that the cache may take; a GEMM's entry takes 5 kB."""


class CacheWarning(UserWarning):
    """The cache cannot be used; the compilation goes on without."""


_warned: set[str] = set()
"""Folders of caches that there was a warning of."""
T = TypeVar("T")
_LONGEST = 200
_MALFORMED = (
    AttributeError, KeyError, LookupError, TypeError, ValueError, RecursionError, MemoryError,
    TilecError, zlib.error,
)  # fmt: skip
"""What reading data raises that is not what was kept."""


def _as_it_is(data: Any) -> Any:
    return data


def store() -> Store:
    """The entries on disk.

    Raises:
        TilecError: if the user has no home.
    """
    return Store(cache_folder(), LIMIT)


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


def find(key: str | None, read: Callable[[Any], T] = _as_it_is) -> T | None:
    """What is kept under `key`; None if there is none, or the cache cannot be used.

    Args:
        key: as `key` made it.
        read: makes of the data what it stands for; raises for data that stands for nothing, which
            is not used then.
    """
    if key is None:
        return None
    try:
        kept = store()
        value = kept.get(key)
    except BusyError:
        return None
    except TilecError as error:
        _warn(str(error))
        return None
    if value is None:
        return None
    try:
        return read(_unpacked(value))
    except _MALFORMED as error:
        why = f"{type(error).__name__}: {error}"[:_LONGEST]
        _warn(f"{kept.file} holds an entry that tilec does not write ({why})")
        return None


def _unpacked(value: bytes) -> Any:
    """The data of a value.

    Raises:
        ValueError, RecursionError, zlib.error: for what is none, or more than the cache would hold.
    """
    unpacking = zlib.decompressobj()
    text = unpacking.decompress(value, LIMIT)
    if unpacking.unconsumed_tail or not unpacking.eof:
        raise ValueError("more than is ever kept, or cut off")
    return json.loads(text)


def keep(key: str | None, data: object, *, kind: str, name: str, target: str) -> None:
    """Keep plain data under `key`, if the cache can be used and the code is still that of `key`.

    Args:
        key: as `key` made it before the compilation began.
        data: what JSON can write.
        kind: what it is, for `tilec --cache list`, as are the following.
        name: what it is of.
        target: compilation target.
    """
    if key is None or fingerprint() is None:
        return
    value = zlib.compress(json.dumps(data).encode(), 1)
    try:
        store().put(key, value, kind=kind, name=name, target=target)
    except BusyError:
        return
    except TilecError as error:
        _warn(str(error))


def _warn(problem: str) -> None:
    """Warn, once for a folder, whatever else is wrong in it."""
    try:
        folder = str(cache_folder())
    except TilecError:  # which may be what is wrong
        folder = ""
    if folder not in _warned:
        _warned.add(folder)
        text = f"the compile cache is not used: {problem}; TILEC_CACHE=0 disables it"
        warnings.warn(text, CacheWarning, stacklevel=2)

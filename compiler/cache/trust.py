"""Whose cache is believed: what it holds is run on a GPU, so no one else may have written it.

A folder belongs to this user, to root, or to one that `TILEC_CACHE_TRUST` names, and neither it nor
a file in it may be written by others.
"""

from __future__ import annotations

import os
import pwd
import stat
from pathlib import Path

from tilec.isa import TilecError

VARIABLE = "TILEC_CACHE_TRUST"
"""Environment variable with the owner of a shared cache, by name or number."""


def distrust(folder: Path, *files: str) -> str | None:
    """Why what a folder holds is not to be believed; None if it is, or does not exist.

    Args:
        folder: the cache's.
        files: names of files in it that are used.

    Raises:
        TilecError: if `TILEC_CACHE_TRUST` names nobody.
        OSError: if the folder cannot be entered.
    """
    trusted = {0, os.geteuid(), *_named()}  # root can do as it likes in any case
    for path in (folder, *(folder / name for name in files)):
        try:
            found = path.stat() if path == folder else path.lstat()
        except FileNotFoundError:
            continue
        if found.st_uid not in trusted:
            owner = _name(found.st_uid)
            return f"{path} belongs to {owner}; {VARIABLE}={owner} trusts their files"
        if path != folder and not stat.S_ISREG(found.st_mode):
            return f"{path} is not a file of the cache"
        if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            return f"other users can write to {path}; run `chmod go-w`"
    return _open_way(folder)


def _open_way(folder: Path) -> str | None:
    """A folder on the way to the cache in which anybody may put another in its place."""
    for path in folder.resolve().parents:
        mode = path.stat().st_mode
        if mode & stat.S_IWOTH and not mode & stat.S_ISVTX:
            return f"everybody can write to {path}, a parent of {folder}"
    return None


def _named() -> set[int]:
    """The user that the environment trusts."""
    given = os.environ.get(VARIABLE, "")
    if not given:
        return set()
    if given.isascii() and given.isdecimal() and len(given) < 11:
        return {int(given)}
    try:
        return {pwd.getpwnam(given).pw_uid}
    except (KeyError, ValueError):
        raise TilecError(f"{VARIABLE} is '{given}', which is not a user") from None


def _name(user: int) -> str:
    try:
        return pwd.getpwuid(user).pw_name
    except KeyError:
        return str(user)

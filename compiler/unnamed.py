"""Files without a name, of which nothing is left however this process ends."""

from __future__ import annotations

import os


def open_unnamed() -> int:
    """Open one, in memory where the system has such; its number, which no child inherits.

    Raises:
        OSError: if there is no place for it.
    """
    if hasattr(os, "memfd_create"):
        return os.memfd_create("tilec", os.MFD_CLOEXEC)
    from tempfile import TemporaryFile  # noqa: PLC0415 (imports much)

    with TemporaryFile() as file:
        return os.dup(file.fileno())

"""Reading a tool's input and writing its output, whole or not at all."""

from __future__ import annotations

import os
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

from tilec.isa import TilecError


def read_input(path: str) -> str:
    """The text of a file, or of standard input for `-`.

    Raises:
        TilecError: if it is a directory or not UTF-8.
        OSError: if it cannot be read.
    """
    shown = "<stdin>" if path == "-" else path
    if path != "-" and Path(path).is_dir():
        raise TilecError(f"{shown} is a directory")
    data = sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise TilecError(
            f"{shown}:{line}: not UTF-8: byte 0x{data[error.start]:02x} at offset {error.start}"
        ) from None


def write_output(path: str, contents: str | bytes) -> None:
    """Write to standard output for `-`, else to a file that appears only when complete.

    Raises:
        OSError: if it cannot be written.
    """
    data = contents.encode() if isinstance(contents, str) else contents
    if path == "-":
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        return
    target = Path(path)
    if target.exists() and not target.is_file():  # a device such as /dev/null, or a directory
        target.write_bytes(data)
        return
    try:
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    except OSError as error:
        raise OSError(error.errno, error.strerror, path) from None
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(name, 0o666 & ~umask)  # mkstemp makes the file private
        os.replace(name, target)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(name)
        raise

"""Reading a tool's input and writing its output, whole or not at all."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from tilec.isa import TilecError


def read_bytes(path: str) -> bytes:
    """The contents of a file, or of standard input for `-`.

    Raises:
        TilecError: if it is a directory.
        OSError: if it cannot be read.
    """
    if path == "-":
        return sys.stdin.buffer.read()
    if Path(path).is_dir():
        raise TilecError(f"{path} is a directory")
    return Path(path).read_bytes()


def decoded(data: bytes, shown: str) -> str:
    """The text that bytes are.

    Args:
        data: the bytes.
        shown: what messages call them.

    Raises:
        TilecError: if they are not UTF-8.
    """
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise TilecError(
            f"{shown}:{line}: not UTF-8: byte 0x{data[error.start]:02x} at offset {error.start}"
        ) from None


def read_input(path: str) -> str:
    """The text of a file, or of standard input for `-`.

    Raises:
        TilecError: if it is a directory or not UTF-8.
        OSError: if it cannot be read.
    """
    return decoded(read_bytes(path), "<stdin>" if path == "-" else path)


def is_file_name(path: str) -> bool:
    """Whether an output is a file, unlike standard output, a device or a folder."""
    return path != "-" and (Path(path).is_file() or not Path(path).exists())


def write_output(path: str, contents: str | bytes) -> None:
    """Write one output; see `write_outputs`."""
    write_outputs({path: contents})


def write_outputs(outputs: Mapping[str, str | bytes]) -> None:
    """Write every output or none: files appear only when all of them are complete.

    Args:
        outputs: contents by path, `-` for standard output.

    Raises:
        OSError: if one cannot be written.
    """
    complete: dict[str, str] = {}
    try:
        direct: list[tuple[str, bytes]] = []
        for path, contents in outputs.items():
            data = contents.encode() if isinstance(contents, str) else contents
            if is_file_name(path):
                complete[_beside(path, data)] = path
            else:
                direct.append((path, data))
        for path, data in direct:
            if path == "-":
                sys.stdout.flush()
                sys.stdout.buffer.write(data)
            else:
                Path(path).write_bytes(data)
        for name, path in complete.items():
            os.replace(name, path)
    except BaseException:
        for name in complete:
            with suppress(FileNotFoundError):
                os.unlink(name)
        raise


def _beside(path: str, data: bytes) -> str:
    """A new file with `data` in the folder of `path`, with the mode that `path` would get."""
    target = Path(path)
    try:
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    except OSError as error:
        raise OSError(error.errno, error.strerror, path) from None
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(name, 0o666 & ~umask)
    except BaseException:
        os.unlink(name)
        raise
    return name

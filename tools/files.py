"""Reading a tool's input and writing its output, whole or not at all."""

from __future__ import annotations

import errno
import os
import signal
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from tilec.ending import undone
from tilec.isa import TilecError

from .streams import flush


def read_bytes(path: str) -> bytes:
    """The contents of a file, or of standard input for `-`.

    Raises:
        TilecError: if it is a directory.
        OSError: if it cannot be read.
    """
    shown = "<stdin>" if path == "-" else path
    if path != "-" and Path(path).is_dir():
        raise TilecError(f"{shown} is a directory")
    with _naming(shown):
        return sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()


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
        OSError: naming the output that cannot be written.
    """
    complete: dict[str, str] = {}
    with undone(lambda: _remove(complete)):
        _write(outputs, complete)


def _write(outputs: Mapping[str, str | bytes], complete: dict[str, str]) -> None:
    try:
        direct: list[tuple[str, bytes]] = []
        for path, contents in outputs.items():
            data = contents.encode() if isinstance(contents, str) else contents
            if is_file_name(path):
                with _naming(path):
                    _beside(path, data, complete)
            else:
                direct.append((path, data))
        for path, data in direct:
            with _naming("<stdout>" if path == "-" else path):
                if path == "-":
                    sys.stdout.flush()
                    sys.stdout.buffer.write(data)
                    sys.stdout.buffer.flush()
                else:
                    Path(path).write_bytes(data)
        flush()  # what was printed and cannot be written is a failure, too
        _put_in_place(complete)
    except BaseException:
        _remove(complete)
        raise


def _remove(names: Iterable[str]) -> None:
    for name in names:
        with suppress(OSError):
            os.unlink(name)


@contextmanager
def made_folder(path: str | None) -> Iterator[None]:
    """Has a folder for what is written inside; one that was made for it goes if that fails.

    It goes with what is in it, and with those that were made for it to be in.
    """
    if path is None or Path(path).is_dir():
        yield
        return
    import shutil  # noqa: PLC0415 (imports much)

    folder = Path(path)
    missing = [one for one in (folder, *folder.parents) if not one.exists()]

    def remove() -> None:
        shutil.rmtree(missing[-1], ignore_errors=True)

    with undone(remove):
        folder.mkdir(parents=True)
        try:
            yield
        except BaseException:
            remove()
            raise


def check_outputs(outputs: Iterable[str | None], inputs: Iterable[str | None]) -> None:
    """See that every output of a command is a file of its own, and none of them an input.

    Args:
        outputs: paths, `-` for standard output; None for what is not asked for.
        inputs: the same of what is read.

    Raises:
        TilecError: naming the two that are one.
    """
    read = {_identity(path): path for path in inputs if path is not None and is_file_name(path)}
    written: dict[object, str] = {}
    for path in outputs:
        if path is None or not is_file_name(path):
            continue
        one = _identity(path)
        if one in read:
            raise TilecError(f"{path} is the input; choose another output")
        if one in written:
            raise TilecError(f"{path} is the name of two outputs; choose another for one of them")
        written[one] = path


def _identity(path: str) -> object:
    """What two names of one file have in common."""
    try:
        status = os.stat(path)
    except OSError:
        return os.path.realpath(path)
    return status.st_dev, status.st_ino


@contextmanager
def _naming(path: str) -> Iterator[None]:
    """Has an error of the system name the output."""
    try:
        yield
    except OSError as error:
        raise type(error)(error.errno, error.strerror, path) from None


def _beside(path: str, data: bytes, complete: dict[str, str]) -> None:
    """A new file with `data` in the folder of `path`, with the mode that `path` would get.

    Its name is in `complete` as long as it exists.
    """
    if os.path.basename(path) in ("", ".", ".."):  # a folder's name, which Path shortens
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
    target = Path(path)
    name = str(target.parent / f".{target.name[:200]}.{os.getpid()}.{len(complete)}")
    umask = os.umask(0)
    os.umask(umask)
    with suppress(FileNotFoundError):
        os.unlink(name)  # of a process that was killed
    complete[name] = path
    handle = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666 & ~umask)
    with os.fdopen(handle, "wb") as file:
        file.write(data)


def _put_in_place(complete: Mapping[str, str]) -> None:
    """Give complete files the names that they are to have, all or none.

    Nothing interrupts it: Ctrl-C waits.
    """
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    try:
        for name, path in complete.items():
            with _naming(path):
                os.replace(name, path)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)

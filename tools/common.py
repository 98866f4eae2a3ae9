"""What every command line has in common: errors, exit codes, `--version`, broken pipes.

Exit codes: 0, 1 for a user's mistake or a failed check, 2 for wrong usage, 130 after Ctrl-C.
"""

from __future__ import annotations

import argparse
import errno
import gc
import os
import re
import signal
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn, TextIO

import tilec
from tilec.ending import end_on_signals
from tilec.ir import mlir
from tilec.isa import TilecError

from .colours import say
from .completion import Shell, ShowCompletion
from .import_errors import no_room
from .streams import drop_output, flush, open_streams

INTERRUPTED = 130
"""Exit code after Ctrl-C, as shells have it."""
_UNRECOGNIZED = re.compile(r"unrecognized arguments?: (\S*)")
"""How a message about an unknown flag begins: argparse's, and that of flags like LLVM's."""
_INVALID = re.compile(r"invalid choice: '(.*)' \(choose from (.*)\)$")
"""How argparse's message about a word that is not among a few ends; Python 3.14 omits quotes."""
TRACEBACK = "TILEC_TRACEBACK"
"""Environment variable that asks for the traceback of an internal error."""
_LONGEST = 300
"""Characters shown of an internal error's message."""


class Parser(argparse.ArgumentParser):
    """An argument parser with `--version` and `--completion` that says `error: …` as tools do."""

    def __init__(self, prog: str, description: str, **options: object) -> None:
        super().__init__(
            prog=prog,
            description=description,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
            **options,  # type: ignore[arg-type]
        )
        self.add_argument("--version", action="version", version=f"{prog} {tilec.__version__}")
        self.add_argument(
            "--completion",
            action=ShowCompletion,
            choices=tuple(map(str, Shell)),
            help="print a script that completes this command's arguments in a shell",
        )

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """As argparse does, but for `--flag=--`, of which Python 3.11 makes an empty list."""
        for given in sys.argv[1:] if args is None else args:
            if given.startswith("-") and given.endswith("=--"):
                self.error(f"argument {given[:-3]}: '--' is not a value")
        return super().parse_known_args(args, namespace)

    def error(self, message: str) -> NoReturn:
        """Print the usage and the message, with what may be meant instead, and exit with 2."""
        self.print_usage(sys.stderr)
        if unknown := _UNRECOGNIZED.match(message):
            message += self.meant(unknown[1])
        elif invalid := _INVALID.search(message):
            message += nearest(invalid[1], [name.strip("'") for name in invalid[2].split(", ")])
        say(f"error: {message}\n")
        self.exit(2)

    def meant(self, given: str) -> str:
        """The known flag that is most like an unknown one, as a question; empty if none is."""
        if not given.startswith("-"):
            return ""
        commands = (a.choices or {} for a in self._actions if isinstance(a.choices, dict))
        parsers = [self, *(one for found in commands for one in found.values())]
        flags = [flag for one in parsers for flag in one._option_string_actions]
        return nearest(given.partition("=")[0], flags)


def nearest(given: str, known: Sequence[str]) -> str:
    """The known word that is most like `given`, as a question; empty if none is."""
    from difflib import get_close_matches  # noqa: PLC0415 (for messages only)

    found = get_close_matches(given, known, n=1)
    return f"; did you mean {found[0]}?" if found else ""


def hurry() -> None:
    """Prepare for a process that imports much, works for a moment and ends by `leave`."""
    end_on_signals()
    gc.disable()
    mlir.with_numpy = False


def leave(code: int) -> NoReturn:
    """End the process without taking apart what it imported, which takes a third of its time.

    All is done: a signal has nothing to end any more, and would be told as a failure.
    """
    for one in (signal.SIGINT, signal.SIGTERM):
        signal.signal(one, signal.SIG_IGN)
    drop_output()
    os._exit(code)


@contextmanager
def _warnings_shown() -> Iterator[None]:
    """Shows Python's warnings, such as of a cache that cannot be used, as a command does."""
    with warnings.catch_warnings():
        warnings.showwarning = _show
        yield


def _show(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Python's hook."""
    del category, filename, lineno, file, line
    say(f"warning: {message}\n")


def run(
    parser: argparse.ArgumentParser,
    body: Callable[[argparse.Namespace], int],
    argv: Sequence[str] | None = None,
) -> int:
    """Parse the arguments, run the tool's body, and turn what goes wrong into an exit code.

    Whatever it is, it is said in one line.

    Args:
        parser: the tool's arguments.
        body: the tool; returns its exit code.
        argv: arguments without the program's name; of this process if None.

    Returns:
        The exit code.
    """
    open_streams()
    try:
        try:
            with _warnings_shown():
                return body(parser.parse_args(argv))
        finally:
            flush()
    except BrokenPipeError:
        message = ""  # whoever read has gone
    except KeyboardInterrupt:
        drop_output()
        return INTERRUPTED
    except TilecError as error:
        message = str(error)
    except Exception as error:
        message = _in_a_line(error)
    drop_output()
    if message:
        say(f"error: {message}\n")
    return 1


def _in_a_line(error: Exception) -> str:
    """What to say of an exception that is not a `TilecError`."""
    match error:
        case UnicodeDecodeError():
            return f"input is not UTF-8 text: {error.reason} at byte {error.start}"
        case UnicodeEncodeError():
            return f"cannot write {error.object[error.start : error.end]!r} as {error.encoding}"
        case MemoryError() | OSError(errno=errno.ENOMEM):
            return "not enough memory"
        case ImportError() | SystemError() | AttributeError() if said := no_room(error):
            return said
        case OSError():
            # Without a file it is the one stream that the tools print to.
            file = "<stdout>" if error.filename is None else os.fsdecode(error.filename)
            return f"{file}: {error.strerror or error}"
        case RecursionError():
            return "the input nests too deeply for the stack"
    if os.environ.get(TRACEBACK):
        traceback.print_exception(error)
    # A fault of tilec's, or of a package that takes part.
    at = traceback.extract_tb(error.__traceback__)[-1]
    what = " ".join(f"{type(error).__name__}: {error}".split())
    return (
        f"internal error at {Path(at.filename).name}:{at.lineno}: {what[:_LONGEST]}; "
        f"{TRACEBACK}=1 prints the traceback; please report it"
    )

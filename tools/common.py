"""What every command line has in common: errors, exit codes, `--version`, broken pipes.

Exit codes: 0, 1 for a user's mistake or a failed check, 2 for wrong usage.
"""

from __future__ import annotations

import argparse
import gc
import os
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import NoReturn

import tilec
from tilec.ir import mlir
from tilec.isa import TilecError


class Parser(argparse.ArgumentParser):
    """An argument parser that has `--version` and says `error: …` as the tools do."""

    def __init__(self, prog: str, description: str, **options: object) -> None:
        super().__init__(
            prog=prog,
            description=description,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
            **options,  # type: ignore[arg-type]
        )
        self.add_argument("--version", action="version", version=f"{prog} {tilec.__version__}")

    def error(self, message: str) -> NoReturn:
        """Print the usage and the message, and exit with 2."""
        self.print_usage(sys.stderr)
        self.exit(2, f"error: {message}\n")


def hurry() -> None:
    """Prepare for a process that imports much, works for a moment and ends by `leave`."""
    gc.disable()
    mlir.with_numpy = False


def leave(code: int) -> NoReturn:
    """End the process without taking apart what it imported, which takes a third of its time."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


@contextmanager
def warnings_shown() -> Iterator[None]:
    """Shows Python's warnings, such as of a cache that cannot be used, as a command does."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            yield
        finally:
            for one in caught:
                sys.stderr.write(f"warning: {one.message}\n")


def run(
    parser: argparse.ArgumentParser,
    body: Callable[[argparse.Namespace], int],
    argv: Sequence[str] | None = None,
) -> int:
    """Parse the arguments, run the tool's body, and turn what goes wrong into an exit code.

    Args:
        parser: the tool's arguments.
        body: the tool; returns its exit code.
        argv: arguments without the program's name; of this process if None.

    Returns:
        The exit code.
    """
    try:
        try:
            return body(parser.parse_args(argv))
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        # Whoever read has gone; let the flush at exit go nowhere instead of complaining.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except TilecError as error:
        message = str(error)
    except UnicodeDecodeError as error:
        message = f"input is not UTF-8 text: {error.reason} at byte {error.start}"
    except OSError as error:
        where = f"{error.filename}: " if error.filename is not None else ""
        message = f"{where}{error.strerror or error}"
    except KeyboardInterrupt:
        return 130
    print(f"error: {message}", file=sys.stderr)
    return 1

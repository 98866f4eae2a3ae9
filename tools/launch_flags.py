"""Flags of `tile-run` that say what a launch is, each line of `--problems` among them."""

from __future__ import annotations

import argparse
import re
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from tilec.isa import TilecError

_COUNT = re.compile("[0-9]{1,18}")


class ProblemError(TilecError):
    """What is wrong at a line of `--problems`, as a terminal shows it."""

    def __init__(self, place: str, what: str) -> None:
        super().__init__(f"{place}: error: {what}")


def extents(text: str) -> tuple[int, ...]:
    """`X`, `X,Y` or `X,Y,Z`, none of them 0.

    Raises:
        argparse.ArgumentTypeError: for another text.
    """
    parts = text.split(",")
    if len(parts) > 3 or not all(_COUNT.fullmatch(p) and int(p) for p in parts):
        raise argparse.ArgumentTypeError(f"'{text}' is not X, X,Y or X,Y,Z of positive integers")
    return tuple(map(int, parts))


def place(text: str) -> tuple[int, ...]:
    """The same from 0.

    Raises:
        argparse.ArgumentTypeError: for another text.
    """
    parts = text.split(",")
    if len(parts) > 3 or not all(map(_COUNT.fullmatch, parts)):
        raise argparse.ArgumentTypeError(f"'{text}' is not X, X,Y or X,Y,Z of whole numbers")
    return tuple(map(int, parts))


def count(text: str) -> int:
    """A whole number.

    Raises:
        argparse.ArgumentTypeError: for another text.
    """
    if not _COUNT.fullmatch(text):
        raise argparse.ArgumentTypeError(f"'{text}' is not an integer from 0 to 10^18")
    return int(text)


def _output(text: str) -> tuple[int, str]:
    number, equals, path = text.partition("=")
    if not equals or not _COUNT.fullmatch(number) or not path:
        raise argparse.ArgumentTypeError(f"'{text}' is not NUMBER=PATH")
    return int(number), path


def _symbol(text: str) -> tuple[str, str]:
    name, equals, spec = text.partition("=")
    if not equals or not name or not spec:
        raise argparse.ArgumentTypeError(f"'{text}' is not NAME=SPEC")
    return name, spec


def add_launch_flags(made: argparse.ArgumentParser) -> None:
    """Add what says which kernel is launched how, with what, and what becomes of it."""
    add = made.add_argument_group("launch").add_argument
    add("--kernel", metavar="NAME", help="the kernel to run; default: the only one")
    add("--grid", metavar="X,Y,Z", type=extents, help="CTAs; default: the kernel's own, or 1")
    add("--block", metavar="X,Y,Z", type=extents, help="threads; default: the kernel's own")
    what = "CTAs of a cluster; default: the kernel's own, or 1"
    add("--cluster", metavar="X,Y,Z", type=extents, help=what)
    what = "number of SMs, for persistent kernels; default: the GPU's, or 132"
    add("--sms", metavar="N", type=count, help=what)
    add(
        "--dynamic-smem",
        metavar="BYTES",
        type=count,
        help="dynamic shared memory; default: the kernel's own, or 0",
    )
    add = made.add_argument_group("arguments and results").add_argument
    add("--arg", metavar="SPEC", action="append", default=[], help="an argument, in order")
    what = "set a .global or .const variable of the PTX before the run"
    add("--symbol", metavar="NAME=SPEC", type=_symbol, action="append", default=[], help=what)
    add("--seed", metavar="N", type=count, default=0, help="seed of random arguments; default: 0")
    what = "write argument N, counted from 0, to a .npy file"
    add("--out", metavar="N=PATH", type=_output, action="append", default=[], help=what)
    add("--check", metavar="gemm|FILE.py", help="compare the result with numpy")


class _Line(argparse.ArgumentParser):
    """The flags of a problem; what is wrong is an error at its line."""

    def __init__(self, at: str) -> None:
        super().__init__(add_help=False, allow_abbrev=False, prog="tile-run --problems")
        self._at = at
        add_launch_flags(self)

    def error(self, message: str) -> NoReturn:
        """Raise what is wrong."""
        legal = ", ".join(sorted(self._option_string_actions))
        more = f"; legal: {legal}" if message.startswith("unrecognized") else ""
        raise ProblemError(self._at, f"{message}{more}")


def read_problems(path: str, common: argparse.Namespace) -> list[argparse.Namespace]:
    """The launches of a file: the flags of one on each line, beside those of the command.

    Empty lines, and what follows `#`, do not count. `place` of each is its line.

    Args:
        path: the file.
        common: the command's arguments.

    Raises:
        ProblemError: at the line, for flags that are not a launch's, and a file without any.
        OSError: if it cannot be read.
    """
    found = []
    for number, line in enumerate(Path(path).read_text(encoding="utf-8").splitlines(), 1):
        at = f"{path}:{number}:{len(line) - len(line.lstrip()) + 1}"
        try:
            words: Sequence[str] = shlex.split(line, comments=True)
        except ValueError as error:
            raise ProblemError(at, str(error).lower()) from None
        if words:
            one = _Line(at).parse_args(words, argparse.Namespace(**vars(common)))
            one.place = at
            found.append(one)
    if not found:
        raise ProblemError(f"{path}:1:1", "the file has no problem")
    return found

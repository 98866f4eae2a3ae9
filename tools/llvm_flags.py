"""Flags as LLVM's tools take them, on their way to argparse.

One dash or two before a name; `=false` after a switch; a value after `=` or as the next word;
whatever is not a flag of the tool is a pass, its options after `=`.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

_PASS = re.compile(r"--?([a-z][\w.-]*)(?:=(.*))?", re.DOTALL)
_YES = ("", "true", "TRUE", "True", "1")
_NO = ("false", "FALSE", "False", "0")


class PassFlag(NamedTuple):
    """A pass given as a flag.

    Attributes:
        name: of the pass.
        options: as a pipeline writes them between braces.
    """

    name: str
    options: str


class Flags(NamedTuple):
    """A command line.

    Attributes:
        known: the tool's own arguments, as argparse takes them.
        passes: the others, in their order.
        denied: switches that are given as false, without dashes.
    """

    known: list[str]
    passes: list[PassFlag]
    denied: frozenset[str]


def split_flags(parser: argparse.ArgumentParser, argv: Sequence[str]) -> Flags:
    """Tell the tool's arguments from passes; what is neither is an error of usage."""
    flags = Flags([], [], frozenset())
    denied: set[str] = set()
    words = iter(argv)
    for word in words:
        if word == "--":
            flags.known.extend([word, *words])
        elif not word.startswith("-") or word == "-":
            flags.known.append(word)
        elif action := _action(parser, word):
            option, equals, value = _parts(action, word)
            if action.nargs == 0 and value in _NO and equals:
                denied.add(option.lstrip("-"))
            elif action.nargs == 0 and value in _YES:
                flags.known.append(option)
            elif not equals and action.nargs is None:
                flags.known.append(f"{option}={_value(parser, option, words)}")
            else:
                value = value if equals else action.const
                flags.known.append(option if value is None else f"{option}={value}")
        else:
            flags.passes.append(_pass(parser, word))
    return flags._replace(denied=frozenset(denied))


def _value(parser: argparse.ArgumentParser, option: str, words: Iterator[str]) -> str:
    """The word after a flag that needs one; it may begin with a dash."""
    value = next(words, None)
    if value is None:
        parser.error(f"argument {option}: expected one argument")
    return value


def _action(parser: argparse.ArgumentParser, word: str) -> argparse.Action | None:
    """What the tool does at a flag; None if it has no such flag."""
    name = word.partition("=")[0].lstrip("-")
    known = parser._option_string_actions
    return known.get(f"--{name}") or known.get(f"-{name}")


def _parts(action: argparse.Action, word: str) -> tuple[str, str, str]:
    """The flag as the parser calls it, `=` if there is one, and the value."""
    name, equals, value = word.partition("=")
    name = name.lstrip("-")
    option = f"--{name}" if f"--{name}" in action.option_strings else f"-{name}"
    return option, equals, value


def _pass(parser: argparse.ArgumentParser, word: str) -> PassFlag:
    match = _PASS.fullmatch(word)
    if not match or len(match[1]) == 1 or match[1].startswith("mlir-"):
        parser.error(f"unrecognized argument: {word}")
    return PassFlag(match[1], match[2] or "")

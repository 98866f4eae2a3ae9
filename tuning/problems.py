"""Problem sizes: on the command line as `m=4096,n=4096,k=4096`, or a line each in a file."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tilec.isa import nearest

from .errors import TuningError

_SIZE = re.compile(r"\s*([A-Za-z_]\w*)\s*=\s*([0-9]{1,18})\s*")


@dataclass(frozen=True)
class Problem:
    """The sizes of a problem.

    Attributes:
        sizes: by name, in the order of the declaration.
        place: where it was given, or empty.
    """

    sizes: Mapping[str, int]
    place: str = ""

    def __str__(self) -> str:
        return ",".join(f"{name}={value}" for name, value in self.sizes.items())


def problem(text: str, defaults: Mapping[str, int], place: str = "") -> Problem:
    """A problem from how people write it; what it leaves out is as the declaration has it.

    Raises:
        TuningError: for a text that is none, and sizes that the kernel does not have.
    """
    given: dict[str, int] = {}
    for part in text.split(","):
        found = _SIZE.fullmatch(part)
        if found is None:
            raise TuningError(f"'{text.strip()}' is not a list of SIZE=NUMBER", place)
        name, number = found[1], int(found[2])
        if name not in defaults:
            close = ", ".join(nearest(name, sorted(defaults)))
            raise TuningError(f"the kernel has no size '{name}'; nearest: {close}", place)
        if name in given:
            raise TuningError(f"size '{name}' is given twice", place)
        if not number:
            raise TuningError(f"size '{name}' is 0", place)
        given[name] = number
    return Problem({name: given.get(name, size) for name, size in defaults.items()}, place)


def read_problems(path: str | Path, defaults: Mapping[str, int]) -> list[Problem]:
    """The problems of a file: one a line; empty lines and what follows `#` do not count.

    Raises:
        TuningError: at the line, for what is none, and for a file without any.
    """
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise TuningError(f"{path}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise TuningError(f"it is not UTF-8 text: {error.reason}", f"{path}:1:1") from None
    found = []
    for number, line in enumerate(lines, 1):
        text = line.partition("#")[0]
        if text.strip():
            column = len(text) - len(text.lstrip()) + 1
            found.append(problem(text, defaults, f"{path}:{number}:{column}"))
    if not found:
        raise TuningError("the file has no problem sizes", f"{path}:1:1")
    return unique(found)


def unique(problems: Sequence[Problem]) -> list[Problem]:
    """The problems, each once."""
    return list({str(one): one for one in problems}.values())

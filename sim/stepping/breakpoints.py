"""Where a launch is to stop: lines of the PTX, of what it was compiled from, functions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePath

from tilec.isa import TilecError, nearest
from tilec.isa.wording import counted

from ..errors import LaunchError
from ..ptx.module import Instruction, Module

_NUMBER = re.compile("[0-9]{1,9}")


@dataclass(slots=True)
class Breakpoint:
    """A place to stop at.

    Attributes:
        number: it is deleted by this.
        place: as it was given.
        instructions: the instructions before which to stop.
        hits: how often it did.
    """

    number: int
    place: str
    instructions: tuple[Instruction, ...]
    hits: int = 0

    def describe(self, module: Module) -> str:
        """`1: gemm.py:12, at kernel.ptx:41 and 2 more places`."""
        more = len(self.instructions) - 1
        also = f" and {counted(more, 'more place')}" if more else ""
        return f"{self.number}: {self.place}, at {module.place(self.instructions[0])}{also}"


def instructions_at(module: Module, place: str | int) -> tuple[Instruction, ...]:
    """The instructions before which to stop for a place.

    Args:
        module: the PTX.
        place: `LINE` of the PTX, `FILE:LINE` of the PTX or of what `.loc` names, or a function. A
            line of the PTX without an instruction means the next that has one. Of another file's
            line, wherever instructions of it begin.

    Raises:
        LaunchError: if there are none; says what there is.
    """
    text = str(place)
    file, colon, line = text.rpartition(":")
    if _NUMBER.fullmatch(text) or (colon and file == module.source.name):
        return (_of_text(module, line),)
    if colon and _NUMBER.fullmatch(line):
        return _of_source(module, file, int(line))
    function = module.functions.get(text)
    if function is not None and function.body:
        return (function.body[0],)
    names = [name for name, one in module.functions.items() if one.body]
    hint = f"; functions: {', '.join(nearest(text, names))}" if names else ""
    raise LaunchError(f"'{text}' is not LINE, FILE:LINE or a function{hint}")


def _every(module: Module) -> Iterator[Instruction]:
    for function in module.functions.values():
        yield from function.body or ()


def _of_text(module: Module, line: str) -> Instruction:
    if not _NUMBER.fullmatch(line):
        raise LaunchError(f"'{line}' is not a line")
    ordered = sorted(_every(module), key=lambda one: one.position)
    for instruction in ordered:
        if module.line(instruction) >= int(line):
            return instruction
    last = f"; the last is at {module.line(ordered[-1])}" if ordered else ""
    raise LaunchError(f"{module.source.name} has no instruction at or after line {line}{last}")


def _of_source(module: Module, file: str, line: int) -> tuple[Instruction, ...]:
    numbers = _files(module, file)
    found, lines = [], set()
    for function in module.functions.values():
        before = None
        for instruction in function.body or ():
            here = instruction.location
            if here is not None and here[0] in numbers:
                lines.add(here[1])
                if here[1] == line and before != here:
                    found.append(instruction)
            before = here
    if not found:
        close = sorted(sorted(lines, key=lambda one: abs(one - line))[:3])
        hint = f"; nearest: {', '.join(map(str, close))}" if close else ""
        raise LaunchError(f"no instruction is of line {line} of {file}{hint}")
    return tuple(found)


def _files(module: Module, file: str) -> frozenset[int]:
    """The numbers of a file, which may be named by the end of its path."""
    wanted = PurePath(file).parts
    numbers = frozenset(
        number
        for number, name in module.files.items()
        if name == file or PurePath(name).parts[-len(wanted) :] == wanted
    )
    if len({module.files[number] for number in numbers}) > 1:
        names = ", ".join(sorted({module.files[number] for number in numbers}))
        raise LaunchError(f"'{file}' may be any of {names}")
    if not numbers:
        names = ", ".join(sorted(set(module.files.values()))) or "none"
        raise LaunchError(f"no instruction is of '{file}'; files that .loc names: {names}")
    return numbers


def number_of(text: str) -> int:
    """A number of a breakpoint.

    Raises:
        TilecError: if it is none.
    """
    if not _NUMBER.fullmatch(text):
        raise TilecError(f"'{text}' is not a number")
    return int(text)

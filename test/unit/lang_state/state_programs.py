"""Random programs whose kernels read values in random ways, change them, and launch again.

A program is a module and what it imports. It is run in one process after the other, as it was,
moved and edited; in each, values change between launches. Whatever happens, a launch must run the
program that a kernel without any cache is built to, which holds the numbers that are expected.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from string import Template

from state_ways import WAYS, Way

_HEAD = '''
import collections, contextlib, contextvars, dataclasses, enum, functools, operator, os, sys
import threading, types, typing
from pathlib import Path
import numpy as np
import tilec
import tilec.lang as tl

def code(value):
    """A number that tells a value of a type from any other."""
    number = 7
    for letter in repr(value):
        number = (number * 31 + ord(letter)) % 65521
    return number
'''
_NUMBERS = (
    ("0.0", "-0.0", "0", "False"),
    ("1", "1.0", "True", "np.float32(1)", "np.float64(1)", "np.int8(1)"),
    ("2", "2.5", "-3", "1e300", "float('inf')", "float('nan')"),
)
"""Values that one might take for one another, as the following."""
_HASHABLE = (
    *_NUMBERS,
    ("1 + 0j", "1 - 0j", "1", "1 << 70", "(1 << 70) + 1"),
    ("'a'", "'b'", "b'a'", "None", "...", "'1'", "1"),
    ("np.float16", "tl.float16", "tl.int8", "np.dtype('f2')", "np.dtype('>f2')"),
    ("(6,)", "(6.0,)", "(True, 1)", "(1, True)", "(1, 1)", "range(6)", "range(0, 6, 2)"),
    ("(1, (2, -0.0))", "(1, (2, 0.0))", "(1, (2, 0))"),
)
_ANY = (
    *_HASHABLE,
    ("[1, 2]", "[1, 2.0]", "[[1], [True]]", "[1, True]", "(1, 2)", "bytearray([1, 2])"),
    ("{'a': 1}", "{'a': 1.0}", "{'a': True}", "{1: 'a'}", "{1.0: 'a'}", "{'a': [1]}"),
    ("{'a': 1, 'b': 2}", "{'b': 2, 'a': 1}", "collections.Counter('abb')"),
    ("np.arange(3)", "np.arange(3.0)", "np.arange(3, dtype=np.int8)", "np.zeros((3, 1))"),
    ("np.zeros(2, np.float32)", "-np.zeros(2, np.float32)", "np.zeros(1, np.float64)"),
    ("types.SimpleNamespace(a=1)", "types.SimpleNamespace(a=1.0)", "types.SimpleNamespace(a=[])"),
)
_VALUES = {
    "any": _ANY,
    "hashable": _HASHABLE,
    "number": _NUMBERS,
    "size": (("1", "2", "3", "5"),),
    "variable": (("'1'", "'2'", "''", "'1.0'"),),
}


@dataclass(frozen=True)
class Read:
    """A way, the value that it has first, and those that it gets."""

    way: Way
    values: tuple[str, ...]


class Program:
    """A random program.

    Attributes:
        reads: the values that its kernel reads.
        recorded: whether all of them can be recorded.
        moves: whether their state is known for the same where the program has moved.
        portable: whether another process can know it for the same.

    Args:
        seed: of everything that is random.
        ways: those to choose from.
        most: values that its kernel reads, at most.
    """

    def __init__(self, seed: int, ways: tuple[Way, ...] = WAYS, most: int = 3) -> None:
        chance = random.Random(seed)
        picked = [chance.choice(ways) for _ in range(chance.randint(1, most))]
        self.reads = [self._read(way, chance) for way in picked]
        names = {read.way.names for read in self.reads}
        self.recorded = all(read.way.recorded for read in self.reads) and not names >= {
            "any",
            "few",
        }
        self.moves = all(read.way.moves for read in self.reads)
        self.portable = self.recorded and all(read.way.portable for read in self.reads)

    def _read(self, way: Way, chance: random.Random) -> Read:
        groups = _VALUES["variable" if way.variable else way.values]
        like = chance.choice(groups)
        values = like if chance.random() < 0.5 else [value for group in groups for value in group]
        return Read(way, tuple(chance.sample(values, 3)))

    def files(self, *, edited: int = 0, lines: int = 0) -> dict[str, str]:
        """The text of its files, `program.py` first.

        Args:
            edited: which of each way's values is the first.
            lines: empty lines before everything.
        """
        values = [read.values[edited] for read in self.reads]
        found = {"program.py": "\n" * lines + self._module(values)}
        for number, (read, value) in enumerate(zip(self.reads, values, strict=True)):
            if read.way.module:
                found[f"other{number}.py"] = _HEAD + _filled(read.way.module, number, value) + "\n"
        return found

    def _module(self, values: list[str]) -> str:
        ways = [read.way for read in self.reads]
        lines = [_HEAD]
        enclosed, stores, parameters, constants = [], [], [], []
        for n, (way, value) in enumerate(zip(ways, values, strict=True)):
            if way.variable:
                lines.append(f"os.environ['STATE{n}'] = {value}")
            lines.append(_filled(way.define, n, value))
            enclosed.append(_filled(way.enclosed, n, value))
            number = f"code({_filled(way.read, n, value)})"
            stores.append(f"tl.store(x, {16 * n}, tl.full(16, {number}, tl.float32))")
            if way.constant:
                parameters.append(f", K{n}: tl.Constant")
                constants.append(f"'K{n}': {_filled(way.constant, n, value)}, ")
        lines.append("def enclosing():")
        lines += [f"    {line}" for text in enclosed for line in text.splitlines()]
        lines.append("    @tilec.kernel")
        lines.append(f"    def kernel(x: tl.Array[tl.float32, int]{''.join(parameters)}) -> None:")
        lines += [f"        {line}" for line in stores]
        setters = (f"{n}: set{n}" for n, way in enumerate(ways) if way.enclosed)
        lines.append(f"    return kernel, {{{', '.join(setters)}}}")
        lines.append("kernel, setters = enclosing()")
        lines.append(f"def constants(): return {{{''.join(constants)}}}")
        for n, read in enumerate(self.reads):
            for turn, value in enumerate(read.values):
                change = _filled(read.way.change or "pass", n, value)
                lines += [f"def change_{n}_{turn}():", f"    {change}"]
        return "\n".join(lines) + "\n"

    def expected(self, turns: list[int]) -> list[str]:
        """For each read what gives the value that is read; empty where that is not known."""
        return [
            _filled(read.way.gives, number, read.values[turn])
            for number, (read, turn) in enumerate(zip(self.reads, turns, strict=True))
        ]


def _filled(text: str, number: int, value: str) -> str:
    return Template(text).substitute(n=number, v=value)

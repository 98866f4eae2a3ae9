"""Random functions of numbers, with loops and conditions inside each other, give what Python gives.

The same text runs as a kernel on the simulator and as plain Python. `TILEC_RANDOM_PROGRAMS` says
how many there are.
"""

import linecache
import os
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tilec
import tilec.lang as tl

NAMES = ("p", "q", "r", "s")
HEAD = """
def {name}({parameters}){returns}:
    p, q, r, s = n + 1, 2 * n, 3, 0
{body}
    {end}
"""
STORE = "\n    ".join(
    f"tl.store(out, {at}, tl.full(1, {name}, tl.int32))" for at, name in enumerate(NAMES)
)


class Writer:
    """Writes the body of a random function."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.loops = 0

    def number(self, depth: int = 2) -> str:
        pick = self.random.randrange
        if depth == 0 or pick(3) == 0:
            return self.random.choice([*NAMES, "n", str(pick(-5, 9))])
        one, other = self.number(depth - 1), self.number(depth - 1)
        match pick(12):
            case 0:
                return f"({one} if {self.truth(1)} else {other})"
            case 1:
                return f"({one} // {pick(2, 7)})"
            case 2:
                return f"({one} % {pick(-7, -1)})"
            case 3:
                return f"{self.random.choice(['max', 'min'])}({one}, {other})"
            case 4:
                return self.divided(one)
            case 5:
                return f"({one} >> ({other} % {self.random.choice((3, 40, 70))}))"
            case 6:
                return f"(({one} % 64) << ({other} % 7))"
            case 7:
                return f"{self.random.choice(['(~', 'abs(', '(-'])}{one})"
            case 8:
                return f"({one} {self.random.choice(['and', 'or'])} {other})"
            case 9:
                return f"({one} {self.random.choice('&|^')} {other})"
        return f"({one} {self.random.choice('+-')} {other})"

    def divided(self, one: str) -> str:
        """A division by whatever there is, of which Python computes what it can."""
        by, other = self.number(0), self.number(0)
        form = self.random.choice(
            [
                "({a} // {b} if {b} != 0 else {c})",
                "({c} if {b} <= 0 else {a} % {b})",
                "({b} and {a} // {b})",
                "(divmod({a}, {b})[0] if {b} and {c} else {c})",
                "({c} if not {b} or {a} % {b} > 1 else {a} // {b})",
            ]
        )
        return form.format(a=one, b=by, c=other)

    def truth(self, depth: int = 2) -> str:
        if depth == 0 or self.random.randrange(2):
            one, other = self.number(0), self.number(1)
            match self.random.randrange(8):
                case 0 | 1:
                    return f"({one} <= {other} < {self.number(0)})"
                case 2:
                    return f"({one} != 0 and {other} // {one} > {self.number(0)})"
                case 3:
                    return f"(not {one} or {other} % {one} == {self.number(0)})"
            return f"({one} {self.random.choice(['<', '<=', '==', '!='])} {other})"
        word = self.random.choice(["and", "or"])
        return f"({self.truth(depth - 1)} {word} not {self.truth(depth - 1)})"

    def block(self, depth: int, indent: str) -> Iterator[str]:
        for _ in range(self.random.randrange(1, 4)):
            yield from self.statement(depth, indent)

    def statement(self, depth: int, indent: str) -> Iterator[str]:
        deeper, pick = indent + "    ", self.random.randrange
        kind = pick(7) if depth else pick(3)
        name, other = self.random.sample(NAMES, 2)
        if kind == 0:
            yield f"{indent}{name} += {self.number()}"
        elif kind == 1:
            yield f"{indent}{name}, {other} = {self.number()}, ({other} + {self.number()}) % 1000"
        elif kind == 2:
            yield f"{indent}{name} = ({self.number()}) % 1000"
        elif kind == 3:
            yield f"{indent}if {self.truth()}:"
            yield from self.block(depth - 1, deeper)
        elif kind == 4:
            yield f"{indent}if {self.truth()}:"
            yield from self.block(depth - 1, deeper)
            yield f"{indent}else:"
            yield from self.block(depth - 1, deeper)
        elif kind == 5:
            self.loops += 1
            index = f"i{self.loops}"
            stop = self.random.choice(["n", "3", "n + 2", "0"])
            yield f"{indent}for {index} in range({stop}):"
            yield from self.block(depth - 1, deeper)
            yield f"{deeper}{name} = ({name} + {index}) % 1000"
        else:
            self.loops += 1
            left = f"left{self.loops}"
            yield f"{indent}{left} = {self.random.choice(['n', '2', 'n + 1'])}"
            yield f"{indent}while {left} > 0 and {name} < 5000:"
            yield from self.block(depth - 1, deeper)
            yield f"{deeper}{left} -= 1"


def defined(text: str, file: str) -> Any:
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    names: dict[str, Any] = {"tl": tl, "tilec": tilec, "__name__": "programs"}
    exec(compile(text, file, "exec"), names)
    return names["f"]


COUNT = int(os.environ.get("TILEC_RANDOM_PROGRAMS", "24"))


@pytest.mark.parametrize("seed", range(COUNT))
def test_random_program(seed: int, tmp_path: Path) -> None:
    body = "\n".join(Writer(seed).block(3, "    "))
    plain = HEAD.format(
        name="f", parameters="n", returns="", body=body, end=f"return {', '.join(NAMES)}"
    )
    kernel = "@tilec.kernel(warps=1)" + HEAD.format(
        name="f",
        parameters="out: tl.Array[tl.int32, int], n: int",
        returns=" -> None",
        body=body,
        end=STORE,
    )
    expected, found = defined(plain, "<plain>"), defined(kernel, str(tmp_path / "kernel.py"))
    for n in (0, 1, 3):
        out = np.zeros(4, np.int32)
        found[1](out, n)
        wrapped = np.array(expected(n), np.int64).astype(np.int32)
        assert out.tolist() == wrapped.tolist(), f"n = {n}\n{body}"

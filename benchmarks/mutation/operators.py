"""The faults, and the mutants of a kernel that they make."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

Change = Callable[[str], str | None]
"""A line of PTX to what stands in its place; None where the operator does not apply."""


def _without(pattern: str) -> Change:
    """Leave an instruction out."""
    wanted = re.compile(pattern)
    return lambda line: "" if wanted.search(line) else None


def _changed(pattern: str, new: str | Callable[[re.Match[str]], str]) -> Change:
    """Change a part of it."""
    wanted = re.compile(pattern)

    def change(line: str) -> str | None:
        return wanted.sub(new, line, count=1) if wanted.search(line) else None

    return change


def _with_last(pattern: str, opcode: str, by: int) -> Change:
    """Change its last operand, a register of 32 bits or a number, by an instruction."""
    wanted, last = re.compile(pattern), re.compile(r"^(\s*)(@!?%\w+\s+)?(.*,\s*)(%?\w+);\s*$")

    def change(line: str) -> str | None:
        found = last.match(line) if wanted.search(line) else None
        if found is None:
            return None
        space, guard, front, operand = found.groups()
        return (
            f"{space}{{ .reg .b32 %mutant; {opcode} %mutant, {operand}, {by}; "
            f"{guard or ''}{front}%mutant; }}"
        )

    return change


OPERATORS: dict[str, dict[str, Change]] = {
    "synchronisation": {
        "no barrier": _without(r"\bbar(rier)?\.(cta\.)?(sync|red)"),
        "no barrier of the warp": _without(r"\bbar\.warp\.sync"),
        "no barrier of the cluster": _without(r"\bbarrier\.cluster\.arrive"),
        "no wait for a copy": _without(r"\bcp\.async\.(bulk\.)?wait_(group|all)"),
        "a weaker wait for a copy": _changed(
            r"(cp\.async\.wait_group\s+)(\d+)", lambda m: f"{m[1]}{int(m[2]) + 1}"
        ),
        "no group of copies": _without(r"\bcp\.async\.(bulk\.)?commit_group"),
        "no arrival": _without(r"\bmbarrier\.arrive(?!.*expect_tx)"),
        "no bytes expected": _without(r"\bmbarrier\.(arrive\.)?expect_tx"),
        "no arrival of bytes and all": _without(r"\bmbarrier\.arrive.*expect_tx"),
        "two arrivals": _changed(r"^.*\bmbarrier\.arrive(?!.*expect_tx).*$", r"\g<0>\n\g<0>"),
        "an arrival at the next mbarrier": _changed(
            r"(mbarrier\.arrive(?!.*expect_tx)[^\[]*\[%\w+)\]", r"\1+8]"
        ),
        "no initialisation": _without(r"\bmbarrier\.init"),
        "more arrivals": _with_last(r"\bmbarrier\.init", "add.s32", 1),
        "fewer arrivals": _with_last(r"\bmbarrier\.init", "sub.s32", 1),
        "fewer bytes expected": _with_last(r"expect_tx", "sub.s32", 16),
        "more bytes expected": _with_last(r"expect_tx", "add.s32", 16),
        "no wait for a phase": _changed(
            r"mbarrier\.try_wait\S*\s+(%\w+),.*;", r"setp.eq.u32 \1, 0, 0;"
        ),
        "a wait for the other phase": _with_last(r"\bmbarrier\.try_wait", "xor.b32", 1),
        "a barrier of fewer warps": _changed(
            r"(\bbar\.sync\s+\d+,\s*)(\d+)", lambda m: f"{m[1]}{int(m[2]) - 32}"
        ),
        "a barrier that does not wait": _changed(r"\bbar\.sync(\s+\d+,)", r"bar.arrive\1"),
        "no wait for the cluster": _without(r"\bbarrier\.cluster\.wait"),
        "no group of products": _without(r"\bwgmma\.commit_group"),
        "no fence of the proxies": _without(r"\bfence\.proxy\.async"),
        "a fence of the proxies for other memory": _changed(
            r"(fence\.proxy\.async)\.shared::cta", r"\1.global"
        ),
        "no fence of the product": _without(r"\bwgmma\.fence"),
        "no wait for the product": _without(r"\bwgmma\.wait_group"),
        "a weaker wait for the product": _changed(
            r"(wgmma\.wait_group\.sync\.aligned\s+)(\d+)", lambda m: f"{m[1]}{int(m[2]) + 1}"
        ),
    },
    "initialisation": {
        "no store to shared memory": _without(r"\bst(matrix\S*)?\.shared|\bstmatrix"),
        "no copy to shared memory": _without(r"\bcp\.async\.c[ag]\.shared"),
        "no constant": _without(r"\bmov\.(b|u|s|f)\d+\s+%\w+, (0|-?\d+|0[fF][0-9A-F]+);"),
    },
    "address": {
        "beyond the store": _changed(r"(st\.global[^\[]*\[%rd\d+)(\+\d+)?\]", r"\1+1048576]"),
        "misaligned": _changed(r"((?:ld|st)\.\w+\.v[24][^\[]*\[%\w+?\d+)\]", r"\1+2]"),
        "the next row": _changed(r"((?:ldmatrix|ld\.shared|st\.shared)[^\[]*\[%r\w*)\]", r"\1+16]"),
    },
}


@dataclass(frozen=True)
class Mutant:
    """A change to a line of a kernel's PTX."""

    class_: str
    operator: str
    line: int
    text: str


def mutants(ptx: str, each: int, rng: random.Random) -> Iterator[Mutant]:
    """The mutants of a kernel: at all places, or at `each` of an operator, 0 for all."""
    lines = ptx.splitlines()
    for class_, operators in OPERATORS.items():
        for name, change in operators.items():
            found = []
            for number, line in enumerate(lines):
                new = change(line)
                if new is not None and new != line:
                    found.append((number, new))
            if each and len(found) > each:
                found = sorted(rng.sample(found, each))
            for number, new in found:
                text = "\n".join([*lines[:number], new, *lines[number + 1 :]])
                yield Mutant(class_, name, number + 1, text)

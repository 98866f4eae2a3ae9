"""PTX with one instruction changed: another operation, constant or register, or none."""

from __future__ import annotations

import random
import re

_SWAPPED = {
    "add": "sub",
    "sub": "add",
    "mul": "add",
    "max": "min",
    "min": "max",
    "and": "or",
    "or": "and",
    "shl": "shr",
    "gt": "ge",
    "lt": "le",
    "le": "lt",
    "ge": "gt",
    "eq": "ne",
}
"""Words of a mnemonic, and what stands in their place."""
_COMPUTES = re.compile(
    r"\s(add|sub|mul|mad|fma|shl|shr|and|or|xor|setp|selp|mma|ex2|div|max|min|cvt)\."
)


def mutants(ptx: str, seed: int, count: int) -> list[tuple[str, str]]:
    """Changed texts, and what was changed."""
    chosen = random.Random(seed)
    lines = ptx.split("\n")
    places = [at for at, line in enumerate(lines) if _COMPUTES.search(line)]
    found: list[tuple[str, str]] = []
    while len(found) < count:
        at = chosen.choice(places)
        new = _changed(lines[at], chosen)
        if new != lines[at]:
            text = "\n".join([*lines[:at], new, *lines[at + 1 :]])
            found.append((text, f"{at}: {lines[at].strip()} -> {new.strip()}"))
    return found


def _changed(line: str, chosen: random.Random) -> str:
    ways = []
    head, tab, operands = line.rpartition("\t")
    words = head.split(".")
    for at, word in enumerate(words):
        opcode = word.strip().split()[-1:] or [""]
        if opcode[0] in _SWAPPED:
            new = word.replace(opcode[0], _SWAPPED[opcode[0]])
            ways.append(".".join([*words[:at], new, *words[at + 1 :]]) + tab + operands)
    constant = re.search(r", (-?\d+);", operands)
    if constant:
        at = constant.start(1)
        ways.append(head + tab + operands[:at] + str(int(constant[1]) + 1) + ";")
    sources = re.match(r"(%\w+), (%\w+), (%\w+)(.*)", operands)
    if sources:
        to, one, other, rest = sources.groups()
        ways.append(f"{head}{tab}{to}, {other}, {one}{rest}")
    if "mma." in line:  # the registers of A in another order
        groups = re.findall(r"\{[^}]*\}", line)
        names = re.findall(r"%\w+", groups[1])
        held = iter(names[::-1])
        swapped = re.sub(r"%\w+", lambda _: next(held), groups[1])
        ways.append(line.replace(groups[1], swapped, 1))
    return chosen.choice(ways) if ways else line

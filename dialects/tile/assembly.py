"""Inline assembly on elements: what its text and its constraints say of registers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from tilec.isa import TilecError
from tilec.isa.wording import counted

_WIDTHS = {"h": 16, "r": 32, "f": 32, "l": 64, "d": 64}
"""Bits of a register by the letter of a constraint."""
_LETTERS = {16: "h", 32: "r or f", 64: "l or d"}
_WORD = 32
_NUMBER = re.compile("[0-9]+")
_PLACE = re.compile(r"\$(\$|[0-9]+|.?)", re.DOTALL)


class Held(NamedTuple):
    """How one call holds elements of an operand.

    Attributes:
        registers: how many of them.
        bits: of each.
        elements: in each.
    """

    registers: int
    bits: int
    elements: int


class Registers(NamedTuple):
    """Those of one call.

    Attributes:
        outputs: how each result is held.
        inputs: how each operand is held.
        letters: the constraint of every register, outputs first; of a register that is both
            that of its output.
    """

    outputs: tuple[Held, ...]
    inputs: tuple[Held, ...]
    letters: tuple[str, ...]


def registers_of(
    text: str, constraints: str, outputs: Sequence[int], inputs: Sequence[int], pack: int
) -> Registers:
    """The registers of one call of inline assembly, which takes `pack` elements of each operand.

    Args:
        text: of the assembly, with `$0`, `$1`, … for registers and `$$` for a dollar.
        constraints: a letter for each register, `=` before those of outputs, which come first.
        outputs: bits of an element of each result.
        inputs: the same of each operand.
        pack: elements at a time.

    Raises:
        TilecError: for what does not fit, naming what would.
    """
    made = tuple(_held(bits, pack) for bits in outputs)
    taken = tuple(_held(bits, pack) for bits in inputs)
    wanted = [held.bits for held in (*made, *taken) for _ in range(held.registers)]
    given = [part.strip() for part in constraints.split(",")] if constraints.strip() else []
    count = sum(held.registers for held in made)
    if len(given) != len(wanted):
        raise TilecError(
            f"pack {pack} takes constraints of {counted(count, 'output')} and "
            f"{counted(len(wanted) - count, 'input')}, "
            f"such as '{_example(wanted, count)}', not {len(given)}: '{constraints}'"
        )
    letters: list[str] = []
    untied = set(range(count))
    for number, (part, bits) in enumerate(zip(given, wanted, strict=True)):
        is_output = number < count
        letter = part.removeprefix("=").removeprefix("&") if is_output else part
        if not is_output and _NUMBER.fullmatch(part) and int(part) in untied:
            untied.remove(int(part))
            letter = letters[int(part)]
        if is_output != part.startswith("=") or _WIDTHS.get(letter) != bits:
            what = "output" if is_output else "input"
            legal = (
                f"= and {_LETTERS[bits]}"
                if is_output
                else f"{_LETTERS[bits]}, or an output's number, once"
            )
            raise TilecError(
                f"constraint {number} is of an {what} of {bits} bits: {legal}; not '{part}'"
            )
        letters.append(letter)
    _check_places(text, len(wanted))
    return Registers(made, taken, tuple(letters))


def _held(bits: int, pack: int) -> Held:
    """How `pack` elements are held: in words of 32 bits where they are narrower."""
    if bits >= _WORD:
        return Held(pack, bits, 1)
    if bits < 8:
        raise TilecError(f"inline assembly takes elements of 8 bits or more, not of {bits}")
    if bits * pack == _WORD // 2:
        return Held(1, _WORD // 2, pack)
    if bits * pack % _WORD:
        raise TilecError(
            f"pack {pack} of elements of {bits} bits fills no register; legal: {16 // bits}, and "
            f"multiples of {_WORD // bits}"
        )
    return Held(bits * pack // _WORD, _WORD, _WORD // bits)


def _example(wanted: Sequence[int], outputs: int) -> str:
    letters = [_LETTERS[bits][0] for bits in wanted]
    return ",".join(f"={one}" if at < outputs else one for at, one in enumerate(letters))


def _check_places(text: str, count: int) -> None:
    """Check what stands for registers in the text, of which LLVM would end the process."""
    if "\0" in text:
        raise TilecError("inline assembly cannot contain the character 0")
    for match in _PLACE.finditer(text):
        number = match[1]
        if number == "$" or (_NUMBER.fullmatch(number) and int(number) < count):
            continue
        raise TilecError(
            f"'{match[0]}' in the assembly is not a register; legal: $0 to ${count - 1}, and $$ "
            "for a "
            "dollar"
        )

"""Instructions of a kernel's PTX, as far as the proofs read it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_INSTRUCTION = re.compile(r"^(?:@(!?%\w+)\s+)?([a-z][\w.:]*)\s*(.*)$", re.DOTALL)
_OPERAND = re.compile(r"\{[^}]*\}|\[[^\]]*\]|[^,\s]+")
_LABEL = re.compile(r"^\s*(\$\w+):")
_REGISTER = re.compile(r"%[a-z]+\d+\b")


@dataclass(frozen=True)
class Instruction:
    """An instruction.

    Attributes:
        line: where it begins, from 1.
        guard: the predicate, with `!` if it is negated, or empty.
        opcode: with all modifiers.
        operands: their texts.
    """

    line: int
    guard: str
    opcode: str
    operands: tuple[str, ...]

    @property
    def may_write(self) -> frozenset[str]:
        """Registers of its first operand: what it writes, or more."""
        return frozenset(_REGISTER.findall(self.operands[0])) if self.operands else frozenset()

    @property
    def registers(self) -> frozenset[str]:
        """All registers that stand in it."""
        return frozenset(_REGISTER.findall(" ".join((self.guard, *self.operands))))


def instructions(ptx: str) -> list[Instruction]:
    """The instructions of a text, in its order.

    Raises:
        ValueError: for a statement that is none.
    """
    found = []
    for line, statement in _statements(ptx):
        match = _INSTRUCTION.match(statement)
        if match is None:
            raise ValueError(f"line {line}: no instruction: {statement}")
        guard, opcode, operands = match.groups()
        found.append(Instruction(line, guard or "", opcode, tuple(_OPERAND.findall(operands))))
    return found


def _statements(ptx: str) -> Iterator[tuple[int, str]]:
    """What ends with a semicolon, with its first line; neither directives nor labels."""
    text, first = "", 0
    for number, line in enumerate(ptx.splitlines(), 1):
        code = line.split("//")[0].strip()
        if not text:
            code, first = code.lstrip("{} "), number
            directive = code[:1] == "." and ";" not in code
            if not code or directive or code[0] in "()" or _LABEL.match(code):
                continue
        text = f"{text} {code}"
        while ";" in text:
            statement, text = text.split(";", 1)
            statement, text = statement.strip(), text.strip("{} ")
            if statement and statement[0] != ".":
                yield first, statement
            first = number


def labels(ptx: str) -> dict[str, int]:
    """The line of each label."""
    found = ((number, _LABEL.match(line)) for number, line in enumerate(ptx.splitlines(), 1))
    return {match[1]: number for number, match in found if match is not None}

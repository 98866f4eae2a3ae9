"""What an instruction computes, for whoever executes it by other means than its step."""

from __future__ import annotations

from dataclasses import dataclass

from ..alu.syntax import Qualifiers


@dataclass(frozen=True, slots=True)
class Computes:
    """An instruction on registers alone.

    Attributes:
        opcode: its opcode; `pack` and `unpack` are `mov` of several registers to or from one.
        q: what it chose of its form's syntax.
        results: the types of its results.
        targets: their slots; None of `_`.
        operands: the types of its operands.
        slots: the slots of these, constants included.
    """

    opcode: str
    q: Qualifiers
    results: tuple[str, ...]
    targets: tuple[int | None, ...]
    operands: tuple[str, ...]
    slots: tuple[int, ...]

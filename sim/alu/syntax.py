"""What an instruction's syntax box says: its spellings and the types of its operands."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TypeAlias

from .bits import Operation, is_type

Qualifiers: TypeAlias = Mapping[str, str]
"""What an instruction chose of its form's syntax: the choice of each name, and each literal."""

Builder: TypeAlias = Callable[[Qualifiers], Operation]


@dataclass(frozen=True, slots=True)
class Signature:
    """The types of an instruction's operands, in the order of the PTX text.

    `pred` is a predicate, `carry` the condition code of extended-precision arithmetic.
    """

    results: tuple[str, ...]
    operands: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Slot:
    name: str
    choices: tuple[str, ...]
    group: int  # braces that it stands in, 0 for none


@dataclass(frozen=True, slots=True)
class Form:
    """One line of a syntax box, with what builds its semantics."""

    opcode: str
    slots: tuple[_Slot, ...]
    types: tuple[_Slot, ...]  # those of the slots that are types
    results: tuple[str, ...]
    operands: tuple[str, ...]
    build: Builder

    def match(self, modifiers: tuple[str, ...]) -> Qualifiers | None:
        """What `modifiers` chose, types in order and qualifiers in any; None if not this form."""
        types, qualifiers = _parted(modifiers)
        if len(types) != len(self.types):
            return None
        chosen: dict[str, str] = {}
        for type_, slot in zip(types, self.types, strict=True):
            if type_ not in slot.choices:
                return None
            chosen[slot.name] = type_
        for qualifier in qualifiers:
            for slot in self.slots:
                if qualifier in slot.choices and slot.name not in chosen:
                    chosen[slot.name] = qualifier
                    break
            else:
                return None
        absent = [s for s in self.slots if s.name not in chosen]
        groups = {s.group for s in self.slots if s.name in chosen and s.group}
        return None if any(s.group == 0 or s.group in groups for s in absent) else chosen

    def spellings(self) -> Iterator[tuple[str, ...]]:
        """Every tuple of modifiers that this form takes."""
        groups = [
            [list(p) for p in itertools.product(*(s.choices for s in slots))]
            + ([[]] if number else [])
            for number, slots in self._grouped()
        ]
        for parts in itertools.product(*groups):
            yield tuple(itertools.chain.from_iterable(parts))

    def _grouped(self) -> list[tuple[int, list[_Slot]]]:
        runs = itertools.groupby(enumerate(self.slots), lambda i: i[1].group or -1 - i[0])
        return [(max(key, 0), [slot for _, slot in run]) for key, run in runs]

    def signature(self, chosen: Qualifiers) -> Signature:
        """The operand types that go with what `match` found."""

        def name(token: str) -> str:
            if token.endswith("*2"):
                base = chosen[token.removesuffix("*2")]
                return f"{base[0]}{int(base[1:]) * 2}"
            return chosen.get(token, token)

        return Signature(tuple(map(name, self.results)), tuple(map(name, self.operands)))


@cache
def _parted(modifiers: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The types among modifiers, and the qualifiers."""
    return tuple(filter(is_type, modifiers)), tuple(m for m in modifiers if not is_type(m))


def parse(syntax: str, types: str, choices: Mapping[str, tuple[str, ...]], build: Builder) -> Form:
    """The form that a line in the ISA's notation stands for; see `registry.form`."""
    opcode, *rest = re.findall(r"[{}]|[\w:]+", syntax)
    slots: list[_Slot] = []
    groups = itertools.count(1)
    group = 0
    for token in rest:
        if token == "{":
            group = next(groups)
        elif token == "}":
            group = 0
        else:
            slots.append(_Slot(token, choices.get(token, (token,)), group))
    results, operands = (tuple(side.split()) for side in types.split("="))
    typed = tuple(slot for slot in slots if is_type(slot.choices[0]))
    return Form(opcode, tuple(slots), typed, results, operands, build)

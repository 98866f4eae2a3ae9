"""The spellings of register-to-register instructions, and the lookup of their semantics.

A form is declared beside its semantics, in the notation of the PTX ISA's syntax boxes:

    @form("add{.rnd}{.ftz}{.sat}.f32", "f32 = f32 f32", rnd=ROUNDINGS)
    def _add(q: Qualifiers) -> Operation: ...

`{…}` may be left out, and names given as keywords stand for one of their choices.
"""

from __future__ import annotations

import functools
import importlib
import itertools
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from tilec.isa.errors import TilecError, nearest

from .bits import Operation, is_type

Qualifiers: TypeAlias = Mapping[str, str]
"""What an instruction chose of its form's syntax: the choice of each name, and each literal."""

Builder: TypeAlias = Callable[[Qualifiers], Operation]


class Unsupported(TilecError):  # noqa: N818 - an instruction, not a fault of the program
    """An instruction that the simulator does not know; the message says the nearest it does."""


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

    @property
    def is_type(self) -> bool:
        return is_type(self.choices[0])


@dataclass(frozen=True, slots=True)
class _Form:
    opcode: str
    slots: tuple[_Slot, ...]
    results: tuple[str, ...]
    operands: tuple[str, ...]
    build: Builder

    def match(self, modifiers: tuple[str, ...]) -> Qualifiers | None:
        """What `modifiers` chose, types in order and qualifiers in any; None if not this form."""
        types = [m for m in modifiers if is_type(m)]
        qualifiers = [m for m in modifiers if not is_type(m)]
        slots = [s for s in self.slots if s.is_type]
        if len(types) != len(slots) or any(
            t not in s.choices for t, s in zip(types, slots, strict=True)
        ):
            return None
        chosen = {s.name: t for t, s in zip(types, slots, strict=True)}
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
        def name(token: str) -> str:
            if token.endswith("*2"):
                base = chosen[token.removesuffix("*2")]
                return f"{base[0]}{int(base[1:]) * 2}"
            return chosen.get(token, token)

        return Signature(tuple(map(name, self.results)), tuple(map(name, self.operands)))


_forms: dict[str, list[_Form]] = defaultdict(list)

_FAMILIES: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(
        ("mov", "and", "or", "xor", "not", "cnot", "lop3", "shl", "shr", "shf", "prmt"),
        ("logic",),
    ),
    **dict.fromkeys(
        ("add", "sub", "mul", "mad"), ("integer", "extended", "floating", "half", "mixed")
    ),
    **dict.fromkeys(("addc", "subc", "madc"), ("extended",)),
    **dict.fromkeys(("abs", "neg", "min", "max"), ("integer", "floating", "half")),
    **dict.fromkeys(("sad", "rem"), ("integer",)),
    **dict.fromkeys(("mul24", "mad24"), ("integer24",)),
    **dict.fromkeys(("dp4a", "dp2a"), ("dot",)),
    **dict.fromkeys(
        ("popc", "clz", "bfind", "brev", "bfe", "bfi", "bmsk", "szext", "fns"), ("bitfield",)
    ),
    **dict.fromkeys(("setp", "set"), ("compare",)),
    **dict.fromkeys(("selp", "slct", "testp"), ("select",)),
    "fma": ("floating", "half", "mixed"),
    "div": ("integer", "floating", "approximate"),
    **dict.fromkeys(("rcp", "sqrt"), ("floating", "approximate")),
    **dict.fromkeys(("rsqrt", "sin", "cos", "lg2", "ex2", "tanh"), ("approximate",)),
    "copysign": ("floating",),
    "cvt": ("conversion", "narrow"),
}


def form(syntax: str, types: str, **choices: tuple[str, ...]) -> Callable[[Builder], Builder]:
    """Declares the form that a builder of closures implements.

    Args:
        syntax: the instruction as the ISA writes it, without operands.
        types: results, `=` and operands; a type, the name of a choice, or that name and `*2`
            for the type of twice its width.
        choices: what each name in `syntax` stands for.
    """
    opcode, *rest = re.findall(r"[{}]|\.?[\w:]+", syntax)
    slots: list[_Slot] = []
    group = depth = 0
    for token in rest:
        if token == "{":
            group, depth = group + 1, group + 1
        elif token == "}":
            depth = 0
        else:
            name = token.removeprefix(".")
            slots.append(_Slot(name, choices.get(name, (name,)), depth))
    results, operands = (tuple(side.split()) for side in types.split("="))

    def declare(build: Builder) -> Builder:
        _forms[opcode].append(_Form(opcode, tuple(slots), results, operands, build))
        return build

    return declare


def forms(opcode: str) -> list[tuple[tuple[str, ...], Signature]]:
    """Every spelling of an opcode's modifiers that is known, and its operand types."""
    return [
        (spelling, f.signature(chosen))
        for f in _declared(opcode)
        for spelling in f.spellings()
        if (chosen := f.match(spelling)) is not None
    ]


def opcodes() -> tuple[str, ...]:
    """Every opcode that has a form here."""
    return tuple(sorted(_FAMILIES))


@functools.cache
def resolve(
    opcode: str,
    modifiers: tuple[str, ...],
    results: int | None = None,
    operands: int | None = None,
) -> Operation:
    """The semantics of a register-to-register instruction.

    Args:
        opcode: as `fma`.
        modifiers: as `("rn", "ftz", "f32")`; qualifiers in any order, types in that of the text.
        results: how many destinations the text has, where an instruction may have one or two
            (`setp p|q`); None for the form with fewer.
        operands: how many sources it has, where an instruction may have two or three (`min`);
            None for the form with fewer.

    Returns:
        A function of one array per source operand, in the order of the text, of the dtypes of
        `signature(…).operands` (raw bits; predicates and carry-in as bool) and of any shapes
        that broadcast. It returns the destination's raw bits, or a tuple where there are two.
        It never warns and never changes its arguments; the result may share memory with one.

    Raises:
        Unsupported: for a spelling that no form has.
    """
    found, chosen = _find(opcode, modifiers, results, operands)
    return found.build(chosen)


@functools.cache
def signature(
    opcode: str,
    modifiers: tuple[str, ...],
    results: int | None = None,
    operands: int | None = None,
) -> Signature:
    """The operand types of an instruction; see `resolve`.

    Raises:
        Unsupported: for a spelling that no form has.
    """
    found, chosen = _find(opcode, modifiers, results, operands)
    return found.signature(chosen)


def _find(
    opcode: str, modifiers: tuple[str, ...], results: int | None, operands: int | None
) -> tuple[_Form, Qualifiers]:
    declared = _declared(opcode)
    matches = [(f, chosen) for f in declared if (chosen := f.match(modifiers)) is not None]
    for found, chosen in matches:
        counts = _written(found.results), _written(found.operands)
        if results in (None, counts[0]) and operands in (None, counts[1]):
            return found, chosen
    spelled = ".".join((opcode, *modifiers))
    if matches:
        found = matches[0][0]
        raise Unsupported(
            f"'{spelled}' has {_written(found.results)} destinations and "
            f"{_written(found.operands)} source operands"
        )
    if not declared:
        raise Unsupported(f"unsupported instruction '{spelled}'; {_say(opcode, opcodes())}")
    known = [s for f in declared for s in f.spellings()]
    types = [m for m in modifiers if is_type(m)]
    near = [s for s in known if [m for m in s if is_type(m)] == types] or known
    spellings = {".".join((opcode, *s)) for s in near}
    raise Unsupported(f"unsupported instruction '{spelled}'; {_say(spelled, spellings)}")


def _written(types: tuple[str, ...]) -> int:
    """How many operands stand in the text: all but the condition code."""
    return len(types) - types.count("carry")


def _say(name: str, known: set[str] | tuple[str, ...]) -> str:
    return "nearest known: " + ", ".join(nearest(name, sorted(known), 4))


def _declared(opcode: str) -> list[_Form]:
    for family in _FAMILIES.get(opcode, ()):
        importlib.import_module(f"{__package__}.{family}")
    return _forms.get(opcode, [])

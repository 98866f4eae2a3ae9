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
from collections.abc import Callable
from enum import Enum, auto

from tilec.isa.errors import TilecError, nearest

from .bits import Operation, is_type
from .syntax import Builder, Form, Qualifiers, Signature, parse


class Unsupported(TilecError):  # noqa: N818 - an instruction, not a fault of the program
    """An instruction that the simulator does not know; the message says the nearest it does."""


class Moves(Enum):
    """How a result moves where operands move by as much each time."""

    FREELY = auto()
    """Not as evenly as they do, as far as is known."""
    EVENLY = auto()
    """By as much each time, while nothing wraps around; of a product one factor stays."""
    BY_COMPARISON = auto()
    """By as much each time, or not at all, while a comparison of the first two comes out as it
    did."""


_texts: dict[str, list[Callable[[], Form]]] = defaultdict(list)
"""Of each opcode what parses the forms that have been declared and not been asked for yet."""
_forms: dict[str, list[Form]] = defaultdict(list)
_moves: dict[Builder, Moves] = {}

_MODULES: dict[str, tuple[str, ...]] = {
    "integer": (
        *("add", "sub", "mul", "mad", "sad", "div", "rem"),
        *("abs", "neg", "min", "max"),
    ),
    "integer24": ("mul24", "mad24"),
    "dot": ("dp4a", "dp2a"),
    "extended": ("add", "addc", "sub", "subc", "mad", "madc"),
    "bitfield": ("popc", "clz", "bfind", "brev", "bfe", "bfi", "bmsk", "szext", "fns"),
    "logic": (
        *("mov", "and", "or", "xor", "not", "cnot", "lop3"),
        *("shl", "shr", "shf", "prmt"),
    ),
    "compare": ("setp", "set"),
    "select": ("selp", "slct", "testp"),
    "floating": (
        *("add", "sub", "mul", "fma", "mad", "div", "rcp", "sqrt"),
        *("abs", "neg", "min", "max", "copysign"),
    ),
    "half": ("add", "sub", "mul", "fma", "abs", "neg", "min", "max"),
    "mixed": ("add", "sub", "fma"),
    "approximate": ("div", "rcp", "sqrt", "rsqrt", "sin", "cos", "lg2", "ex2", "tanh"),
    "conversion": ("cvt",),
    "narrow": ("cvt",),
}
"""The modules of this package that declare each opcode's forms, imported when first needed."""


def form(syntax: str, types: str, **choices: tuple[str, ...]) -> Callable[[Builder], Builder]:
    """Declares the form that a builder of closures implements.

    Args:
        syntax: the instruction as the ISA writes it, without operands.
        types: results, `=` and operands; a type, the name of a choice, or that name and `*2`
            for the type of twice its width.
        choices: what each name in `syntax` stands for.
    """

    def declare(build: Builder) -> Builder:
        opcode = re.split(r"[.{]", syntax, maxsplit=1)[0]
        _texts[opcode].append(functools.partial(parse, syntax, types, choices, build))
        return build

    return declare


def moving(how: Moves) -> Callable[[Builder], Builder]:
    """Declares how the results of a builder's closures move."""

    def declare(build: Builder) -> Builder:
        _moves[build] = how
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
    return tuple(sorted(set(itertools.chain(*_MODULES.values()))))


def approximated() -> tuple[str, ...]:
    """Every opcode that has approximate forms."""
    return _MODULES["approximate"]


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
        It never warns and never changes its arguments. The result may be an argument, and where
        some argument does not matter (`lop3`, `prmt`) need not have its shape.

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


@functools.cache
def qualifiers(
    opcode: str,
    modifiers: tuple[str, ...],
    results: int | None = None,
    operands: int | None = None,
) -> Qualifiers:
    """What an instruction chose of its form's syntax; see `resolve`.

    Raises:
        Unsupported: for a spelling that no form has.
    """
    return _find(opcode, modifiers, results, operands)[1]


def moves(
    opcode: str,
    modifiers: tuple[str, ...],
    results: int | None = None,
    operands: int | None = None,
) -> Moves:
    """How the result of an instruction moves; see `resolve`.

    Raises:
        Unsupported: for a spelling that no form has.
    """
    found, _ = _find(opcode, modifiers, results, operands)
    return _moves.get(found.build, Moves.FREELY)


def _find(
    opcode: str, modifiers: tuple[str, ...], results: int | None, operands: int | None
) -> tuple[Form, Qualifiers]:
    declared = _declared(opcode)
    matches = [(f, chosen) for f in declared if (chosen := f.match(modifiers)) is not None]
    matches.sort(key=lambda match: (_written(match[0].results), _written(match[0].operands)))
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


def _declared(opcode: str) -> list[Form]:
    for module, opcodes_there in _MODULES.items():
        if opcode in opcodes_there:
            importlib.import_module(f"{__package__}.{module}")
    _forms[opcode] += [parsed() for parsed in _texts.pop(opcode, ())]
    return _forms[opcode]

"""What a PTX text says, as data."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeVar

from .source import Source

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Name:
    """A register, special register, variable, function or label, as written.

    Attributes:
        text: the name.
        component: `x`, `y`, … after a dot, or empty.
        offset: bytes added to the address of a variable.
    """

    text: str
    component: str = ""
    offset: int = 0

    def __str__(self) -> str:
        tail = f".{self.component}" if self.component else ""
        return f"{self.text}{tail}" + (f"+{self.offset}" if self.offset else "")


@dataclass(frozen=True, slots=True)
class Integer:
    """An integer constant."""

    value: int


@dataclass(frozen=True, slots=True)
class Float:
    """A floating-point constant: `0f` of 32 bits, `0d` or decimal of 64.

    Attributes:
        bits: its bit pattern.
        width: 32 or 64.
    """

    bits: int
    width: int


@dataclass(frozen=True, slots=True)
class Address:
    """`[base+offset]`.

    Attributes:
        base: register or variable; None for an absolute address.
        offset: bytes added.
        extra: what follows a comma inside the brackets, such as tensor coordinates.
    """

    base: Name | None
    offset: int
    extra: tuple[Operand, ...] = ()


@dataclass(frozen=True, slots=True)
class Vector:
    """`{a, b, …}`."""

    items: tuple[Operand, ...]


@dataclass(frozen=True, slots=True)
class Arguments:
    """`(a, b, …)` of a call."""

    items: tuple[Operand, ...]


@dataclass(frozen=True, slots=True)
class Pair:
    """`p|q`, two destinations."""

    first: Operand
    second: Operand


@dataclass(frozen=True, slots=True)
class Negated:
    """`!p`."""

    name: Name


@dataclass(frozen=True, slots=True)
class Minus:
    """`-r`: a register that is negated."""

    name: Name


@dataclass(frozen=True, slots=True)
class Sink:
    """`_`: a result that is dropped, or an operand that is absent."""


Operand = Name | Integer | Float | Address | Vector | Arguments | Pair | Negated | Minus | Sink


def operand_names(operands: Iterable[Operand]) -> Iterator[str]:
    """Every name in some operands: of registers, without what selects a part, variables, labels."""
    for operand in operands:
        match operand:
            case Name():
                yield operand.text
            case Negated() | Minus():
                yield operand.name.text
            case Address():
                if operand.base is not None:
                    yield operand.base.text
                yield from operand_names(operand.extra)
            case Vector() | Arguments():
                yield from operand_names(operand.items)
            case Pair():
                yield from operand_names((operand.first, operand.second))


@dataclass(frozen=True, slots=True)
class Symbol:
    """The address of a variable or function inside an initialiser."""

    name: str
    offset: int
    generic: bool


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable of some state space, or a parameter.

    Attributes:
        name: its name.
        space: `global`, `const`, `shared`, `local` or `param`.
        type: type of an element.
        size: bytes in all; 0 of an array without extent.
        align: alignment in bytes.
        values: initial elements, flat: integers are bit patterns; the rest is zero.
        open_ended: declared with `[]`.
        position: offset in the text.
    """

    name: str
    space: str
    type: str
    size: int
    align: int
    values: tuple[int | Symbol, ...] = ()
    open_ended: bool = False
    position: int = 0


@dataclass(frozen=True, slots=True)
class RegisterRange:
    """Registers declared together; `count` of `%r<count>`, or None for one register."""

    type: str
    vector: int
    count: int | None


_NUMBERED = re.compile(r"(.*?)(0|[1-9][0-9]{0,17})$", re.DOTALL)


class Scope:
    """Names declared inside a pair of braces."""

    __slots__ = ("_declared", "labels", "lists", "parent", "registers", "variables")

    def __init__(self, parent: Scope | None = None) -> None:
        self.parent = parent
        self.registers: dict[str, RegisterRange] = {}
        self.variables: dict[str, Variable] = {}
        self.labels: dict[str, int] = {}
        self.lists: dict[str, tuple[str, ...]] = {}
        self._declared: dict[str, tuple[Scope, RegisterRange]] = {}

    def chain(self) -> Iterator[Scope]:
        """This scope and those around it, inside out."""
        scope: Scope | None = self
        while scope is not None:
            yield scope
            scope = scope.parent

    def register(self, name: str) -> tuple[Scope, RegisterRange] | None:
        """The declaration of a register and the scope that holds it."""
        known = self._declared.get(name)
        if known is None:
            known = self._declaration(name)
            if known is not None:
                self._declared[name] = known
        return known

    def _declaration(self, name: str) -> tuple[Scope, RegisterRange] | None:
        match = _NUMBERED.match(name)
        for scope in self.chain():
            found = scope.registers.get(name)
            if found is not None and found.count is None:
                return scope, found
            if match:
                found = scope.registers.get(match[1])
                if found is not None and found.count is not None and int(match[2]) < found.count:
                    return scope, found
        return None

    def variable(self, name: str) -> tuple[Scope, Variable] | None:
        """A variable declared in the function and the scope that holds it."""
        for scope in self.chain():
            if name in scope.variables:
                return scope, scope.variables[name]
        return None

    def label(self, name: str) -> int | None:
        """Index of the instruction that a label stands before."""
        for scope in self.chain():
            if name in scope.labels:
                return scope.labels[name]
        return None

    def targets(self, name: str) -> tuple[str, ...] | None:
        """The labels of a `.branchtargets` or `.calltargets` list."""
        for scope in self.chain():
            if name in scope.lists:
                return scope.lists[name]
        return None


@dataclass(slots=True)
class Instruction:
    """One instruction.

    Attributes:
        opcode: the mnemonic up to the first dot.
        modifiers: its qualifiers, without dots.
        operands: as written.
        guard: predicate register of `@p`, or None.
        negated: whether the guard is `@!p`.
        position: offset in the text.
        scope: where names are looked up.
        location: file and line that the last `.loc` gave, or None.
    """

    opcode: str
    modifiers: tuple[str, ...]
    operands: tuple[Operand, ...]
    guard: str | None
    negated: bool
    position: int
    scope: Scope
    location: tuple[int, int] | None

    @property
    def mnemonic(self) -> str:
        """The instruction's name with its qualifiers."""
        return ".".join((self.opcode, *self.modifiers))


KEPT = 4
"""Keys at most that a function keeps something of."""


class _Kept(dict[object, object]):
    """What uses of a function leave, which no copy of it has, nor other processes."""

    def __copy__(self) -> _Kept:
        return _Kept()

    def __deepcopy__(self, memo: object) -> _Kept:
        return _Kept()

    def __reduce__(self) -> tuple[type[_Kept], tuple[()]]:
        return _Kept, ()


@dataclass(slots=True)
class Function:
    """An `.entry` or `.func`.

    Attributes:
        name: its name.
        entry: whether it is a kernel.
        returns: return parameters.
        parameters: parameters; they are registers where the type is given by `.reg`.
        body: instructions in order; None of a declaration.
        scope: the outermost scope of the body.
        directives: performance directives and their numbers, such as `reqntid`.
        position: offset in the text.
    """

    name: str
    entry: bool
    returns: tuple[Variable, ...]
    parameters: tuple[Variable, ...]
    body: list[Instruction] | None
    scope: Scope
    directives: dict[str, tuple[int, ...]]
    position: int
    _analyses: dict[tuple[object, object], Any] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )
    _kept: _Kept = field(default_factory=_Kept, init=False, repr=False, compare=False)

    def keep(self, key: object, left: object) -> None:
        """Keep what a use of the function leaves to the next; of few keys, the latest."""
        self._kept.pop(key, None)
        while len(self._kept) >= KEPT:
            self._kept.pop(next(iter(self._kept)), None)
        self._kept[key] = left

    def take(self, key: object) -> object | None:
        """Take what was kept, which then nobody else can; None if there is nothing."""
        return self._kept.pop(key, None)

    def once(self, analysis: Callable[[Function], T], given: object = None) -> T:
        """What an analysis finds of the function, made when it is first asked for.

        Args:
            analysis: a function that does not depend on a launch.
            given: what it depends on beside the function; hashable.
        """
        key = analysis, given
        if key not in self._analyses:
            self._analyses[key] = analysis(self)
        found: T = self._analyses[key]
        return found


@dataclass(slots=True)
class Module:
    """A PTX text, read. What has been launched is not to be changed: its analyses are kept.

    Attributes:
        source: the text.
        version: of the PTX ISA, as written.
        target: architecture of `.target`.
        variables: module-scope variables by name.
        functions: kernels and functions by name.
        files: `.file` names by index.
        aliases: other names of functions.
    """

    source: Source
    version: str = ""
    target: str = ""
    variables: dict[str, Variable] = field(default_factory=dict)
    functions: dict[str, Function] = field(default_factory=dict)
    files: dict[int, str] = field(default_factory=dict)
    aliases: dict[str, str] = field(default_factory=dict)

    def __repr__(self) -> str:
        """One line, for a prompt."""
        kernels = ", ".join(one.name for one in self.functions.values() if one.entry)
        return f"<PTX {self.version} for {self.target}, kernels: {kernels or 'none'}>"

    def line(self, instruction: Instruction) -> int:
        """Line of an instruction in the text."""
        return self.source.line(instruction.position)

    def written_line(self, position: int) -> str:
        """Line of the instruction at a place in the text, and what it was compiled from."""
        bodies = (function.body or () for function in self.functions.values())
        found = next((one for body in bodies for one in body if one.position == position), None)
        origin = "" if found is None else self.origin(found)
        line = str(self.source.line(position))
        return f"{line} ({origin})" if origin else line

    def origin(self, instruction: Instruction) -> str:
        """`file:line` of the program that the text was compiled from, or empty."""
        if instruction.location is None:
            return ""
        file, line = instruction.location
        return f"{self.files.get(file, f'file {file}')}:{line}"

    def place(self, instruction: Instruction) -> str:
        """`file:line (source)` of an instruction."""
        origin = self.origin(instruction)
        where = f"{self.source.name}:{self.line(instruction)}"
        return f"{where} ({origin})" if origin else where

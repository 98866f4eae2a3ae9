"""The language of `assembly_format`, as MLIR's ODS has it, and an op's format in it.

    assembly_format = "$source `[` $indices `]` (`masked` $masked^)? attr-dict `:` type($source)"

* `` `word` `` stands as it is written, and so does punctuation.
* `$name` is an operand, an attribute or a region, as the class declares it. A name that the class
  does not declare is an attribute; of one in its `UNITS` nothing stands there.
* `type($name)` is the type of an operand or result, `one-type($name)` that of several at once.
* `keyword($name)` is a string attribute as a bare word, `list($name)` an `array<i64: …>` as
  `[1, 0]`; `$sym_name` stands as `@name`.
* `ranked($name, $other)` are as many of the operands `$name` as the memory `$other` has dimensions,
  `inner-ranked($name, $other)` as it has between the first and the last.
* `attr-dict` has all other attributes, `attr-dict-with-keyword` with `attributes` before them;
  `prop-dict` is `<{…}>`.
* `(… ^ …)?` stands there if the element before `^` has something to say, and is read if its first
  element is there.

`inferred_types` of the class names types that are not said, or only where they differ: of each
operand or result a type such as `index`, or `$other`, the type of another.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TypeAlias

from tilec.ir.mlir import ext
from tilec.isa.errors import TilecError

from .cursor import Cursor
from .elements import (
    Attribute,
    AttributeDictionary,
    Element,
    Literal,
    Operand,
    Optional,
    PropertyDictionary,
    Region,
    Spelling,
    TypeOf,
    is_inferred,
)
from .op_text import OpText, Unfit
from .output import Output
from .signature import Signature

_TOKEN = re.compile(r"\s*(?:`([^`\s]+)`|\$(\w+)|([a-z][a-z-]*)|([()?^,])|(\S))")
_SPELLINGS = {"keyword": Spelling.KEYWORD, "list": Spelling.LIST}


OpClass: TypeAlias = type[ext.Operation]
"""A class of ops that the bindings define."""


class AssemblyFormatError(TilecError):
    """A format that cannot be: a mistake in a class."""


class AssemblyFormat:
    """How an op is written.

    Attributes:
        signature: what its class declares.
        text: the declaration.
    """

    def __init__(self, signature: Signature, text: str) -> None:
        self.signature = signature
        self.text = " ".join(text.split())
        parser = _Declaration(signature, self.text)
        self.elements = parser.elements
        self._said_elsewhere = parser.attributes
        _check(self, parser)

    def read(self, cursor: Cursor) -> OpText:
        """Read an op after its name.

        Raises:
            SyntaxProblem: if it is not so written.
        """
        op = OpText(operands={group.name: [] for group in self.signature.operands})
        for element in self.elements:
            element.read(cursor, op)
        unknown = self.signature.complete(op)
        if unknown:
            raise cursor.problem(f"the type of '{unknown}' is not known")
        return op

    def write(self, op: OpText) -> str:
        """The op after its name.

        Raises:
            Unfit: if the format cannot say it.
        """
        groups = (*self.signature.operands, *self.signature.results)
        inferred = {g.name for g in groups if is_inferred(self.signature, op, g.name)}
        out = Output()
        for element in self.elements:
            element.write(op, out)
        missing = (
            any(op.operands.values())
            or any(n in op.attributes and n not in op.written for n in self._said_elsewhere)
            or any(f"type {g.name}" not in op.written and g.name not in inferred for g in groups)
            or any(v and f"region {n}" not in op.written for n, v in op.regions.items())
            or (op.properties is not None and "properties" not in op.written)
        )
        if missing:
            raise Unfit(self.signature.name)
        return str(out)


def format_of(op: OpClass) -> AssemblyFormat | None:
    """The format that a class declares; None if it declares none.

    Raises:
        AssemblyFormatError: for one that cannot be, naming the class.
    """
    if op not in _formats:
        declared = getattr(op, "assembly_format", None)
        _formats[op] = None if declared is None else AssemblyFormat(Signature.of(op), declared)
    return _formats[op]


_formats: dict[OpClass, AssemblyFormat | None] = {}


class _Declaration:
    """Reads a declaration."""

    def __init__(self, signature: Signature, text: str) -> None:
        self._signature = signature
        self._tokens = [found.groups() for found in _TOKEN.finditer(text)]
        self._at = 0
        self._names = [
            name
            for (_, name, _, _, _) in self._tokens
            if name and signature.kind(name) == "attribute"
        ]
        self.attributes = frozenset(self._names)
        self.said: set[str] = set()
        self.shown: set[str] = set()
        self.elements = self._sequence(top=True)
        _untype(self.elements)

    def _problem(self, message: str) -> AssemblyFormatError:
        return AssemblyFormatError(f"assembly_format of '{self._signature.name}': {message}")

    def _next(self) -> tuple[str, ...] | None:
        return self._tokens[self._at] if self._at < len(self._tokens) else None

    def _sequence(self, *, top: bool) -> list[Element]:
        found: list[Element] = []
        self._anchor = None
        while (token := self._next()) is not None:
            literal, name, word, punctuation, other = token
            if punctuation == ")" and not top:
                return found
            self._at += 1
            if literal:
                found.append(Literal(literal))
            elif name:
                found.append(self._named(name))
            elif word:
                found.append(self._directive(word))
            elif punctuation == "(" and top:
                found.append(self._optional())
            elif punctuation == "^" and not top and found and self._anchor is None:
                self._anchor = len(found) - 1
            else:
                raise self._problem(f"unexpected '{punctuation or other}'")
        if not top:
            raise self._problem("a '(' is not closed")
        return found

    def _optional(self) -> Element:
        elements = self._sequence(top=False)
        anchor = self._anchor
        self._expect(")")
        self._expect("?")
        if anchor is None:
            raise self._problem("an optional group needs an anchor: '^' after one of its elements")
        if isinstance(elements[0], (TypeOf, Attribute)) and not (
            isinstance(elements[0], Attribute) and elements[0].spelling is Spelling.LIST
        ):
            raise self._problem("an optional group begins with a literal, an operand or a region")
        return Optional(tuple(elements), anchor)

    def _expect(self, punctuation: str) -> None:
        token = self._next()
        if token is None or token[3] != punctuation:
            raise self._problem(f"expected '{punctuation}'")
        self._at += 1

    def _named(self, name: str) -> Element:
        self.shown.add(name)
        match self._signature.kind(name):
            case "operand":
                return Operand(name, self._single(name))
            case "region":
                return Region(name, self._single(name))
            case "result":
                raise self._problem(f"'${name}' is a result, which is written before the '='")
        if name in self._signature.units:
            return Attribute(name, Spelling.UNIT)
        return Attribute(name, Spelling.SYMBOL if name == "sym_name" else Spelling.TYPED)

    def _single(self, name: str) -> bool:
        groups = (*self._signature.operands, *self._signature.regions, *self._signature.results)
        return next(group.single for group in groups if group.name == name)

    def _directive(self, word: str) -> Element:
        if word in ("attr-dict", "attr-dict-with-keyword"):
            return AttributeDictionary(self.attributes, word != "attr-dict")
        if word == "prop-dict":
            return PropertyDictionary()
        names = self._arguments(word)
        kinds = [self._signature.kind(name) for name in names]
        match word, kinds:
            case "type" | "one-type", ["operand" | "result"]:
                self.said.add(names[0])
                return TypeOf(names[0], self._signature, once=word == "one-type")
            case "keyword" | "list", ["attribute"]:
                return Attribute(names[0], _SPELLINGS[word])
            case "ranked" | "inner-ranked", ["operand", "operand"] if not self._single(names[0]):
                self.shown.add(names[0])
                besides = 2 if word == "inner-ranked" else 0
                return Operand(names[0], single=False, ranked=names[1], besides=besides)
        raise self._problem(f"'{word}({', '.join(f'${n}' for n in names)})' is not a directive")

    def _arguments(self, word: str) -> list[str]:
        token = self._next()
        if token is None or token[3] != "(":
            raise self._problem(f"unknown directive '{word}'; literals are written in backticks")
        self._expect("(")
        names: list[str] = []
        while True:
            token = self._next()
            if token is None or not token[1]:
                raise self._problem(f"{word} takes names such as $value")
            names.append(token[1])
            self._at += 1
            token = self._next()
            if token is None or token[3] != ",":
                break
            self._at += 1
        self._expect(")")
        return names


def _untype(elements: list[Element]) -> None:
    """Let attributes stand without a type where a colon may follow."""
    colon = False
    for at in reversed(range(len(elements))):
        element = elements[at]
        if isinstance(element, Attribute) and element.spelling is Spelling.TYPED and colon:
            elements[at] = Attribute(element.name, Spelling.PLAIN)
        if isinstance(element, Optional):
            inside = list(element.elements)
            _untype_before(inside, colon)
            elements[at] = Optional(tuple(inside), element.anchor)
            colon |= element.elements[0] == Literal(":")
        elif not isinstance(element, AttributeDictionary):
            colon = isinstance(element, Literal) and element.spelling == ":"


def _untype_before(elements: list[Element], colon: bool) -> None:
    for at in reversed(range(len(elements))):
        element = elements[at]
        if isinstance(element, Attribute) and element.spelling is Spelling.TYPED and colon:
            elements[at] = Attribute(element.name, Spelling.PLAIN)
        colon = isinstance(element, Literal) and element.spelling == ":"


def _check(format_: AssemblyFormat, declared: _Declaration) -> None:
    """Refuse a format that leaves out what an op must have."""
    signature = format_.signature

    def refuse(message: str) -> None:
        raise AssemblyFormatError(f"assembly_format of '{signature.name}': {message}")

    if "attr-dict" not in format_.text:
        refuse("it needs attr-dict, for attributes that any op may have")
    for group in (*signature.operands, *signature.regions):
        if group.name not in declared.shown:
            refuse(f"${group.name} does not appear in it")
    for group in (*signature.operands, *signature.results):
        if group.name not in declared.said and group.name not in signature.inferred:
            refuse(f"it needs type(${group.name}), or an entry in inferred_types")
    known: Sequence[str] = [g.name for g in (*signature.operands, *signature.results)]
    for name, rule in signature.inferred.items():
        if name not in known or (rule.startswith("$") and rule[1:] not in known):
            refuse(f"inferred_types: '{name}': '{rule}' names no operand or result")

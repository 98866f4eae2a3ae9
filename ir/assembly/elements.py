"""The elements of a format, each with how it is read and how it is written."""
# ruff: noqa: D102 (`Element` says what each method does)

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import Enum
from typing import NamedTuple, Protocol

from .cursor import Cursor, Piece
from .op_text import OpText, Unfit
from .output import Output
from .scan import attribute_end
from .signature import Signature

_EXTENTS = re.compile(r"\w+<((?:(?:\d+|\?)x)*)(?!\*)")
_DEFAULT_TYPE = re.compile(r"(.*[^\s]) : (?:i64|f64)", re.DOTALL)
_BARE = re.compile(r'"([A-Za-z_][\w$]*(?:(?:\.|::)[A-Za-z_0-9][\w$]*)*)"')
_SYMBOL = re.compile(r'"([A-Za-z_][\w$.-]*)"')
_NUMBERS = re.compile(r"array<i64(?:: ([\d, -]*))?>")


class Element(Protocol):
    """An element of a format."""

    def read(self, cursor: Cursor, op: OpText) -> None:
        """Read it; raises SyntaxProblem."""

    def write(self, op: OpText, out: Output) -> None:
        """Write it; raises Unfit where it cannot say what the op has."""

    def begins(self, cursor: Cursor) -> bool:
        """Whether it is next, if it may be left out."""

    def present(self, op: OpText) -> bool:
        """Whether the op has something that it says, as the anchor of an optional group."""


class Literal(NamedTuple):
    """A word or punctuation."""

    spelling: str

    def read(self, cursor: Cursor, op: OpText) -> None:  # noqa: ARG002
        cursor.expect(self.spelling)

    def write(self, op: OpText, out: Output) -> None:  # noqa: ARG002
        out.literal(self.spelling)

    def begins(self, cursor: Cursor) -> bool:
        return cursor.sees(self.spelling)

    def present(self, op: OpText) -> bool:  # noqa: ARG002
        return False


class Operand(NamedTuple):
    """Operands: `%a`, or `%a, %b` of one that stands for several.

    Attributes:
        name: the operand.
        single: whether it is one value.
        ranked: the operand that has as many dimensions as values are meant here; all if empty.
        besides: how many fewer values are meant.
    """

    name: str
    single: bool
    ranked: str = ""
    besides: int = 0

    def read(self, cursor: Cursor, op: OpText) -> None:
        found = [cursor.value()] if self.single else cursor.values()
        op.operands.setdefault(self.name, []).extend(found)

    def write(self, op: OpText, out: Output) -> None:
        values = op.operands[self.name]
        count = len(values)
        if self.ranked:
            count = self._rank(op)
        if count > len(values):
            raise Unfit(self.name)
        if count:
            out.text(", ".join(value.text for value in values[:count]))
        op.operands[self.name] = values[count:]

    def _rank(self, op: OpText) -> int:
        type_ = op.types[self.ranked][0].text
        return max(0, _rank(op.aliases.get(type_, type_)) - self.besides)

    def begins(self, cursor: Cursor) -> bool:
        return cursor.sees_value()

    def present(self, op: OpText) -> bool:
        return bool(self._rank(op) if self.ranked else op.operands[self.name])


def _rank(type_: str) -> int:
    """The number of dimensions of memory; 0 of a value, be it a tensor or of a dialect's type."""
    if type_.startswith(("!", "tensor<")):
        return 0
    found = _EXTENTS.match(type_)
    if not found:
        raise Unfit(type_)
    return found[1].count("x")


class Spelling(Enum):
    """How an attribute's value stands in a format."""

    UNIT = "unit"
    PLAIN = "plain"
    TYPED = "typed"
    KEYWORD = "keyword"
    LIST = "list"
    SYMBOL = "symbol"


class Attribute(NamedTuple):
    """An attribute's value; nothing of a unit attribute.

    A number stands without its type if that is i64 or f64, and must where a colon may follow;
    integers of `array<i64: 1, 0>` stand as `[1, 0]`, strings as bare words if the format says so.
    """

    name: str
    spelling: Spelling

    def read(self, cursor: Cursor, op: OpText) -> None:
        at, value = cursor.at, None
        match self.spelling:
            case Spelling.KEYWORD:
                value = cursor.keyword()
            case Spelling.LIST:
                value = cursor.numbers()
            case Spelling.SYMBOL:
                value = cursor.symbol()
            case Spelling.PLAIN | Spelling.TYPED:
                value = cursor.attribute(typed=self.spelling is Spelling.TYPED)
        op.set_attribute(Piece(self.name, at), value)

    def write(self, op: OpText, out: Output) -> None:
        if self.name not in op.attributes:
            raise Unfit(self.name)
        op.written.add(self.name)
        value = op.attributes[self.name]
        if (value is None or value.text == "unit") != (self.spelling is Spelling.UNIT):
            raise Unfit(self.name)
        if value is not None and self.spelling is not Spelling.UNIT:
            out.text(self._written(value.text))

    def _written(self, value: str) -> str:
        match self.spelling:
            case Spelling.KEYWORD:
                bare = _BARE.fullmatch(value)
                if not bare and not value.startswith('"'):
                    raise Unfit(self.name)
                return bare[1] if bare else value
            case Spelling.LIST:
                numbers = _NUMBERS.fullmatch(value)
                if not numbers:
                    raise Unfit(self.name)
                return f"[{numbers[1] or ''}]"
            case Spelling.SYMBOL:
                bare = _SYMBOL.fullmatch(value)
                return f"@{bare[1] if bare else value}"
        default = _DEFAULT_TYPE.fullmatch(value)
        short = default[1] if default else value
        if self.spelling is Spelling.PLAIN and attribute_end(short, 0, typed=False) != len(short):
            raise Unfit(self.name)
        return short

    def begins(self, cursor: Cursor) -> bool:
        return self.spelling is Spelling.LIST and cursor.sees("[")

    def present(self, op: OpText) -> bool:
        return self.name in op.attributes


class TypeOf(NamedTuple):
    """The type of an operand or result, or of each of several between commas.

    Attributes:
        name: the operand or result.
        once: of several of one type, that type once.
    """

    name: str
    signature: Signature
    once: bool = False

    def read(self, cursor: Cursor, op: OpText) -> None:
        if self.once:
            type_ = cursor.type()
            same = Piece(" ".join(type_.text.split("\n")))
            count = len(op.operands.get(self.name, ())) if self._is_operand else 1
            op.types[self.name] = [type_, *[same] * (count - 1)][:count]
            return
        if self._is_operand:
            found: list[Piece] = []
            for number in range(len(op.operands.get(self.name, ()))):
                if number:
                    cursor.expect(",")
                found.append(cursor.type())
            op.types[self.name] = found
            return
        single = next(g.single for g in self.signature.results if g.name == self.name)
        op.types[self.name] = [cursor.type()] if single else cursor.types()

    @property
    def _is_operand(self) -> bool:
        return self.name in self.signature.operand_names

    def write(self, op: OpText, out: Output) -> None:
        types = [piece.text for piece in op.types[self.name]]
        if self.once:
            if len(set(types)) != 1:
                raise Unfit(self.name)
            types = types[:1]
        if types:
            out.text(", ".join(types))
        op.written.add(f"type {self.name}")

    def begins(self, cursor: Cursor) -> bool:  # noqa: ARG002
        return False

    def present(self, op: OpText) -> bool:
        return not is_inferred(self.signature, op, self.name)


def is_inferred(signature: Signature, op: OpText, name: str) -> bool:
    """Whether the types of `name` are those that it has where none are said."""
    types = [type_.text for type_ in op.types[name]]
    found = signature.inferred_types(op, name, len(types))
    return types == [type_.text for type_ in found or ()]


class Region(NamedTuple):
    """A region in its braces."""

    name: str
    single: bool

    def read(self, cursor: Cursor, op: OpText) -> None:
        found = op.regions.setdefault(self.name, [])
        if self.single:
            found.append(cursor.braced())
            return
        while cursor.sees("{"):
            found.append(cursor.braced())
            if not cursor.accept(","):
                break

    def write(self, op: OpText, out: Output) -> None:
        if op.regions[self.name]:
            out.text(", ".join(piece.text for piece in op.regions[self.name]))
        op.written.add(f"region {self.name}")

    def begins(self, cursor: Cursor) -> bool:
        return cursor.sees("{")

    def present(self, op: OpText) -> bool:
        return any(region.text.strip("{} \n") for region in op.regions[self.name])


class AttributeDictionary(NamedTuple):
    """`{…}` of all attributes that do not stand elsewhere.

    Attributes:
        elsewhere: names of those that do.
        keyword: whether `attributes` stands before it.
    """

    elsewhere: frozenset[str]
    keyword: bool = False

    def read(self, cursor: Cursor, op: OpText) -> None:
        if self.keyword and not cursor.accept("attributes"):
            return
        if not self.keyword and not cursor.sees("{"):
            return
        for name, value in cursor.dictionary():
            op.set_attribute(name, value)

    def write(self, op: OpText, out: Output) -> None:
        entries = [
            name if value is None else f"{name} = {value.text}"
            for name, value in op.attributes.items()
            if name not in self.elsewhere
        ]
        if not entries:
            return
        if self.keyword:
            out.literal("attributes")
        out.text(f"{{{', '.join(entries)}}}")

    def begins(self, cursor: Cursor) -> bool:
        return cursor.sees("attributes" if self.keyword else "{")

    def present(self, op: OpText) -> bool:
        return any(name not in self.elsewhere for name in op.attributes)


class PropertyDictionary(NamedTuple):
    """`<{…}>`, the properties as MLIR writes them in the generic form."""

    def read(self, cursor: Cursor, op: OpText) -> None:
        if cursor.accept("<"):
            inside = cursor.braced()
            cursor.expect(">")
            op.properties = Piece(f"<{inside.text}>", inside.at - 1)

    def write(self, op: OpText, out: Output) -> None:
        if op.properties:
            out.text(op.properties.text)
        op.written.add("properties")

    def begins(self, cursor: Cursor) -> bool:
        return cursor.sees("<")

    def present(self, op: OpText) -> bool:
        return op.properties is not None


class Optional(NamedTuple):
    """Elements that stand there together or not at all.

    Attributes:
        elements: the elements, the first of which shows whether they are there.
        anchor: that which decides whether they are written.
    """

    elements: Sequence[Element] = ()
    anchor: int = 0

    def read(self, cursor: Cursor, op: OpText) -> None:
        if self.begins(cursor):
            for element in self.elements:
                element.read(cursor, op)

    def write(self, op: OpText, out: Output) -> None:
        if self.present(op):
            for element in self.elements:
                element.write(op, out)

    def begins(self, cursor: Cursor) -> bool:
        return self.elements[0].begins(cursor)

    def present(self, op: OpText) -> bool:
        return self.elements[self.anchor].present(op)

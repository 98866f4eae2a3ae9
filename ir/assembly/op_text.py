"""An op in pieces of text, between its two forms."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from .cursor import Cursor, Piece


class Unfit(Exception):  # noqa: N818 (no error of anybody's)
    """An op that the format of its class cannot say, such as one that does not verify."""


@dataclass(slots=True)
class OpText:
    """The parts of an op.

    Attributes:
        operands: values by the name of the operand that they are, in the class's order.
        attributes: values by name, None of those without one.
        properties: `<{…}>`, if the op has any so.
        regions: with their braces, by name.
        types: of operands and results by name.
    """

    operands: dict[str, list[Piece]] = field(default_factory=dict)
    attributes: dict[str, Piece | None] = field(default_factory=dict)
    keys: dict[str, int] = field(default_factory=dict)
    """Where the attributes' names stand."""
    repeated: list[tuple[Piece, Piece | None]] = field(default_factory=list)
    """Attributes that were given a second time."""
    properties: Piece | None = None
    regions: dict[str, list[Piece]] = field(default_factory=dict)
    types: dict[str, list[Piece]] = field(default_factory=dict)
    written: set[str] = field(default_factory=set)
    """Names of attributes that stand outside the dictionary, and of what else has been written."""
    aliases: Mapping[str, str] = field(default_factory=dict)
    """Types by the aliases that stand for them."""

    def set_attribute(self, name: Piece, value: Piece | None) -> None:
        """Give the op an attribute; MLIR says what is wrong with a second of one name."""
        if name.text in self.attributes:
            self.repeated.append((name, value))
        else:
            self.attributes[name.text] = value
            self.keys[name.text] = name.at


def generic_head(name: Piece, op: OpText) -> list[Piece]:
    """The generic form up to the regions."""
    pieces = [Piece(f'"{name.text}"', name.at), Piece("(")]
    pieces += _joined([value for group in op.operands.values() for value in group])
    pieces.append(Piece(")"))
    if op.properties:
        pieces += [Piece(" "), op.properties]
    return pieces


def generic_tail(op: OpText, operands: Iterable[str], results: Iterable[str]) -> list[Piece]:
    """The generic form after the regions.

    Args:
        op: the op.
        operands: names of its operands.
        results: of its results.
    """
    pieces: list[Piece] = []
    entries = [(Piece(key, op.keys[key]), value) for key, value in op.attributes.items()]
    for number, (key, value) in enumerate((*entries, *op.repeated)):
        pieces += [Piece(", " if number else " {"), key]
        if value is not None:
            pieces += [Piece(" = "), value]
    pieces.append(Piece("} : (" if entries else " : ("))
    pieces += _joined([type_ for name in operands for type_ in op.types.get(name, ())])
    given = [type_ for name in results for type_ in op.types.get(name, ())]
    pieces.append(Piece(") -> "))
    # A function type as the only result needs the parentheses, too.
    bare = len(given) == 1 and not given[0].text.startswith("(")
    return pieces + (given if bare else [Piece("("), *_joined(given), Piece(")")])


def _joined(parts: Sequence[Piece]) -> list[Piece]:
    found: list[Piece] = []
    for number, part in enumerate(parts):
        if number:
            found.append(Piece(", "))
        found.append(part)
    return found


class Tail(NamedTuple):
    """What MLIR prints of an op after its operands, in the generic form."""

    properties: Piece | None
    regions: list[Piece]
    attributes: list[tuple[Piece, Piece | None]]
    inputs: list[Piece]
    outputs: list[Piece]
    end: int


def read_tail(text: str, at: int) -> Tail:
    """Read all after the operands of an op in the generic form.

    Raises:
        SyntaxProblem: if it is something else.
        Unfit: for what no format says, such as successors.
    """
    cursor = Cursor(text, at)
    if cursor.sees("["):
        raise Unfit("successors")
    properties = None
    if cursor.accept("<"):
        inside = cursor.braced()
        properties = Piece(f"<{inside.text}>", inside.at - 1)
        cursor.expect(">")
    regions: list[Piece] = []
    if cursor.accept("("):
        regions.append(cursor.braced())
        while cursor.accept(","):
            regions.append(cursor.braced())
        cursor.expect(")")
    attributes = cursor.dictionary() if cursor.sees("{") else []
    cursor.expect(":")
    cursor.expect("(")
    inputs = cursor.types(")")
    cursor.expect(")")
    cursor.expect("->")
    if cursor.accept("("):
        outputs = cursor.types(")")
        cursor.expect(")")
    else:
        outputs = [cursor.type()]
    return Tail(properties, regions, attributes, inputs, outputs, cursor.end)

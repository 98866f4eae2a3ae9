"""From the generic form, as MLIR prints it, to the custom one.

An op that its format cannot say, such as one that does not verify, stays generic.
"""

from __future__ import annotations

import re
from functools import lru_cache

from .cursor import Piece, SyntaxProblem
from .declaration import AssemblyFormat, OpClass, format_of
from .op_text import Tail, Unfit, read_tail
from .registry import Known, known

_OPERANDS = re.compile(r"([^()\n]*)\)")
_SLOT = re.compile("\0(\\d+)\0")
_ONE_LINE = re.compile(r"(?! \(| \[)[^\n]*")
_NAMED_OP = re.compile(r'[ \t]*(?:%[^="/\n]*= )?')


def to_custom(text: str) -> str:
    """`text`, which MLIR printed, with every op of a known class in its custom form.

    Raises:
        AssemblyFormatError: for a format that cannot be.
    """
    ops = known()
    for quoted in ops.quoted:
        if quoted.search(text):
            text = "".join(_Writer(text, ops, quoted).rewrite(0, len(text)))
    return text


class _Writer:
    """Rewrites one text."""

    def __init__(self, text: str, ops: Known, quoted: re.Pattern[str]) -> None:
        self._text = text
        self._ops = ops
        self._quoted = quoted

    def rewrite(self, start: int, end: int) -> list[str]:
        """The part of the text from `start` to `end`."""
        text, parts = self._text, list[str]()
        at = start
        while found := self._quoted.search(text, at, end):
            at = found.end()
            class_ = self._ops.classes.get(found[1])
            line = text.rfind("\n", 0, found.start()) + 1
            before = _NAMED_OP.match(text, line, found.start())
            if class_ is None or not before or before.end() != found.start():
                continue
            written = self._op(class_, found.end(), end)
            if written is None:
                continue
            parts += [text[start : found.start()], found[1], written[0]]
            start = at = written[1]
        parts.append(text[start:end])
        return parts

    def _op(self, class_: OpClass, at: int, end: int) -> tuple[str, int] | None:
        """What stands after an op's name, and where the op ends; None if it stays generic."""
        values = _OPERANDS.match(self._text, at, end)
        if not values:
            return None
        operands = values[1].split(", ") if values[1] else []
        line = _ONE_LINE.match(self._text, values.end())
        if line is None or line[0].endswith("{"):
            return self._op_with_regions(class_, operands, values.end())
        tail = line[0]
        # Locations differ from op to op, and are not the op's.
        cut = tail.rfind(" loc(") if tail.endswith(")") else -1
        format_ = format_of(class_)
        assert format_ is not None  # known by it
        if cut >= 0 and (found := _template(format_, len(operands), tail[:cut])):
            return _filled(found, operands), values.end() + cut
        found = _template(format_, len(operands), tail)
        return None if found is None else (_filled(found, operands), line.end())

    def _op_with_regions(
        self, class_: OpClass, operands: list[str], at: int
    ) -> tuple[str, int] | None:
        format_ = format_of(class_)
        assert format_ is not None  # known by it
        try:
            tail = read_tail(self._text, at)
            regions = [Piece("".join(self.rewrite(r.at, r.at + len(r.text)))) for r in tail.regions]
            tail = Tail(
                tail.properties, regions, tail.attributes, tail.inputs, tail.outputs, tail.end
            )
            pieces = _pieces(format_, len(operands), tail)
        except (SyntaxProblem, Unfit):
            return None
        return _filled(pieces, operands), tail.end


@lru_cache(maxsize=4096)
def _template(format_: AssemblyFormat, operands: int, tail: str) -> tuple[str | int, ...] | None:
    """What stands after the name of an op without regions: text, and numbers of operands.

    None if the format cannot say it. Ops of one kind have but few tails.
    """
    try:
        read = read_tail(tail, 0)
        return _pieces(format_, operands, read) if read.end == len(tail) else None
    except (SyntaxProblem, Unfit):
        return None


def _pieces(format_: AssemblyFormat, operands: int, tail: Tail) -> tuple[str | int, ...]:
    text = format_.write(format_.signature.divide(operands, tail))
    # Text and numbers take turns.
    return tuple(int(part) if number % 2 else part for number, part in enumerate(_SLOT.split(text)))


def _filled(pieces: tuple[str | int, ...], operands: list[str]) -> str:
    return "".join([operands[piece] if isinstance(piece, int) else piece for piece in pieces])

"""From the custom form to the generic one.

What is not an op with a format stays as it is. An op keeps the line and column at which its name
stands and the number of its lines, so that all that follows on other lines keeps its place, too;
of the rest the map of places tells.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Set
from typing import NamedTuple

from .cursor import Cursor, Piece, SyntaxProblem
from .declaration import AssemblyFormat, OpClass, format_of
from .op_text import OpText, generic_head, generic_tail
from .registry import Known, known
from .scan import COMMENT, STRING
from .short_forms import ShortFormError, expanded
from .source_map import SourceMap, place_in

_BEFORE_OP = re.compile(r"[ \t]*(?:%[^=\"/\n]*=[ \t]*)?")
_STRING_OR_COMMENT = re.compile(rf"{STRING}|{COMMENT}")
_ATTRIBUTE_FOLLOWS = re.compile(r"\s*(?:=(?!=)|,|\])")
_LAST_OF_LINE = re.compile(r"[ \t]*(?:loc\([^\n]*\))?[ \t]*(?:\}[ \t]*)*(?://[^\n]*)?(?:\n|\Z)")
_IN_A_LIST = (",", "(")
"""What stands before an attribute's name, and never before an op."""


class AssemblyError(Exception):
    """Text in a custom form that cannot be read.

    Attributes:
        at: line and column, counted from one.
        message: what was expected.
        op: the name of the op, if it is one.
        op_at: where its name stands.
        syntax: its format.
    """

    def __init__(self, at: tuple[int, int], message: str) -> None:
        super().__init__(message)
        self.at = at
        self.message = message
        self.op = ""
        self.op_at = at
        self.syntax = ""


class Generic(NamedTuple):
    """A text without custom forms.

    Attributes:
        text: the text.
        maps: places in it, from this text to that before, the source last; none if it is the same.
        moved: the lines, counted from one, on which ops may stand elsewhere than they did.
    """

    text: str
    maps: tuple[SourceMap, ...] = ()
    moved: Set[int] = frozenset()

    def place(self, line: int, column: int) -> tuple[int, int]:
        """Line and column in the source of those in the text, all counted from one."""
        for one in self.maps:
            line, column = one.place(line, column)
        return line, column


def to_generic(text: str) -> Generic:
    """`text` with every op of a known class in the generic form, and no short forms.

    Raises:
        AssemblyError: for an op that is not written as its format says, or a short form without
            meaning.
        AssemblyFormatError: for a format that cannot be.
    """
    generic = _without_short_forms(text)
    ops = known()
    names = list(_names(generic.text, ops))
    if not names:
        return generic
    reader = _Reader(generic.text, ops, names)
    try:
        pieces = reader.rewrite(0, len(generic.text))
    except _OpProblem as problem:
        error = AssemblyError(generic.place(*place_in(generic.text, problem.at)), str(problem))
        error.op, error.syntax = problem.name.text, problem.syntax
        error.op_at = generic.place(*place_in(generic.text, problem.name.at))
        raise error from None
    maps = (SourceMap(generic.text, pieces), *generic.maps)
    return Generic("".join([p.text for p in pieces]), maps, generic.moved | reader.moved)


def _without_short_forms(text: str) -> Generic:
    try:
        found = expanded(text)
    except ShortFormError as error:
        raise AssemblyError(place_in(text, error.at), str(error)) from None
    if found is None:
        return Generic(text)
    pieces, moved = found
    return Generic("".join([p.text for p in pieces]), (SourceMap(text, pieces),), moved)


class _OpProblem(Exception):  # noqa: N818 (becomes an `AssemblyError`)
    """What is wrong with an op, at a place in the text."""

    def __init__(self, at: int, message: str, name: Piece, syntax: str) -> None:
        super().__init__(message)
        self.at, self.name, self.syntax = at, name, syntax


def _names(text: str, ops: Known) -> Iterator[tuple[int, OpClass]]:
    """Where names of ops stand that begin an op in its custom form, and their classes."""
    if len(ops.names) == 1:
        found = ops.names[0].finditer(text)
    else:
        every = [match for pattern in ops.names for match in pattern.finditer(text)]
        found = iter(sorted(every, key=lambda match: match.start()))
    classes = ops.classes
    for match in found:
        op = classes.get(match[0])
        if op is not None and _begins_op(text, match):
            yield match.start(), op


def _begins_op(text: str, name: re.Match[str]) -> bool:
    """Whether an op begins with `name`, which is not an attribute, and in no string or comment."""
    line = text.rfind("\n", 0, name.start()) + 1
    before = _BEFORE_OP.match(text, line, name.start())
    if before and before.end() == name.start():
        return not _ATTRIBUTE_FOLLOWS.match(text, name.end())
    for other in _STRING_OR_COMMENT.finditer(text, line, text.find("\n", line) % (len(text) + 1)):
        if other.start() < name.start() < other.end():
            return False
    last = _STRING_OR_COMMENT.sub('"', text[line : name.start()]).rstrip()
    apart = text[name.start() - 1] in " \t{}"
    return apart and last[-1:] not in _IN_A_LIST and not _ATTRIBUTE_FOLLOWS.match(text, name.end())


class _Reader:
    """Rewrites one text."""

    def __init__(self, text: str, ops: Known, names: list[tuple[int, OpClass]]) -> None:
        self.text = text
        self.ops = ops
        self.names = names
        self.moved: set[int] = set()
        self.next = 0

    def rewrite(self, start: int, end: int) -> list[Piece]:
        """The part of the text from `start` to `end`."""
        text, pieces = self.text, list[Piece]()
        while self.next < len(self.names) and self.names[self.next][0] < end:
            at, op = self.names[self.next]
            self.next += 1
            if at < start:
                continue  # inside what was read as an op
            pieces.append(Piece(text[start:at], start))
            start = self._op(Piece(op.OPERATION_NAME, at), op, pieces)
        pieces.append(Piece(text[start:end], start))
        return pieces

    def _op(self, name: Piece, class_: OpClass, pieces: list[Piece]) -> int:
        """Rewrite one op into `pieces`; returns where it ends."""
        format_ = format_of(class_)
        assert format_ is not None  # known by it
        cursor = Cursor(self.text, name.at + len(name.text))
        try:
            op = format_.read(cursor)
        except SyntaxProblem as problem:
            at = min(problem.at, len(self.text))
            raise _OpProblem(at, str(problem), name, format_.text) from None
        start = len(pieces)
        pieces += generic_head(name, op)
        self._regions(op, format_, name.at, pieces, start)
        signature = format_.signature
        operands, results = (
            (group.name for group in groups) for groups in (signature.operands, signature.results)
        )
        pieces += generic_tail(op, operands, results)
        self._break_lines(pieces, start, name.at, cursor.end)
        self._note(cursor.end)
        return cursor.end

    def _regions(
        self, op: OpText, format_: AssemblyFormat, begin: int, pieces: list[Piece], start: int
    ) -> None:
        regions = [r for group in format_.signature.regions for r in op.regions.get(group.name, ())]
        for number, region in enumerate(regions):
            pieces.append(Piece(", " if number else " ("))
            self._break_lines(pieces, start, begin, region.at)
            pieces += self.rewrite(region.at, region.at + len(region.text))
            self._note(region.at + 1)
        if regions:
            pieces.append(Piece(")"))

    def _note(self, at: int) -> None:
        """Remember the line of `at` if an op may stand after it."""
        if not _LAST_OF_LINE.match(self.text, at):
            self.moved.add(self.text.count("\n", 0, at) + 1)

    def _break_lines(self, pieces: list[Piece], start: int, begin: int, end: int) -> None:
        """Let the pieces from `start` on take as many lines as the text from `begin` to `end`."""
        lines = self.text.count("\n", begin, end)
        if lines:
            missing = lines - sum(piece.text.count("\n") for piece in pieces[start:])
            if missing > 0:
                pieces.append(Piece("\n" * missing))

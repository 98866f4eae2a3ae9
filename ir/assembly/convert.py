"""Generic ops that somebody wrote, in a file with comments and line breaks, to the custom form."""

from __future__ import annotations

import re
from collections.abc import Mapping

from .cursor import Cursor, Piece, SyntaxProblem
from .declaration import OpClass, format_of
from .op_text import Tail, Unfit, read_tail
from .registry import known
from .scan import COMMENT

_WIDTH = 100
_ALIAS = re.compile(r"^[ \t]*(![\w$.-]+)[ \t]*=[ \t]*([^\n]*)", re.MULTILINE)
_SLOT = re.compile("\0(\\d+)\0")
_COMMENT = re.compile(COMMENT)


def converted(text: str, aliases: Mapping[str, str] | None = None) -> str:
    """`text` with every generic op of a known class in the custom form.

    Where a line becomes too long it is broken before the attributes, or before the types. An op
    that its format cannot say stays as it is, and so does one with a comment inside.

    Args:
        text: MLIR, or a part of it.
        aliases: types by their aliases, besides those that the text defines.
    """
    ops = known()
    types = {**(aliases or {}), **{m[1]: m[2] for m in _ALIAS.finditer(text)}}
    for quoted in ops.quoted:
        parts, start = list[str](), 0
        for found in quoted.finditer(text):
            class_ = ops.classes.get(found[1])
            if class_ is None or found.start() < start or _in_comment(text, found.start()):
                continue
            op = converted_op(class_, text, found.end() - 1, types)
            if op is None or _COMMENT.search(text[found.start() : op[1]]):
                continue
            parts += [text[start : found.start()]]
            line = "".join(parts).rpartition("\n")[2]
            parts.append(_broken(line, f"{found[1]}{op[0]}", text[op[1] :].partition("\n")[0]))
            start = op[1]
        text = "".join([*parts, text[start:]])
    return text


def _in_comment(text: str, at: int) -> bool:
    line = text.rfind("\n", 0, at) + 1
    return bool(_COMMENT.search(text[line:at]))


def converted_op(
    class_: OpClass, text: str, at: int, types: Mapping[str, str]
) -> tuple[str, int] | None:
    """What stands after the name of an op in the custom form, and where it ended; None if nothing.

    Args:
        class_: the op's class.
        text: the text that it is in.
        at: where its operands begin.
        types: by their aliases.
    """
    format_ = format_of(class_)
    assert format_ is not None  # known by it
    try:
        cursor = Cursor(text, at)
        cursor.expect("(")
        operands = cursor.values()
        cursor.expect(")")
        tail = read_tail(text, cursor.at)
        regions = [Piece(converted(region.text, types)) for region in tail.regions]
        tail = Tail(tail.properties, regions, tail.attributes, tail.inputs, tail.outputs, tail.end)
        op = format_.signature.divide(len(operands), tail)
        op.aliases = types
        written = format_.write(op)
    except (SyntaxProblem, Unfit):
        return None
    return _SLOT.sub(lambda slot: operands[int(slot[1])].text, written), tail.end


def _broken(before: str, op: str, behind: str) -> str:
    """An op on as many lines as it needs, the second deeper by four spaces."""
    if len(before) + len(op) + len(behind) <= _WIDTH or "\n" in op:
        return op
    indent = " " * (len(before) - len(before.lstrip()) + 4)
    for mark in (" : ", " {"):
        at = op.rfind(mark) if mark == " : " and "{" not in op[op.rfind(mark) :] else op.find(mark)
        if at >= 0 and len(indent) + len(op) - at <= _WIDTH and len(before) + at <= _WIDTH:
            return f"{op[:at]}\n{indent}{op[at + 1 :]}"
    return op

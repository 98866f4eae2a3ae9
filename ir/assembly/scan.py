"""Where the tokens, types and attributes of MLIR's text end."""

from __future__ import annotations

import re
import sys

STRING = r'"(?:[^"\\\n]|\\.)*"'
COMMENT = r"//[^\n]*"
VALUE = r"%[\w$.-]+(?:#\d+)?"

_SPACE = re.compile(rf"(?:\s+|{COMMENT})*")
_NESTING = re.compile(rf'{STRING}|"[^\n]*|{COMMENT}|->|[<>=]=|[<>()\[\]{{}}]')
_PLAIN_TYPE = re.compile(r"!?[A-Za-z_][\w$.]*(?:<[^<>()\[\]{}\"/-]*>)?(?![\w$.<])")
_NAMED = re.compile(r"[!#]?[A-Za-z_][\w$.]*")
_NUMBER = re.compile(r"-?\d[\w.]*(?:(?<=[eE])[+-]\d+)?")
_WORD = re.compile(r"[A-Za-z_][\w$.]*")
_QUOTED = re.compile(STRING)
_SYMBOL = re.compile(rf"@(?:[\w$.-]+|{STRING})(?:::@(?:[\w$.-]+|{STRING}))*")
_CLOSING = {"<": ">", "(": ")", "[": "]", "{": "}"}
_WITH_TYPE = ("dense", "sparse", "dense_resource", "opaque")


def skip_space(text: str, at: int, end: int = sys.maxsize) -> int:
    """The place of the next token, which is no further than `end`."""
    near = at + 1 if text.startswith(" ", at) else at  # mostly it is one space, or none
    if near <= end and "!" <= text[near : near + 1] <= "~" and text[near] != "/":
        return near
    found = _SPACE.match(text, at, end)
    return found.end() if found else at


def bracketed_end(text: str, at: int) -> int | None:
    """The place after the bracket that closes the one at `at`; None if none does."""
    expected: list[str] = []
    for found in _NESTING.finditer(text, at):
        token = found[0]
        if token in _CLOSING:
            expected.append(_CLOSING[token])
        elif token in (">", ")", "]", "}"):
            if token != expected.pop():
                return None
            if not expected:
                return found.end()
    return None


def type_end(text: str, at: int) -> int | None:
    """The place after the type at `at`; None if there is none."""
    if plain := _PLAIN_TYPE.match(text, at):
        return plain.end()
    if text.startswith("(", at):
        inputs = bracketed_end(text, at)
        arrow = inputs and skip_space(text, inputs)
        if not arrow or not text.startswith("->", arrow):
            return None
        results = skip_space(text, arrow + 2)
        return (
            bracketed_end(text, results)
            if text[results : results + 1] == "("
            else (type_end(text, results))
        )
    named = _NAMED.match(text, at)
    if not named or text[at] == "#":
        return None
    return (
        bracketed_end(text, named.end())
        if text[named.end() : named.end() + 1] == "<"
        else (named.end())
    )


def attribute_end(text: str, at: int, *, typed: bool) -> int | None:
    """The place after the attribute at `at`; None if there is none.

    Args:
        text: the text.
        at: where it begins.
        typed: whether `: type` may follow a number, a string or elements.
    """
    first = text[at : at + 1]
    if quoted := _QUOTED.match(text, at):
        return _with_type(text, quoted.end(), typed)
    if number := _NUMBER.match(text, at):
        return _with_type(text, number.end(), typed)
    if first in ("[", "{"):
        return bracketed_end(text, at)
    if symbol := _SYMBOL.match(text, at):
        return symbol.end()
    if first == "#":
        named = _NAMED.match(text, at)
        if not named:
            return None
        follows = text[named.end() : named.end() + 1]
        return bracketed_end(text, named.end()) if follows == "<" else named.end()
    return _worded_end(text, at, typed)


def _worded_end(text: str, at: int, typed: bool) -> int | None:
    """The end of an attribute that begins with a word, such as `array<…>`, or that is a type."""
    word = _WORD.match(text, at)
    end: int | None = word.end() if word else None
    if word and word[0] in ("loc", "distinct"):
        end = bracketed_end(text, word.end())
        if end is not None and word[0] == "distinct" and text[end : end + 1] == "<":
            end = bracketed_end(text, end)
        return end
    if word and word[0] in _WITH_TYPE and text[word.end() : word.end() + 1] == "<":
        end = bracketed_end(text, word.end())
        # Elements have no meaning without the type.
        return None if end is None else _with_type(text, end, typed)
    return type_end(text, at)


def _with_type(text: str, end: int, typed: bool) -> int | None:
    colon = skip_space(text, end)
    if not typed or text[colon : colon + 1] != ":" or text[colon : colon + 2] == "::":
        return end
    return type_end(text, skip_space(text, colon + 1))

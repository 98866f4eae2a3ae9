"""The text of a pass pipeline and its elements: `builtin.module(a, b{x=1}, gpu.module(c))`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from tilec.isa.errors import TilecError

from .base import Pass

MODULE = "builtin.module"
ANY = "any"
"""What a pipeline calls an op of any name."""
_DEEPEST = 32
"""Operations around a pass; upstream's parser recurses, and ends the process somewhere."""
_LONGEST = 200
"""Characters of a pipeline that a message shows."""
_CLOSING = {"(": ")", "{": "}", "[": "]", "<": ">"}


class PipelineError(TilecError):
    """A pipeline that cannot be read, or names a pass or option that does not exist."""


@dataclass(frozen=True, slots=True)
class Element:
    """One element of a pipeline: a pass, or an operation name around passes of its own.

    Attributes:
        name: the pass, or the operation on which `inside` runs.
        options: the text between braces.
        inside: the nested elements; None for a pass.
        implicit: whether it may be nested in the op that it works on, as a flag is.
    """

    name: str
    options: str = ""
    inside: tuple[Element, ...] | None = None
    implicit: bool = False

    def __str__(self) -> str:
        text = f"{self.name}{{{self.options}}}" if self.options else self.name
        return text if self.inside is None else f"{text}({join(self.inside)})"

    def single(self) -> Iterator[Element]:
        """The same as elements of one pass each, every one inside its own nest."""
        if self.inside is None:
            yield self
            return
        for element in self.inside:
            for one in element.single():
                yield Element(self.name, self.options, (one,))

    @property
    def innermost(self) -> Element:
        """The pass itself, of an element that holds only one."""
        return self if not self.inside else self.inside[0].innermost


def join(elements: Sequence[Element]) -> str:
    """The elements as a pipeline writes them."""
    return ",".join(map(str, elements))


def _end(text: str, start: int) -> int:
    """Index just after the bracket that closes the one at `start`, quotes skipped."""
    expected: list[str] = []
    quote = ""
    for i in range(start, len(text)):
        c = text[i]
        if quote:
            quote = "" if c == quote else quote
        elif c in "\"'":
            quote = c
        elif c in _CLOSING:
            expected.append(_CLOSING[c])
        elif expected and c == expected[-1]:
            expected.pop()
            if not expected:
                return i + 1
    raise PipelineError(f"pipeline: '{text[start]}' is never closed in '{_shown(text)}'")


def _shown(text: str) -> str:
    """A text in a message, of what is too long the beginning."""
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def _elements(text: str, depth: int = 0) -> tuple[Element, ...]:
    if depth > _DEEPEST:
        raise PipelineError(f"pipeline: passes nest more than {_DEEPEST} deep")
    found: list[Element] = []
    at = 0
    while True:
        start = at
        while at < len(text) and text[at] not in "({,)}":
            at += 1
        name = text[start:at].strip()
        if not name or " " in name:
            raise PipelineError(
                f"pipeline: expected a pass name at '{_shown(text[start:] or text)}'"
            )
        options, inside = "", None
        if text.startswith("{", at):
            end = _end(text, at)
            options, at = text[at + 1 : end - 1], end
        while at < len(text) and text[at].isspace():
            at += 1
        if text.startswith("(", at):
            end = _end(text, at)
            body = text[at + 1 : end - 1]
            inside, at = (_elements(body, depth + 1) if body.strip() else ()), end
        found.append(Element(name, options, inside))
        while at < len(text) and text[at].isspace():
            at += 1
        if at == len(text):
            return tuple(found)
        if text[at] != ",":
            raise PipelineError(f"pipeline: expected ',' at '{_shown(text[at:])}'")
        at += 1


@lru_cache(maxsize=128)
def parse_pipeline(text: str, anchor: str = MODULE) -> tuple[Element, ...]:
    """The elements that run on the module, in order.

    Args:
        text: a pipeline, with or without `builtin.module(…)` around it; empty for no pass.
        anchor: the name of the op, if it is not a module.

    Raises:
        PipelineError: if it is not of that form.
    """
    if not text.strip():
        return ()
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise PipelineError(f"pipeline: character {error.start} is half of one") from None
    elements = _elements(text)
    if len(elements) == 1 and elements[0].name in (anchor, ANY):
        inside = elements[0].inside
        return elements if inside is None else inside
    return elements


PipelinePart = str | Pass | Element
"""What a pipeline is put together of: text, a pass, or an element of a text."""


def elements_of(
    pipeline: PipelinePart | Sequence[PipelinePart], anchor: str = MODULE
) -> list[Element | Pass]:
    """The elements of a pipeline, of a pass, or of a sequence of both, which run on `anchor`.

    Raises:
        PipelineError: for a text that is not a pipeline, and what is neither text nor a pass.
    """
    parts = [pipeline] if isinstance(pipeline, str | Pass | Element) else pipeline
    found: list[Element | Pass] = []
    for part in parts:
        if isinstance(part, Pass | Element):
            found.append(part)
        elif isinstance(part, str):
            found += parse_pipeline(part, anchor)
        else:
            raise PipelineError(
                f"pipeline: {part!r} is neither text nor a pass such as CheckTarget()"
            )
    return found


def parse_options(text: str) -> dict[str, str]:
    """The options `a=1 b={x y} c` as a mapping; an option without a value is `true`.

    Raises:
        PipelineError: if an option is given twice.
    """
    options: dict[str, str] = {}
    at = 0
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        start = at
        while at < len(text) and not text[at].isspace():
            at = _end(text, at) if text[at] in "{([<" else at + 1
        name, equals, value = text[start:at].partition("=")
        if name in options:
            raise PipelineError(f"pipeline: option '{name}' is given twice in '{_shown(text)}'")
        if value[:1] in ("{", '"', "'"):
            value = value[1:-1]
        options[name] = value if equals else "true"
    return options

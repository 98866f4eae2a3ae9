"""`--verify-diagnostics`: what a test file expects against what was reported.

The file says it in comments, as upstream's does: `// expected-error @below {{message}}`, with
`error`, `warning`, `remark` or `note`; `-re` after it for a message with regular expressions
in `{{…}}`; `@above`, `@below`, `@+N`, `@-N` or nothing for the line, `@unknown` for no place.
The message need only be part of the one reported, which may be reported several times.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tilec.isa import TilecError
from tilec.passes.base import Diagnostic
from tilec.report.diagnostics import SOURCE, Source, place

_EXPECTED = re.compile(
    r"expected-(?P<severity>error|warning|remark|note)(?P<regex>-re)?\s*"
    r"(?P<where>@\S+)?\s*\{\{(?P<message>.*?)\}\}\s*$"
)


@dataclass(frozen=True, slots=True)
class Expected:
    """One expectation.

    Attributes:
        line: line of the diagnostic; None for one without a place.
        severity: `error`, `warning`, `remark` or `note`.
        message: part of its message, or a pattern.
        written: line of the comment.
    """

    line: int | None
    severity: str
    message: re.Pattern[str]
    text: str
    written: int

    def fits(self, diagnostic: Diagnostic) -> bool:
        """Whether `diagnostic` is the one expected."""
        return (
            diagnostic.severity == self.severity
            and _line(diagnostic) == self.line
            and self.message.search(diagnostic.message) is not None
        )


def _line(diagnostic: Diagnostic) -> int | None:
    at = place(diagnostic.location)
    return at.line if at and at.file == SOURCE and at.line else None


def expectations(source: Source) -> list[Expected]:
    """What the comments of `source` expect.

    Raises:
        TilecError: for a designator that is none of the legal ones.
    """
    lines = source.text.split("\n")
    # Comments with nothing else on the line are skipped by @above and @below.
    only_expects = [bool(re.match(r"\s*//", t) and _EXPECTED.search(t)) for t in lines]
    return [
        _expected(match, number, only_expects, source)
        for number, text in enumerate(lines, start=1)
        if (match := _EXPECTED.search(text))
    ]


def _expected(
    match: re.Match[str], written: int, only_expects: list[bool], source: Source
) -> Expected:
    line: int | None = written
    match match["where"]:
        case None:
            pass
        case "@unknown":
            line = None
        case "@above" | "@below" as word:
            step = 1 if word == "@below" else -1
            line = written + step
            while 1 <= line <= len(only_expects) and only_expects[line - 1]:
                line += step
        case offset if re.fullmatch(r"@[+-]\d+", offset):
            line = written + int(offset[1:])
        case other:
            raise TilecError(
                f"{source.name}:{written}: '{other}' is not one of @above, @below, @+N, @-N, "
                "@unknown"
            )
    text = match["message"]
    here = f"{source.name}:{written}"
    pattern = _pattern(text, here) if match["regex"] else re.escape(text)
    return Expected(line, match["severity"], re.compile(pattern), text, written)


def _pattern(text: str, place: str) -> str:
    """The regular expression that a message with parts in `{{…}}` is.

    Raises:
        TilecError: if a part has no end, or is none.
    """
    parts = re.split(r"\{\{(.*?)\}\}", text)
    for i, part in enumerate(parts):
        if i % 2:
            try:
                re.compile(part)
            except re.error as error:
                raise TilecError(f"{place}: invalid regex: {error}") from None
        elif "{{" in part:
            raise TilecError(f"{place}: found start of regex with no end '}}}}'")
    return "".join(p if i % 2 else re.escape(p) for i, p in enumerate(parts))


def mismatches(
    reported: Iterable[Diagnostic], source: Source, *, only_expected: bool = False
) -> Iterator[str]:
    """What was reported and not expected, and what was expected and not reported.

    Args:
        reported: the diagnostics.
        source: the text with the expectations.
        only_expected: let more be reported than is expected.

    Raises:
        TilecError: for an expectation that cannot be read.
    """
    expected = expectations(source)
    missing = list(expected)
    for diagnostic in _flat(reported):
        if found := next((e for e in missing if e.fits(diagnostic)), None):
            missing.remove(found)
        elif not only_expected and not any(e.fits(diagnostic) for e in expected):
            line = _line(diagnostic)
            where = f"{source.name}:{line}" if line else source.name
            yield f"{where}: error: unexpected {diagnostic.severity}: {diagnostic.message}"
    for one in missing:
        yield (
            f'{source.name}:{one.written}: error: expected {one.severity} "{one.text}" '
            "was not produced"
        )


def _flat(diagnostics: Iterable[Diagnostic]) -> Iterator[Diagnostic]:
    for diagnostic in diagnostics:
        yield diagnostic
        yield from _flat(diagnostic.notes)

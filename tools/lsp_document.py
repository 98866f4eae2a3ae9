"""A tile program in an editor: what is wrong, what stands at a place, where it is defined."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from tilec.dialects.semantics import UNKNOWN, Semantics
from tilec.dialects.tile.tiles import TileValue, bits_of, tile_value
from tilec.frontend.contexts import new_context
from tilec.frontend.parsing import parse
from tilec.ir.aliases import Type
from tilec.ir.assembly.registry import known
from tilec.ir.mlir import ir
from tilec.ir.modules import clone_module
from tilec.isa import LANES, TilecError
from tilec.layout.drawing import register_of
from tilec.passes.base import Diagnostic, ProgramError, walk
from tilec.passes.functions import gpu_modules, target_of
from tilec.passes.pipeline import run_pipeline
from tilec.report.diagnostics import Source, place

_WORD = re.compile(r"[%#!@][\w.$-]+(?:#\d+)?|[A-Za-z_][\w.$]*")
_NEAREST = re.compile(r"unknown [\w -]+ '([^']+)'.*?; (?:nearest )?legal: ([\w.:]+)")
_NO_OP = re.compile(r"unknown op(?:eration)? '([^']+)'.*?'?(tile\.\w+)'?")
_ROWS, _COLUMNS = 16, 16


class Span(NamedTuple):
    """A place in the text, lines and columns counted from 0.

    Attributes:
        line: the line.
        start, end: columns.
    """

    line: int
    start: int
    end: int


class Problem(NamedTuple):
    """What is wrong at a place.

    Attributes:
        span: the place.
        message: what, and what would be legal.
        severity: `error`, `warning` or `remark`.
        notes: what belongs to it.
    """

    span: Span
    message: str
    severity: str
    notes: tuple[tuple[Span, str], ...] = ()


@dataclass
class Document:
    """A program's text, and what is known of it.

    Attributes:
        text: as it is now.
        problems: what is wrong with it.
        module: the last text that could be parsed, as a module.
    """

    text: str = ""
    problems: list[Problem] = field(default_factory=list)
    module: ir.Module | None = None
    _context: ir.Context = field(default_factory=new_context)

    def change(self, text: str) -> None:
        """Take another text, and look for what is wrong."""
        self.text = text
        source = Source("-", text)
        found: Sequence[Diagnostic] = ()
        try:
            module = parse(source, self._context)
            self.module = module
            self._check(clone_module(module))
        except ProgramError as error:
            found = error.diagnostics
        except TilecError as error:
            found = [Diagnostic(None, str(error))]
        self.problems = [self._problem(one) for one in found]

    def _check(self, module: ir.Module) -> None:
        """Run the passes that check a program as it was written."""
        with self._context:
            known_targets = [target_of(one) is not None for one in gpu_modules(module)]
        passes = ["tile-check-program"]
        if known_targets and all(known_targets):
            passes.append("tile-check-target")
        run_pipeline(module, passes)

    def _problem(self, found: Diagnostic) -> Problem:
        notes = tuple((self._span(note), note.message) for note in found.notes)
        return Problem(self._span(found), found.message, found.severity, notes)

    def _span(self, found: Diagnostic) -> Span:
        """The word at a diagnostic's place."""
        with self._context:
            at = place(found.location)
        if at is None or at.line == 0:
            return Span(0, 0, 1)
        line, column = at.line - 1, at.column - 1
        word = self.word(line, column)
        return word[1] if word else Span(line, column, column + 1)

    def lines(self) -> list[str]:
        """The lines of the text."""
        return self.text.split("\n")

    def word(self, line: int, column: int) -> tuple[str, Span] | None:
        """What stands at a place; None if nothing does."""
        lines = self.lines()
        if not 0 <= line < len(lines):
            return None
        for found in _WORD.finditer(lines[line]):
            if found.start() <= column <= found.end():
                return found.group(), Span(line, found.start(), found.end())
        return None

    def definition(self, line: int, column: int) -> Span | None:
        """Where the value, alias or symbol at a place is defined; None if that is not known."""
        found = self.word(line, column)
        if found is None:
            return None
        word = found[0].partition("#")[0] if found[0][0] == "%" else found[0]
        places = list(self._definitions(word))
        before = [one for one in places if (one.line, one.start) <= (line, column)]
        return before[-1] if before else (places[0] if places else None)

    def _definitions(self, word: str) -> Iterator[Span]:
        name = re.escape(word)
        match word[0]:
            case "%":
                # A result, one of several, or an argument.
                pattern = rf"{name}(?![\w.$-])(?=(?::\d+)?(?:\s*,\s*%[\w.:$-]+)*\s*=(?!=)|\s*:\s*)"
            case "#" | "!":
                pattern = rf"^\s*({name})(?=\s*=)"
            case "@":
                pattern = rf"(?:module|func|global|function)\s[^@]*({name})\b"
            case _:
                return
        for number, line in enumerate(self.lines()):
            for found in re.finditer(pattern, line.partition("//")[0]):
                group = 1 if found.re.groups else 0
                yield Span(number, found.start(group), found.end(group))

    def hover(self, line: int, column: int) -> str | None:
        """Markdown about what stands at a place; None if there is nothing to say."""
        found = self.word(line, column)
        if found is None:
            return None
        word = found[0]
        if word[0] == "%":
            return self._about_value(word, line, column)
        if word[0] in "#!":
            span = self.definition(line, column)
            return None if span is None else f"```mlir\n{self.lines()[span.line].strip()}\n```"
        return about_op(word)

    def _about_value(self, word: str, line: int, column: int) -> str | None:
        """The type of a value, its layout, and what its op does."""
        span = self.definition(line, column)
        if span is None or self.module is None:
            return None
        op = self._op_at(span.line)
        if op is None:
            return None
        number = int(word.partition("#")[2] or 0)
        if number >= len(op.results):
            return None
        type_ = op.results[number].type
        about = about_op(op.operation.name)
        return "\n\n".join(filter(None, (f"```mlir\n{type_}\n```", picture(type_), about)))

    def _op_at(self, line: int) -> Any | None:
        """The op that begins on a line."""
        assert self.module is not None
        with self._context:
            for op in walk(self.module.operation):
                at = place(op.location)
                if at is not None and at.line == line + 1 and len(op.results):
                    return op
        return None

    def fixes(self, problem: Problem) -> Iterator[tuple[str, Span, str]]:
        """Changes that mend a problem: a title, what is replaced, and by what."""
        found = _NEAREST.search(problem.message) or _NO_OP.search(problem.message)
        if found is None:
            return
        wrong, right = found.groups()
        for number in range(problem.span.line, min(problem.span.line + 4, len(self.lines()))):
            at = self.lines()[number].find(wrong)
            if at >= 0:
                span = Span(number, at, at + len(wrong))
                yield f"Write {right} instead of {wrong}", span, right
                return


def about_op(name: str) -> str | None:
    """Markdown about an op of a dialect in Python: how it is written, what it does and touches."""
    found = known().classes.get(name)
    if found is None:
        return None
    semantics = getattr(found, "SEMANTICS", UNKNOWN)
    written = f"```text\n{name} {getattr(found, 'assembly_format', '')}\n```"
    text = "\n".join(line.strip() for line in (found.__doc__ or "").strip().split("\n"))
    return "\n\n".join((f"**{name}**", written, text, effects(semantics)))


def effects(semantics: Semantics) -> str:
    """In words what an op reads, writes and orders, and who executes it."""
    if semantics.effects is None:
        return "Effects: unknown."
    scope = semantics.scope if not callable(semantics.scope) else "as that of its operands"
    touches = [
        f"{one.access.name.lower()}s "
        + (f"operand {one.operand}" if one.operand is not None else str(one.resource))
        + (" asynchronously" if one.asynchronous else "")
        for one in semantics.effects
    ]
    who = getattr(scope, "name", str(scope)).lower()
    return f"Effects: {', '.join(touches) or 'none'}. Executed by: {who}."


def picture(type_: Type) -> str | None:
    """Who holds what of a tile with a layout: lane and register of its first elements."""
    try:
        tile = tile_value(type_)
    except TilecError:
        return None
    if not isinstance(tile, TileValue) or len(tile.shape) != 2:
        return None
    layout = tile.layout
    given: dict[str, Any] = {
        "register": np.arange(layout.in_size("register"))[:, None],
        "lane": np.arange(LANES),
    }
    if "warp" in layout.in_sizes:
        given["warp"] = 0
    rows, columns = (np.broadcast_arrays(*layout(**given), given["lane"]))[:2]
    bits = bits_of(tile.element)
    cells: dict[tuple[int, int], str] = {}
    for register in range(rows.shape[0]):
        for lane in range(LANES):
            at = int(rows[register, lane]), int(columns[register, lane])
            cells.setdefault(at, f"{lane}:{register_of(register, bits)[0]}")
    shown = [
        [cells.get((row, column), "") for column in range(min(_COLUMNS, tile.shape[1]))]
        for row in range(min(_ROWS, tile.shape[0]))
    ]
    table = "\n".join(" ".join(f"{cell:>6}" for cell in row) for row in shown)
    return f"lane:register of the first warp\n\n```text\n{table}\n```"

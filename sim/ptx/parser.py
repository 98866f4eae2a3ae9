"""The reader: a PTX text to a `Module`. PTX ISA, "Syntax" and "Directives"."""

from __future__ import annotations

import re
from functools import lru_cache
from os import PathLike
from typing import TYPE_CHECKING

from ..errors import LaunchError
from .constants import integer
from .cursor import Cursor
from .declarations import parameters, registers, variables
from .module import Function, Instruction, Module, Scope, Variable
from .operands import OperandReader
from .source import Source

if TYPE_CHECKING:
    from pathlib import Path

_DIRECTIVE = re.compile(r"\.([A-Za-z_]\w*)")
_VERSION = re.compile(r"\d+\.\d+")
_TARGETS = re.compile(r"[\w.]+(?:\s*,\s*[\w.]+)*")
_STRING = re.compile(r'"((?:\\.|[^"\\\n])*)"')
_LOC = re.compile(
    r"(\d{1,18})\s+(\d{1,18})\s+\d+"
    r"(?:\s*,\s*function_name\s+[\w$%]+(?:\s*\+\s*\d+)?)?"
    r"(?:\s*,\s*inlined_at\s+\d+\s+\d+\s+\d+)?"
)
_SECTION_NAME = re.compile(r"\.?[\w.]+")
_BRACE = re.compile(r"[^{}]*([{}])")
_STATEMENT = re.compile(r"\s*(?:@(!)?\s*([%\w$]+)\s+)?([a-z]\w*)((?:\.[\w:]+)*)(?=[\s;])")
_LABEL = re.compile(r"\s*([A-Za-z][\w$]*|[_$%][\w$]+)\s*:(?!:)")
_DWARF = re.compile(r"@@DWARF[^\n]*")
_MAX_SCOPES = 100

LINKAGE = ("visible", "extern", "weak", "common", "noinline")
SPACES = ("global", "const", "shared", "local", "param")
"""State spaces of variables."""


class _Reader:
    def __init__(self, source: Source) -> None:
        self.cursor = Cursor(source)
        self.module = Module(source)
        self.operands = OperandReader()
        self.location: tuple[int, int] | None = None

    # Module scope

    def module_scope(self) -> Module:
        cursor = self.cursor
        while cursor.peek():
            if cursor.match(_DWARF):
                continue
            start = cursor.at
            word = cursor.need(_DIRECTIVE, "a directive")[1]
            self.module_directive(word, start)
        if not self.module.version:
            cursor.source.fail("the text has no .version directive", 0)
        return self.module

    def module_directive(self, word: str, start: int) -> None:
        cursor, module = self.cursor, self.module
        if word == "version":
            module.version = cursor.need(_VERSION, "a version such as 8.0")[0]
        elif word == "target":
            module.target = cursor.need(_TARGETS, "a target").group().partition(",")[0].strip()
        elif word == "address_size":
            if integer(cursor, "address size", 65) != 64:
                cursor.source.fail("only .address_size 64 is supported", start)
        elif word in LINKAGE or word == "attribute":
            if word == "attribute":
                cursor.need(re.compile(r"\([^()]*\)"), "attributes in parentheses")
        elif word == "entry":
            self.function(start, entry=True)
        elif word == "func":
            self.function(start, entry=False)
        elif word in SPACES:
            for variable in variables(cursor, word):
                module.variables[variable.name] = variable
        elif word == "alias":
            name = cursor.identifier("the alias")
            cursor.expect(",", "the alias")
            module.aliases[name] = cursor.identifier("the aliasee")
            cursor.expect(";", "the aliasee")
        elif word in ("callprototype", "tex", "sampler", "surf"):
            cursor.source.fail(f"'.{word}' is not allowed at module scope", start)
        else:
            self.common_directive(word, start)

    def common_directive(self, word: str, start: int) -> None:
        """Directives that stand at module scope and in functions."""
        cursor = self.cursor
        if word == "loc":
            match = cursor.need(_LOC, "file, line and column")
            self.location = (int(match[1]), int(match[2]))
        elif word == "file":
            index = integer(cursor, "file index")
            self.module.files[index] = cursor.need(_STRING, "a file name in quotes")[1]
            while cursor.accept(","):
                integer(cursor, "time stamp or size", 1 << 64)
        elif word == "pragma":
            cursor.need(_STRING, "a pragma in quotes")
            while cursor.accept(","):
                cursor.need(_STRING, "a pragma in quotes")
            cursor.expect(";", "a pragma")
        elif word == "section":
            cursor.need(_SECTION_NAME, "a section's name")
            cursor.expect("{", "a section's name")
            depth = 1
            while depth:
                depth += 1 if cursor.need(_BRACE, "the section's closing '}'")[1] == "{" else -1
        else:
            cursor.source.fail(f"unknown directive '.{word}'", start)

    # Functions

    def function(self, start: int, *, entry: bool) -> None:
        cursor = self.cursor
        returns: tuple[Variable, ...] = ()
        while match := cursor.match(_DIRECTIVE):
            if match[1] == "attribute":
                cursor.need(re.compile(r"\([^()]*\)"), "attributes in parentheses")
            elif match[1] not in LINKAGE:
                cursor.source.fail(f"'.{match[1]}' before a function's name", match.start())
        if not entry and cursor.accept("("):
            returns = parameters(cursor)
        name = cursor.identifier("the function's name")
        arguments = parameters(cursor) if cursor.accept("(") else ()
        function = Function(name, entry, returns, arguments, None, Scope(), {}, start)
        self.performance(function)
        if not cursor.accept(";"):
            cursor.expect("{", "the function's header")
            function.body = []
            self.location = None
            self.body(function)
        known = self.module.functions.get(name)
        if known is not None and known.body is not None:
            if function.body is not None:
                cursor.source.fail(f"'{name}' is defined twice", start)
            return
        self.module.functions[name] = function

    def performance(self, function: Function) -> None:
        """The directives between a function's header and its body."""
        cursor = self.cursor
        while match := cursor.match(_DIRECTIVE):
            word = match[1]
            if word == "pragma":
                self.common_directive(word, match.start())
                continue
            if word == "attribute":
                cursor.need(re.compile(r"\([^()]*\)"), "attributes in parentheses")
                continue
            numbers: list[int] = []
            if cursor.peek().isdecimal():
                numbers.append(integer(cursor, f"number of .{word}"))
                while cursor.accept(","):
                    numbers.append(integer(cursor, f"number of .{word}"))
            function.directives[word] = tuple(numbers)

    def body(self, function: Function) -> None:
        cursor = self.cursor
        text = cursor.text
        body = function.body
        assert body is not None
        scope = function.scope
        depth = 1
        while True:
            match = _STATEMENT.match(text, cursor.at)
            if match and not (label := _LABEL.match(text, cursor.at)):
                negated, guard, opcode, tail = match.groups()
                cursor.at = match.end()
                body.append(
                    Instruction(
                        opcode,
                        tuple(tail.split(".")[1:]) if tail else (),
                        self.operands.read(cursor),
                        guard,
                        negated is not None,
                        match.start(2 if guard else 3),
                        scope,
                        self.location,
                    )
                )
                continue
            if label := _LABEL.match(text, cursor.at):
                cursor.at = label.end()
                self.label(function, scope, label)
                continue
            mark = cursor.peek()
            if mark == "}":
                cursor.at += 1
                depth -= 1
                if depth == 0:
                    return
                assert scope.parent is not None
                scope = scope.parent
            elif mark == "{":
                cursor.at += 1
                depth += 1
                if depth > _MAX_SCOPES:
                    cursor.fail("braces nested too deeply")
                scope = Scope(scope)
            elif mark == ".":
                start = cursor.at
                self.body_directive(cursor.need(_DIRECTIVE, "a directive")[1], start, scope)
            elif mark == ";":
                cursor.at += 1
            elif not mark:
                cursor.source.fail(f"the body of '{function.name}' is not closed", cursor.at)
            else:
                cursor.fail("expected an instruction, a label or a directive")

    def label(self, function: Function, scope: Scope, match: re.Match[str]) -> None:
        cursor = self.cursor
        name = match[1]
        if directive := cursor.match(re.compile(r"\.(branchtargets|calltargets|callprototype)\b")):
            if directive[1] == "callprototype":
                self.prototype()
                return
            names = [cursor.identifier("a label")]
            while cursor.accept(","):
                names.append(cursor.identifier("a label"))
            cursor.expect(";", "a list of labels")
            scope.lists[name] = tuple(names)
            return
        if name in scope.labels:
            cursor.source.fail(f"label '{name}' is defined twice", match.start(1))
        assert function.body is not None
        scope.labels[name] = len(function.body)

    def prototype(self) -> None:
        cursor = self.cursor
        if cursor.accept("("):
            parameters(cursor)
        cursor.identifier("'_'") if not cursor.accept("_") else None
        if cursor.accept("("):
            parameters(cursor)
        while cursor.match(_DIRECTIVE):
            if cursor.peek().isdecimal():
                integer(cursor, "a number")
        cursor.expect(";", "a prototype")

    def body_directive(self, word: str, start: int, scope: Scope) -> None:
        cursor = self.cursor
        if word == "reg":
            registers(cursor, scope)
        elif word in SPACES:
            for variable in variables(cursor, word):
                if variable.name in scope.variables:
                    cursor.source.fail(f"'{variable.name}' is declared twice", start)
                scope.variables[variable.name] = variable
        elif word in LINKAGE:
            space = cursor.need(_DIRECTIVE, "a state space")[1]
            if space not in SPACES:
                cursor.source.fail(f"'.{space}' is not a state space", start)
            self.body_directive(space, start, scope)
        else:
            self.common_directive(word, start)


def read(ptx: str | Path, name: str = "", *, anew: bool = True) -> Module:
    """Read a PTX text.

    Args:
        ptx: the text, or a path; a string without a line break is a path.
        name: how errors call the text; by default its path, or `<ptx>`.
        anew: whether to make a module of one's own; otherwise the same text gives the same one,
            which nobody may change and whose analyses are shared.

    Raises:
        PtxError: located at whatever is not PTX.
        LaunchError: if the path cannot be read.
    """
    parse = read_text if anew else read_once
    if isinstance(ptx, PathLike) or "\n" not in ptx:
        from pathlib import Path  # noqa: PLC0415 (it takes 5 ms)

        path = Path(ptx)
        try:
            text = path.read_text(encoding="utf-8", errors="replace")
        except (OSError, ValueError) as error:  # ValueError: of a NUL in the path
            reason = getattr(error, "strerror", None) or error
            raise LaunchError(f"cannot read PTX from {str(path)[:200]!r}: {reason}") from None
        return parse(text, name or str(path))
    return parse(ptx, name or "<ptx>")


@lru_cache(maxsize=32)
def read_once(text: str, name: str) -> Module:
    """As `read_text`, but the same module for the same text, which nobody may change."""
    return read_text(text, name)


def read_text(text: str, name: str = "<ptx>") -> Module:
    """Read a PTX text that is given whole.

    Raises:
        PtxError: located at whatever is not PTX.
    """
    return _Reader(Source(text.replace("\0", ""), name)).module_scope()

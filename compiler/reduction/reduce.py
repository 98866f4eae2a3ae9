"""The reduction: smaller programs are tried as long as one of them is interesting."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tilec.frontend.contexts import new_context
from tilec.frontend.parsing import parse
from tilec.ir.mlir import ir
from tilec.ir.modules import clone_module
from tilec.isa import TilecError
from tilec.isa.wording import counted
from tilec.passes.base import ProgramError
from tilec.passes.pipeline import run_pipeline
from tilec.report.diagnostics import Source
from tilec.report.printing import to_text

from . import edits
from .edits import Edit
from .extents import smaller
from .interest import Interest

_BLOCK = 8
"""Lines of a block, which go together or not at all."""

Told = Callable[[str], None]
"""Is told how far it is."""


class Reduction:
    """A program that gets smaller.

    Attributes:
        text: what is made smaller, which is interesting.
        smallest: the smallest so far that is; edits may come back to what they had before.
        tried: programs that were asked about.
    """

    def __init__(self, text: str, interest: Interest, tell: Told) -> None:
        self.text, self.smallest, self.tried = text, text, 0
        self._interest, self._tell = interest, tell
        self._context = new_context()
        self._seen: set[str] = set()
        self._module = self._read(text)

    def run(self) -> None:
        """Try everything until nothing helps."""
        while self._module is None:
            before = self.text
            self._drop_lines()
            if len(self.text) >= len(before):
                return
        while True:
            before = self.text
            self._drop_ops()
            self._shrink()  # before the attributes go that tiles without layouts need
            for edit in (edits.opened, edits.without_argument, edits.without_attribute):
                self._each(edit)
            self._shrink()
            self._each(edits.zero_operand)
            self._clean()
            self._each(edits.earlier_operand)
            self._drop_ops()
            if len(self.text) >= len(before):
                return

    def _read(self, text: str) -> ir.Module | None:
        """The module of a text; None if it is none."""
        try:
            return parse(Source("-", text), self._context)
        except TilecError:
            return None

    def _accepts(self, text: str) -> bool:
        """Whether a program is new, legal and interesting; it is then what is made smaller."""
        if text in self._seen:
            return False
        self._seen.add(text)
        module = self._read(text)
        if module is None and self._module is not None:
            return False
        self.tried += 1
        if not self._interest(text):
            return False
        self.text, self._module = text, module
        self.smallest = min(self.smallest, text, key=_size)
        self._tell(f"{counted(text.count(chr(10)), 'line')} after {counted(self.tried, 'program')}")
        return True

    def _try(self, edit: Edit) -> bool:
        """Whether an edit gives an interesting program."""
        if self._module is None:
            return False
        copy = clone_module(self._module)
        try:
            if not edit(copy) or not copy.operation.verify():
                return False
        except (ir.MLIRError, TilecError, ValueError, IndexError):
            return False
        return self._accepts(_bare(to_text(copy)))

    def _drop_ops(self) -> None:
        """Take out halves of the ops, then quarters, and so on to each by itself (ddmin)."""
        if self._module is None:
            return
        size = len(edits.ops_of(self._module))
        chunk = max(1, size // 2)
        while True:
            at = 0
            while at < size:
                numbers = range(at, min(at + chunk, size))
                if self._try(lambda m, these=numbers: edits.without_ops(m, these)):  # type: ignore[misc]
                    size = len(edits.ops_of(self._module))
                else:
                    at += chunk
            if chunk == 1:
                return
            chunk //= 2

    def _drop_lines(self) -> None:
        """Take lines out of a program that no verifier lets through: many, then fewer, then one."""
        many = self.text.count("\n") // 2
        while many and self._module is None:
            lines, at = self.text.split("\n"), 0
            while at < len(lines) and self._module is None:
                if self._accepts("\n".join([*lines[:at], *lines[at + many :]])):
                    lines = self.text.split("\n")
                else:
                    at += 1 if many <= _BLOCK else many
            many = many - 1 if many <= _BLOCK else many // 2

    def _each(self, edit: Callable[[ir.Module, int], bool]) -> None:
        """Make an edit at each place where it can be made."""
        if self._module is None:
            return
        number = 0
        # Each place once, however many places an edit makes.
        for _ in range(2 * _most(self._module)):
            if not self._try(lambda m, at=number: edit(m, at)):  # type: ignore[misc]
                number += 1
            if number >= _most(self._module):
                return

    def _shrink(self) -> None:
        """Halve extents, and take layouts off."""

        def accepted(text: str) -> bool:
            # As it is printed: without aliases that nothing uses any more.
            module = self._read(text)
            return module is not None and self._accepts(_bare(to_text(module)))

        def candidates() -> Iterator[str]:
            yield from smaller(self.text)

        while any(accepted(text) for text in candidates()):
            pass

    def _clean(self) -> None:
        """Let upstream's clean-up have its way."""

        def clean(module: ir.Module) -> bool:
            before = to_text(module)
            try:
                run_pipeline(module, "canonicalize,cse")
            except ProgramError:
                return False
            return len(to_text(module)) < len(before)

        self._try(clean)


def _size(text: str) -> tuple[int, int]:
    """Lines, then characters."""
    return text.count("\n"), len(text)


def _bare(text: str) -> str:
    """A program without the module around it, which reading puts there again."""
    lines = text.rstrip("\n").split("\n")
    if "module {" not in lines or lines[-1] != "}":
        return text
    at = lines.index("module {")
    inside = [line.removeprefix("  ") for line in lines[at + 1 : -1]]
    return "\n".join([*lines[:at], *inside, ""])


def _most(module: ir.Module) -> int:
    """A bound of the places where an edit can be made."""
    return 4 * len(edits.ops_of(module)) + 16


def reduce_text(text: str, interest: Interest, tell: Told = lambda _: None) -> str:
    """The smallest program found that is still interesting.

    Args:
        text: a program, in the assembly format or the generic form.
        interest: whether a program is.
        tell: is told how far it is.

    Raises:
        TilecError: if the program itself is not interesting.
    """
    if not interest(text):
        raise TilecError("the program does not show what the reduction should keep")
    reduction = Reduction(text, interest, tell)
    reduction.run()
    return reduction.smallest

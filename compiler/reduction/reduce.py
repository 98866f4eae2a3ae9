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

Told = Callable[[str], None]
"""Is told how far it is."""


class Reduction:
    """A program that gets smaller.

    Attributes:
        text: the smallest so far that is interesting.
        tried: programs that were asked about.
    """

    def __init__(self, text: str, interest: Interest, tell: Told) -> None:
        self.text, self.tried = text, 0
        self._interest, self._tell = interest, tell
        self._context = new_context()
        self._seen: set[str] = set()
        self._module = self._read(text)

    def run(self) -> None:
        """Try everything until nothing helps."""
        while True:
            before = self.text
            self._drop_ops()
            for edit in (edits.opened, edits.without_argument, edits.without_attribute):
                self._each(edit)
            self._shrink()
            self._each(edits.first_operand)
            self._clean()
            if len(self.text) >= len(before):
                return

    def _read(self, text: str) -> ir.Module | None:
        """The module of a text; None if it is none."""
        try:
            return parse(Source("-", text), self._context)
        except TilecError:
            return None

    def _accepts(self, text: str) -> bool:
        """Whether a program is new, legal and interesting; it is then the smallest."""
        if text in self._seen:
            return False
        self._seen.add(text)
        module = self._read(text)
        if module is None:
            return False
        self.tried += 1
        if not self._interest(text):
            return False
        self.text, self._module = text, module
        self._tell(f"{counted(text.count(chr(10)), 'line')} after {self.tried} programs")
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
        return self._accepts(to_text(copy))

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

    def _each(self, edit: Callable[[ir.Module, int], bool]) -> None:
        """Make an edit at each place where it can be made."""
        number = 0
        while self._module is not None and number < _most(self._module):
            if not self._try(lambda m, at=number: edit(m, at)):  # type: ignore[misc]
                number += 1

    def _shrink(self) -> None:
        """Halve extents."""

        def candidates() -> Iterator[str]:
            yield from smaller(self.text)

        while any(self._accepts(text) for text in candidates()):
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
    return reduction.text

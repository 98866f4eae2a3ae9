"""What a pass has to say of a part of the program: what is wrong, and what it has decided."""

from __future__ import annotations

from contextlib import AbstractContextManager
from types import TracebackType

from tilec.ir.aliases import Op
from tilec.isa import TilecError

from .base import Diagnostic, PassError, RemarkKind, advise, remark
from .functions import name_of


class Report:
    """Errors and remarks of a pass; each names the op and has its place.

    Attributes:
        errors: all so far, in the order in which they were found.
    """

    def __init__(self) -> None:
        self.errors: list[Diagnostic] = []

    def error(
        self,
        op: Op,
        message: str,
        *,
        argument: int | None = None,
        notes: tuple[Diagnostic, ...] = (),
    ) -> None:
        """Report what is wrong with an op, and what would be legal; go on looking.

        The same of ops of one place, such as those that one tile has become, is reported once.

        Args:
            op: the op.
            message: goes on from the op's name.
            argument: number of the argument, of the kernel itself, that it is about.
            notes: what belongs to it, each at a place of its own.
        """
        which = "" if argument is None else f"argument {argument}: "
        error = Diagnostic(op.location, f"'{op.operation.name}' op {which}{message}", notes=notes)
        if self.errors[-1:] != [error]:
            self.errors.append(error)

    def remark(
        self,
        op: Op,
        message: str,
        *,
        notes: tuple[Diagnostic, ...] = (),
        kind: RemarkKind = RemarkKind.PASSED,
    ) -> None:
        """Explain a decision about an op, to users who ask with `--remarks`.

        Args:
            op: the op.
            message: what was decided, why, and what else would have cost; goes on from the op's
                name.
            notes: other places that it speaks of.
            kind: whether something was done, was left, or was found out.
        """
        text, function = f"'{op.operation.name}' op {message}", self.function_of(op)
        remark(op.location, text, notes, kind=kind, function=function)

    def missed(self, op: Op, message: str) -> None:
        """The same of what was left as it is, and why: a remark that is `Missed`."""
        self.remark(op, message, kind=RemarkKind.MISSED)

    def analysis(self, op: Op, message: str, *, notes: tuple[Diagnostic, ...] = ()) -> None:
        """The same of what was found out, by which others decide: one that is `Analysis`."""
        self.remark(op, message, notes=notes, kind=RemarkKind.ANALYSIS)

    def function_of(self, op: Op) -> str:
        """The name of the kernel or function that an op is, or is in; empty of others."""
        return name_of(op)

    def advise(self, op: Op, message: str) -> None:
        """Tell the user about an op that is legal and might be better; go on.

        Args:
            op: the op.
            message: goes on from the op's name.
        """
        advise(op.location, f"'{op.operation.name}' op {message}", function=self.function_of(op))

    def at(self, op: Op) -> AbstractContextManager[None]:
        """Makes what is emitted inside have the op's place, and what is wrong inside its error."""
        return _Place(self, op)

    def raise_errors(self) -> None:
        """End the pass if anything is wrong.

        Raises:
            PassError: with all errors.
        """
        if self.errors:
            raise PassError(self.errors)


class _Place(AbstractContextManager[None]):
    """The place of an op; one of a hundred a kernel, for which a generator takes too long."""

    def __init__(self, report: Report, op: Op) -> None:
        self._report, self._op, self._location = report, op, op.location

    def __enter__(self) -> None:
        self._location.__enter__()

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc_value: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool:
        self._location.__exit__(exc_type, exc_value, traceback)
        if exc_value is None:
            return False
        if isinstance(exc_value, PassError):
            self._report.errors += exc_value.diagnostics
        elif isinstance(exc_value, TilecError):
            self._report.error(self._op, str(exc_value))
        else:
            return False
        return True

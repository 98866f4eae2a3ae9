"""What a pass is, and how it reports what is wrong with the user's program."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, fields
from enum import Enum, StrEnum
from itertools import chain
from typing import TYPE_CHECKING, ClassVar

from tilec.isa.errors import TilecError

if TYPE_CHECKING:
    from tilec.ir.aliases import Location, Op
    from tilec.ir.mlir import ir


class RemarkKind(StrEnum):
    """What a remark is about, in the words of LLVM's optimisation records."""

    PASSED = "passed"
    """Something was done."""
    MISSED = "missed"
    """Something was left, and might be better done."""
    ANALYSIS = "analysis"
    """Something was found out, or is as it is."""


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """A message about a place in the user's program.

    Attributes:
        location: an MLIR location; None of what has no place in the program.
        message: what is wrong and what would be legal.
        severity: `error`, `warning`, `remark` or `note`.
        notes: what belongs to it, each at a place of its own.
        decided_by: the pass, or tool, that makes a remark; empty where nobody is known.
        kind: what a remark is about.
        function: the kernel or function that a remark is about; empty of no single one.
        advice: whether a remark is shown to those, too, who did not ask for any.
    """

    location: Location | None
    message: str
    severity: str = "error"
    notes: tuple[Diagnostic, ...] = ()
    decided_by: str = ""
    kind: RemarkKind = RemarkKind.PASSED
    function: str = ""
    advice: bool = False

    def __repr__(self) -> str:
        """One line, for a prompt; `tilec.report.diagnostics.render` has the place."""
        by = f" of {self.decided_by}" if self.decided_by else ""
        return f"<{self.severity}{by}: {self.message}>"


class ProgramError(TilecError):
    """Errors in the user's program, each with its place.

    Attributes:
        diagnostics: all that it found, in program order.
    """

    def __init__(self, diagnostics: Sequence[Diagnostic]) -> None:
        self.diagnostics = tuple(diagnostics)
        super().__init__("; ".join(d.message for d in diagnostics))


class PassError(ProgramError):
    """A pass found errors in the program."""


_remarks: ContextVar[list[Diagnostic] | None] = ContextVar("remarks", default=None)
_running: ContextVar[str] = ContextVar("running", default="tile-opt")


def advise(location: Location, message: str, *, function: str = "") -> None:
    """Tell the user about a place in the program that is legal and might be better; go on.

    Args:
        location: of the op that it is about.
        message: what might be better, and why.
        function: the kernel that it is in.
    """
    kind = RemarkKind.MISSED
    _add(Diagnostic(location, message, "remark", (), _running.get(), kind, function, advice=True))


def remark(
    location: Location,
    message: str,
    notes: tuple[Diagnostic, ...] = (),
    *,
    kind: RemarkKind = RemarkKind.PASSED,
    function: str = "",
) -> None:
    """Explain a decision of the pass that runs, to users who ask with `--remarks`.

    Args:
        location: of the op that it is about.
        message: what was decided, why, and what the alternatives would have cost.
        notes: other places that it speaks of.
        kind: whether something was done, was left, or was found out.
        function: the kernel that it is in.
    """
    _add(Diagnostic(location, message, "remark", notes, _running.get(), kind, function))


def _add(one: Diagnostic) -> None:
    found = _remarks.get()
    if found is not None:
        found.append(one)


when_running: list[Callable[[str, str], None]] = []
"""Who is told the name and the package of each pass before it runs, such as who reports crashes."""


@contextmanager
def running(name: str, package: str = "") -> Iterator[None]:
    """Says that the pass `name` makes the remarks inside.

    Args:
        name: as pipelines write it.
        package: which package's it is; empty for tilec's and upstream's.
    """
    token = _running.set(name)
    for tell in when_running:
        tell(name, package)
    try:
        yield
    finally:
        _running.reset(token)


@contextmanager
def remarks() -> Iterator[list[Diagnostic]]:
    """Collect the remarks of the passes that run inside; without, they are lost.

    Who collects further outside gets them, too, afterwards.
    """
    found: list[Diagnostic] = []
    outer = _remarks.get()
    token = _remarks.set(found)
    try:
        yield found
    finally:
        _remarks.reset(token)
        if outer is not None:
            outer += found


@dataclass(frozen=True)
class Pass:
    """A transformation or check of a module.

    A subclass that has options is a frozen dataclass: its fields are the options of a pipeline
    string, in `name{option=value}`, underscores written as dashes.
    """

    name: ClassVar[str]

    def apply(self, module: ir.Module) -> None:
        """Transform `module` in place.

        Raises:
            PassError: for errors of the user's program.
        """
        raise NotImplementedError

    @classmethod
    def anchors(cls) -> tuple[str, ...]:
        """What a pipeline may nest the pass in besides the module, as in `gpu.module(…)`."""
        return ()

    def apply_inside(self, op: ir.Operation) -> None:
        """Transform what an op holds in place, which is one of `anchors`.

        Raises:
            PassError: for errors of the user's program.
        """
        raise NotImplementedError

    def __str__(self) -> str:
        """The pass as a pipeline writes it, with the options that are not at their defaults."""
        options = [
            f"{field.name.replace('_', '-')}={option_text(value)}"
            for field in fields(self)
            if (value := getattr(self, field.name)) != field.default
        ]
        return f"{self.name}{{{' '.join(options)}}}" if options else self.name


def with_options(one: Pass) -> str:
    """A pass as a pipeline writes it, with all options, the defaults too."""
    text = " ".join(
        f"{field.name.replace('_', '-')}={option_text(getattr(one, field.name))}"
        for field in fields(one)
    )
    return f"{one.name}{{{text}}}" if text else one.name


def option_text(value: object) -> str:
    """An option's value as a pipeline writes it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return ",".join(map(option_text, value))
    return str(value.value) if isinstance(value, Enum) else str(value)


_MAY_HOLD: dict[type, bool] = {}
"""Whether ops of a class may have regions, which the bindings say of all but `ir.OpView`."""


def walk(op: Op) -> Iterator[ir.OpView]:
    """Every operation inside `op`, a parent before what it holds."""
    around: list[Iterator[ir.OpView]] = []
    ops = _inside(op)
    while True:
        for inner in ops:
            yield inner
            kind = type(inner)
            may_hold = _MAY_HOLD.get(kind)
            if may_hold is None:
                may_hold = _MAY_HOLD[kind] = getattr(kind, "_ODS_REGIONS", None) != (0, True)
            if may_hold and len(inner.regions):
                around.append(ops)
                ops = _inside(inner)
                break
        else:
            if not around:
                return
            ops = around.pop()


def _inside(op: Op) -> Iterator[ir.OpView]:
    """The operations directly inside `op`."""
    return chain.from_iterable(chain.from_iterable(op.regions))

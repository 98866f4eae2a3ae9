"""Some passes on a program, to look at what they make of it."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from pathlib import Path

from tilec.ir.mlir import ir
from tilec.isa.wording import counted
from tilec.passes.base import Diagnostic, Pass, remarks
from tilec.passes.pipeline import run_pipeline

from .frontend.contexts import new_context
from .frontend.inputs import Input, ModuleInput, as_input
from .report.diagnostics import Source, render
from .report.printing import to_text


@dataclass(frozen=True)
class Transformed:
    """A program after some passes; `str` is its text, and a notebook shows it.

    Attributes:
        module: the `ir.Module`.
        remarks: what the passes remarked on.
        source: the text that the program came from, if it came from one.
    """

    module: ir.Module
    remarks: tuple[Diagnostic, ...]
    source: Source | None = None

    def __str__(self) -> str:
        return to_text(self.module)

    def __repr__(self) -> str:
        """One line, for a prompt."""
        lines = counted(str(self).count("\n"), "line")
        return f"<program of {lines}, {counted(len(self.remarks), 'remark')}; print shows it>"

    def _repr_html_(self) -> str:
        said = render(self.remarks, self.source)
        return "".join(f"<pre>{escape(text)}</pre>" for text in (str(self), said) if text)


def transform(source: str | Path | ir.Module | Transformed, *passes: str | Pass) -> Transformed:
    """Run passes on a copy of a program, which need not be whole: any module will do.

    Args:
        source: MLIR text, the path of a file of it, an `ir.Module`, or what `transform` gave.
        passes: passes and pipelines, each as text or a pass itself.

    Raises:
        ProgramError: for errors of the program.
        PipelineError: for a pass that does not exist.

    Example:
        `print(tilec.transform(text, "tile-to-fragments", MyPass(floats=True), "canonicalize"))`
    """
    given: Input
    if isinstance(source, Transformed):
        given = ModuleInput(source.module, source.source)
    else:
        given = as_input(source)
    module = given.build(new_context).module
    with remarks() as found:
        run_pipeline(module, passes)
    return Transformed(module, tuple(found), given.text)

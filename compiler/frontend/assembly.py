"""Ops in the custom form on their way to MLIR: errors and places are those of the user's text."""

from __future__ import annotations

from dataclasses import replace

from tilec.ir.assembly import AssemblyError, Generic, to_generic
from tilec.ir.mlir import ir
from tilec.passes.base import Diagnostic, ProgramError
from tilec.report.diagnostics import SOURCE, Source


def generic_text(source: Source) -> Generic:
    """The text of `source` as MLIR reads it, in the current context.

    Raises:
        ProgramError: for an op that is not written as its format says.
    """
    try:
        return to_generic(source.text)
    except AssemblyError as error:
        at = ir.Location.file(SOURCE, *error.at)
        if not error.op:
            raise ProgramError([Diagnostic(at, error.message)]) from None
        name = ir.Location.file(SOURCE, *error.op_at)
        note = Diagnostic(name, f"it is written: {error.op} {error.syntax}", "note")
        message = f"custom op '{error.op}' {error.message}"
        raise ProgramError([Diagnostic(at, message, notes=(note,))]) from None


def in_source(diagnostic: Diagnostic, generic: Generic) -> Diagnostic:
    """A diagnostic of MLIR's about `generic` with the places of the text it was made of."""
    if not generic.maps:
        return diagnostic
    return replace(
        diagnostic,
        location=diagnostic.location and _in_source(diagnostic.location, generic),
        notes=tuple(in_source(note, generic) for note in diagnostic.notes),
    )


def _is_moved(location: ir.Location, generic: Generic) -> bool:
    return (
        isinstance(location, ir.FileLineColLoc)
        and location.start_line in generic.moved
        and location.filename == SOURCE
    )


def _in_source(location: ir.Location, generic: Generic) -> ir.Location:
    if not isinstance(location, ir.FileLineColLoc) or location.filename != SOURCE:
        return location
    line, column = generic.place(location.start_line, location.start_col)
    return ir.Location.file(SOURCE, line, column, location.context)


def put_in_place(module: ir.Module, generic: Generic) -> None:
    """Give the ops of a module, which MLIR parsed from `generic`, the places of the source.

    They have them but for ops that stand after others on one line.
    """
    if generic.moved:
        _move(module.operation, generic)


def _move(op: ir.Operation, generic: Generic) -> None:
    if _is_moved(op.location, generic):
        op.location = _in_source(op.location, generic)
    for region in op.regions:
        for block in region.blocks:
            for argument in block.arguments:
                if _is_moved(argument.location, generic):
                    argument.set_location(_in_source(argument.location, generic))
            for inside in block.operations:
                _move(inside.operation, generic)

"""Diagnostics of MLIR's as tilec has them."""

from __future__ import annotations

from tilec.ir.mlir import ir

from .base import Diagnostic


def from_mlir_error(error: ir.MLIRError) -> list[Diagnostic]:
    """What upstream reported with `error`."""
    found = [from_mlir_diagnostic(d) for d in error.error_diagnostics]
    return found or [Diagnostic(ir.Location.unknown(), error.message)]


def from_mlir_diagnostic(diagnostic: ir.Diagnostic | ir.DiagnosticInfo) -> Diagnostic:
    """An upstream diagnostic, its notes with it, without the dump of the operation.

    `Diagnostic`s and `DiagnosticInfo`s of the bindings have the same fields.
    """
    location = diagnostic.location
    return Diagnostic(
        ir.Location.from_attr(location.attr, location.context),  # as its own class
        diagnostic.message.strip(),
        diagnostic.severity.name.lower(),
        tuple(
            from_mlir_diagnostic(note)
            for note in diagnostic.notes
            if not note.message.startswith("see current operation")
        ),
    )

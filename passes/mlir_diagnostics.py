"""Diagnostics of MLIR's as tilec has them."""

from __future__ import annotations

import re

from tilec.ir.mlir import ir

from .base import Diagnostic

_WORD = 1000
"""Characters of a word that a message shows whole, such as a name that the program gives."""


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
        _shown(diagnostic.message.strip()),
        diagnostic.severity.name.lower(),
        tuple(
            from_mlir_diagnostic(note)
            for note in diagnostic.notes
            if not note.message.startswith("see current operation")
        ),
    )


def _shown(message: str) -> str:
    """A message in which no word is so long that nobody finds the rest."""
    if len(message) <= _WORD:
        return message
    return re.sub(rf"\S{{{_WORD},}}", lambda word: f"{word[0][:100]}...{word[0][-20:]}", message)

"""What ptxas notes of a module, told at the operations that the lines of PTX come from."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from tilec.backend.cubin import Note
from tilec.ir.mlir import ir
from tilec.passes.base import Diagnostic, RemarkKind, walk
from tilec.passes.functions import is_kernel

from .ptx_places import places_of


def assembler_remarks(
    notes: Sequence[Note], module: ir.Module, ptx: str, with_places: Callable[[], str]
) -> list[Diagnostic]:
    """The notes of ptxas at their operations; at their kernel, or nowhere, where none is known.

    Args:
        notes: what it has to say.
        module: the program.
        ptx: what was assembled.
        with_places: makes the same with `.loc`.
    """
    places = dict(places_of(ptx, with_places())) if any(one.line for one in notes) else {}
    with module.context:
        return [_diagnostic(module, note, places) for note in notes]


def _diagnostic(
    module: ir.Module, note: Note, places: Mapping[int, tuple[str, int, int]]
) -> Diagnostic:
    at = places.get(note.line)
    location = _kernel(module, note.function) if at is None else ir.Location.file(*at)
    return Diagnostic(
        location,
        f"ptxas: {note.message}",
        note.severity,
        decided_by="ptxas",
        kind=RemarkKind.ANALYSIS,
        function=note.function,
        advice=True,
    )


def _kernel(module: ir.Module, name: str) -> ir.Location | None:
    """Where a kernel is defined."""
    for op in walk(module.operation):
        symbol = op.attributes.get("sym_name")
        if isinstance(symbol, ir.StringAttr) and symbol.value == name and is_kernel(op):
            return op.location
    return None

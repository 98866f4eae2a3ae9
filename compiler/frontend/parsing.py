"""From text to a module, with located errors."""

from __future__ import annotations

import re
from typing import Any

from tilec.dialect_plugins import load_named
from tilec.ir.assembly.source_map import place_in
from tilec.ir.mlir import ir
from tilec.ir.state import holding
from tilec.isa import nearest
from tilec.passes.base import Diagnostic, ProgramError
from tilec.passes.mlir_diagnostics import from_mlir_diagnostic
from tilec.report.diagnostics import SOURCE, Source

from .assembly import generic_text, in_source, put_in_place
from .contexts import LOADING
from .structure import excess, without_nuls

_NO_DIALECT = re.compile("unregistered dialect|^Dialect `.*' not found")
_PRETTY = re.compile(r"^\s*(?:%[\w:]+(?:\s*,\s*%[\w:]+)*\s*=\s*)?(tile\.[\w.]+)", re.MULTILINE)


def parse(source: Source, context: ir.Context, *, bare: bool = False) -> ir.Module:
    """The `ir.Module` that `source` describes.

    Other packages' dialects are loaded if it names them.

    Args:
        source: the text.
        context: where it is parsed.
        bare: take its one operation, whatever it is, instead of a module around what there is.

    Raises:
        ProgramError: if it cannot be parsed or does not verify.
        PluginError: if another package's dialect cannot be loaded.
    """
    source = source._replace(text=without_nuls(source.text))
    with context, holding(context):
        if too_much := _too_much(source.text):
            raise ProgramError([too_much])
        generic = generic_text(source)
        try:
            module = _parse_bare(generic.text) if bare else ir.Module.parse(generic.text)
        except ir.MLIRError as error:
            found = [in_source(from_mlir_diagnostic(d), generic) for d in error.error_diagnostics]
            if any(_NO_DIALECT.search(d.message) for d in found):
                with LOADING:
                    loaded = load_named(source.text, context)
                if loaded:
                    return parse(source, context, bare=bare)
            raise ProgramError([_explained(d) for d in found] or _silent(source)) from None
        put_in_place(module, generic)
        return module


def _parse_bare(text: str) -> Any:
    """The one operation of a text."""
    return ir.Operation.parse(text, source_name=SOURCE)


def _too_much(text: str) -> Diagnostic | None:
    """What is wrong with a text that would end MLIR's parser, or exhaust the stack of a pass."""
    found = excess(text)
    return found and Diagnostic(ir.Location.file(SOURCE, *place_in(text, found.at)), found.message)


def _explained(diagnostic: Diagnostic) -> Diagnostic:
    """`diagnostic`, with what would be legal where upstream does not know it."""
    unknown = re.search(
        r"(?:unregistered operation|custom op) '(tile\.[\w.]+)'", diagnostic.message
    )
    if not unknown:
        return diagnostic
    return Diagnostic(diagnostic.location, _unknown_op(unknown[1]))


def _unknown_op(name: str) -> str:
    return f"unknown operation '{name}'; nearest: {', '.join(nearest(name, operations(), 3))}"


def _silent(source: Source) -> list[Diagnostic]:
    """What to say where upstream fails without a word, as it does at a pretty `tile.x`."""
    pretty = _PRETTY.search(source.text)
    if not pretty:
        return [Diagnostic(ir.Location.unknown(), f"cannot parse {source.name}")]
    line = source.text.count("\n", 0, pretty.start(1)) + 1
    column = pretty.start(1) - source.text.rfind("\n", 0, pretty.start(1))
    at = ir.Location.file(SOURCE, line, column)
    return [Diagnostic(at, _unknown_op(pretty[1]))]


def operations() -> list[str]:
    """Names of the tile dialect's operations."""
    from tilec.dialects.tile import ops  # noqa: PLC0415 (only for an error)

    names = (getattr(value, "OPERATION_NAME", "") for value in vars(ops).values())
    return sorted(name for name in names if name.startswith("tile."))

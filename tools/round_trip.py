"""`--verify-roundtrip`: a module is the same when it is written and read again."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from tilec.frontend.bytecode import read_bytecode, write_bytecode
from tilec.frontend.parsing import parse
from tilec.ir.mlir import ir
from tilec.passes.base import Diagnostic, ProgramError
from tilec.report.diagnostics import Source
from tilec.report.printing import Style, print_as, to_text

_FORMS: dict[str, Callable[[ir.Module], str | bytes]] = {
    "text": to_text,
    "generic text": partial(to_text, generic=True),
    "bytecode": write_bytecode,
}


def _fingerprint(module: ir.Module) -> str:
    """All that a module is, places but for the text's own excluded."""
    return print_as(module, Style(generic=True, local_scope=True))


def check_round_trip(module: ir.Module) -> None:
    """Write a module as text and as bytecode, read both, and compare.

    Raises:
        ProgramError: if either cannot be read, or is not the same.
    """
    expected = _fingerprint(module)
    context = module.context
    for form, write in _FORMS.items():
        try:
            written = write(module)
            if isinstance(written, bytes):
                found = _fingerprint(read_bytecode(written, context, trusted=True))
            else:
                found = _fingerprint(parse(Source("round trip", written), context))
        except ProgramError as error:
            raise ProgramError([_failure(module, form), *error.diagnostics]) from None
        if found != expected:
            raise ProgramError([_failure(module, form, _difference(expected, found))])


def _failure(module: ir.Module, form: str, difference: str = "") -> Diagnostic:
    message = f"the module does not survive a round trip through {form}{difference}"
    return Diagnostic(module.operation.location, message)


def _difference(expected: str, found: str) -> str:
    """The first line that differs."""
    for one, other in zip(expected.split("\n"), found.split("\n"), strict=False):
        if one != other:
            return f": '{one.strip()}' becomes '{other.strip()}'"
    return ": lines are lost or added at the end"


def with_file_name(module: ir.Module, name: str) -> ir.Module:
    """A copy of a module in whose places the text that it was parsed from is called `name`."""
    text = print_as(module, Style(locations=True, generic=True, file=name))
    return parse(Source(name, text), module.context)

"""MLIR's bytecode, read and written."""

from __future__ import annotations

import faulthandler
import io
import json
import os
import signal
from typing import Any, NoReturn

from tilec.dialect_plugins import load_named
from tilec.ir.mlir import ir
from tilec.ir.state import holding
from tilec.isa import TilecError
from tilec.passes.base import Diagnostic, ProgramError
from tilec.passes.mlir_diagnostics import from_mlir_error
from tilec.report.diagnostics import SOURCE, place

from .contexts import LOADING
from .structure import excess

_PATIENCE = 60
"""Seconds of the processor that MLIR has to read bytecode."""


def read_bytecode(data: bytes, context: ir.Context, *, trusted: bool = False) -> ir.Module:
    """The module that bytecode describes.

    MLIR's reader believes what it is told: damaged bytecode may end the process, or spoil its
    memory and end it later. So a fork reads what nobody vouches for, and says it as text.

    Args:
        data: the bytecode.
        context: where it is read.
        trusted: whether MLIR wrote it, just so.

    Raises:
        ProgramError: if it cannot be read, or does not verify.
        PluginError: if another package's dialect cannot be loaded.
    """
    with context, holding(context):
        with LOADING:
            load_named(data.decode("latin-1").replace("\0", "."), context)
        try:
            return ir.Module.parse(data if trusted else _as_text(data))
        except ir.MLIRError as error:
            raise ProgramError(from_mlir_error(error)) from None


def _as_text(data: bytes) -> str:
    """What bytecode describes, by a process that may die of it.

    Raises:
        ProgramError: if it does, or MLIR refuses it.
    """
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        _tell(data, write)
    os.close(write)
    try:
        with os.fdopen(read, "rb") as pipe:
            said = pipe.read()
    except BaseException:
        os.kill(child, signal.SIGKILL)
        raise
    finally:
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if code == 0:
        found: dict[str, Any] = json.loads(said)
        if "text" in found:
            return str(found["text"])
        raise ProgramError([_restored(*one) for one in found["errors"]])
    raise ProgramError([_restored(f"damaged bytecode: {_end(code)}")])


def _end(code: int) -> str:
    """How the process that read damaged bytecode has ended."""
    if code == -signal.SIGPROF:
        return f"MLIR does not read it within {_PATIENCE} s"
    if code < 0:
        return f"MLIR's reader ends with {signal.Signals(-code).name}"
    return "a text in it is not UTF-8"


def _tell(data: bytes, stream: int) -> NoReturn:
    """Read bytecode, write what it says, and end; other ends than 0 say nothing."""
    code = 1
    try:
        faulthandler.disable()  # its end is told by who waits
        nowhere = os.open(os.devnull, os.O_WRONLY)
        for standard in (1, 2):
            os.dup2(nowhere, standard)
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_PROF, _PATIENCE)
        said = json.dumps(_read(data)).encode()
        with os.fdopen(stream, "wb") as pipe:
            pipe.write(said)
        code = 0
    except BaseException:  # nanobind's, of what it cannot decode; more than memory has
        pass
    finally:
        os._exit(code)


def _read(data: bytes) -> dict[str, object]:
    """The module as text, or what MLIR says against it."""
    try:
        text = ir.Module.parse(data).operation.get_asm(
            enable_debug_info=True, print_generic_op_form=True
        )
    except ir.MLIRError as error:
        return {"errors": [_plain(one) for one in from_mlir_error(error)]}
    if much := excess(text):
        return {"errors": [(much.message,)]}
    return {"text": text}


def _plain(diagnostic: Diagnostic) -> tuple[object, ...]:
    """A diagnostic as `_restored` takes it."""
    notes = [_plain(note) for note in diagnostic.notes]
    return diagnostic.message, place(diagnostic.location), notes, diagnostic.severity


def _restored(
    message: str, at: tuple[str, int, int] | None = None, notes: Any = (), severity: str = "error"
) -> Diagnostic:
    """A diagnostic; the file as such is its place where there is none."""
    location = ir.Location.file(*(at or (SOURCE, 0, 0)))
    return Diagnostic(location, message, severity, tuple(_restored(*note) for note in notes))


def write_bytecode(module: Any, version: int | None = None) -> bytes:
    """A module as bytecode.

    Args:
        module: an `ir.Module`.
        version: of the format; MLIR's newest if None.

    Raises:
        TilecError: if MLIR cannot write that version.
    """
    out = io.BytesIO()
    try:
        module.operation.write_bytecode(out, desired_version=version)
    except ValueError as error:
        raise TilecError(f"cannot write bytecode of version {version}: {error}") from None
    return out.getvalue()

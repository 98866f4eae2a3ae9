"""MLIR's bytecode, read and written."""

from __future__ import annotations

import io
from typing import Any

from tilec.dialect_plugins import load_named
from tilec.ir.mlir import ir
from tilec.ir.state import holding
from tilec.isa import TilecError
from tilec.passes.base import ProgramError
from tilec.passes.mlir_diagnostics import from_mlir_error

from .contexts import LOADING


def read_bytecode(data: bytes, context: ir.Context) -> ir.Module:
    """The module that bytecode describes.

    Raises:
        ProgramError: if it cannot be read, or does not verify.
        PluginError: if another package's dialect cannot be loaded.
    """
    with context, holding(context):
        with LOADING:
            load_named(data.decode("latin-1").replace("\0", "."), context)
        try:
            return ir.Module.parse(data)
        except ir.MLIRError as error:
            raise ProgramError(from_mlir_error(error)) from None


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

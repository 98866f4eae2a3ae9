"""MLIR's Python bindings, for passes and dialects out of tree: `from tilec.mlir import ir`.

The same modules as `tilec.ir.mlir` has, which says where they come from; tilec's own code takes
them there.
"""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING

from tilec.ir import mlir
from tilec.ir.mlir import dialect, provider

__all__ = ["dialect", "ext", "gpu", "ir", "parse", "passmanager", "provider", "rewrite", "scf"]


def parse(text: str, context: ir.Context, name: str = "<string>") -> ir.Module:
    """The module that a text describes, its ops in their custom forms or in the generic one.

    Args:
        text: MLIR.
        context: one with the dialects that the text names, such as that of a front end.
        name: what messages call the text.

    Raises:
        ProgramError: if it cannot be parsed, or does not verify.
    """
    from .frontend.parsing import parse as parse_source  # noqa: PLC0415 (imports MLIR)
    from .report.diagnostics import Source  # noqa: PLC0415

    return parse_source(Source(name, text), context)


if TYPE_CHECKING:
    from tilec.ir.mlir import ext, gpu, ir, passmanager, rewrite, scf
else:

    def __getattr__(name: str) -> ModuleType:
        """A module of the bindings, imported when first asked for."""
        return getattr(mlir, name)

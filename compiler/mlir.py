"""MLIR's Python bindings, for passes and dialects out of tree: `from tilec.mlir import ir`.

The same modules as `tilec.ir.mlir` has, which says where they come from; tilec's own code takes
them there.
"""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING

from tilec.ir import mlir
from tilec.ir.mlir import dialect, provider

__all__ = ["dialect", "ext", "gpu", "ir", "passmanager", "provider", "rewrite", "scf"]

if TYPE_CHECKING:
    from tilec.ir.mlir import ext, gpu, ir, passmanager, rewrite, scf
else:

    def __getattr__(name: str) -> ModuleType:
        """A module of the bindings, imported when first asked for."""
        return getattr(mlir, name)

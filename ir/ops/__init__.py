"""Functions that make upstream's ops: a file a dialect, each function named after its op.

Operands come first, then what the op says by attributes: predicates, kinds and modes by name.
Result types follow from the operands where they can, and come last where they cannot.

A dialect's file is loaded, and MLIR with it, when it is first asked for: `ops.arith.addi`.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from . import arith, builtin, cf, gpu, llvm, math, memref, nvvm, scf, transform, vector

__all__ = [
    "arith",
    "builtin",
    "cf",
    "gpu",
    "llvm",
    "math",
    "memref",
    "nvvm",
    "scf",
    "transform",
    "vector",
]


def __getattr__(name: str) -> ModuleType:
    """The file of a dialect."""
    if name not in __all__:
        raise AttributeError(name)
    return import_module(f"{__name__}.{name}")

"""Views of memory and affine indices, which code generators leave, in simpler ops."""

from __future__ import annotations

from tilec.ir.mlir import ir, passmanager

from .outline_functions import outermost

AFFINE = frozenset({"affine.apply", "affine.max", "affine.min"})
"""Ops on indices."""
VIEWS = frozenset(
    {
        "memref.collapse_shape",
        "memref.expand_shape",
        "memref.extract_strided_metadata",
        "memref.subview",
    }
)
"""Views of memory that are computed from strides."""
_PASSES = "builtin.module(expand-strided-metadata,lower-affine)"


def expand_views(module: ir.Module) -> None:
    """Let upstream turn such views into `memref.reinterpret_cast`, and indices into `arith`."""
    if outermost(module.operation, lambda op: op.name in VIEWS | AFFINE):
        manager = passmanager.PassManager.parse(_PASSES)
        manager.enable_verifier(False)
        manager.run(module.operation)

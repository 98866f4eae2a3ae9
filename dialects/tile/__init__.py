"""The tile dialect: tiles, the fragments that warps hold of them, matrix instructions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilec.isa.errors import TilecError

if TYPE_CHECKING:
    from tilec.ir.mlir import ir


def load(context: ir.Context | None = None) -> None:
    """Load the dialect into `context` (the current one by default); again does nothing.

    Raises:
        TilecError: if there is no context.
    """
    from tilec.ir.dialect_search import tell_bindings  # noqa: PLC0415
    from tilec.ir.mlir import ir  # noqa: PLC0415 (MLIR is imported when first needed)

    from ..semantics.interfaces import attach_interfaces  # noqa: PLC0415
    from . import ops  # noqa: PLC0415 (importing them defines them)
    from .dialect import Tile  # noqa: PLC0415

    context = context or ir.Context.current
    if context is None:
        raise TilecError("no MLIR context is given or entered")
    with context, ir.Location.unknown():
        if not context.is_dialect_loaded(Tile.DIALECT_NAMESPACE):
            tell_bindings()
            Tile.load()
            # The bindings would keep the context by it.
            Tile._mlir_module = None  # type: ignore[attr-defined]
            classes = (getattr(ops, name) for name in ops.__all__)
            found = [op for op in classes if isinstance(op, type)]
            attach_interfaces(found, context)

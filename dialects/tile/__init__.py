"""The tile dialect: tiles, the fragments that warps hold of them, matrix instructions."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from tilec.isa.errors import TilecError

if TYPE_CHECKING:
    from tilec.ir.mlir import ir


def load(context: ir.Context | None = None) -> None:
    """Load the dialect into `context` (the current one by default); again does nothing.

    Raises:
        TilecError: if there is no context.
    """
    from tilec.ir.mlir import ir  # noqa: PLC0415 (MLIR is imported when first needed)

    from ..semantics.interfaces import attach_interfaces  # noqa: PLC0415
    from . import ops  # noqa: PLC0415 (importing them defines them)
    from .dialect import Tile  # noqa: PLC0415

    context = context or ir.Context.current
    if context is None:
        raise TilecError("no MLIR context is given or entered")
    with context, ir.Location.unknown():
        if not context.is_dialect_loaded(Tile.DIALECT_NAMESPACE):
            _tell_bindings()
            Tile.load()
            # The bindings would keep the context by it.
            Tile._mlir_module = None  # type: ignore[attr-defined]
            classes = (getattr(ops, name) for name in ops.__all__)
            found = [op for op in classes if isinstance(op, type)]
            attach_interfaces(found, context)


@cache
def _tell_bindings() -> None:
    """Tell MLIR's bindings where this dialect's Python module is.

    Unfound, they would search for it whenever they meet one of its ops, types or attributes:
    half of a compilation's time.
    """
    from tilec.ir.mlir import ext  # noqa: PLC0415

    ext._cext.globals.append_dialect_search_prefix("tilec.dialects")

"""The dialects that tilec adds to MLIR."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tilec.ir.mlir import ir


def load(context: ir.Context | None = None) -> None:
    """Load every dialect of tilec into `context` (the current one by default), once.

    Loading again does nothing, so that whoever needs the dialect may call it.
    """
    from .tile import load as load_tile  # noqa: PLC0415 (MLIR is imported when first needed)

    load_tile(context)

"""The tile dialect in IRDL, by which upstream's tools know its ops, types and attributes.

    python -m tilec.dialects.irdl

writes the file `tile.irdl.mlir` beside this one.
"""

from __future__ import annotations

from pathlib import Path

from tilec.ir.mlir import ir

from .tile import ops
from .tile.dialect import Tile

FILE = Path(__file__).with_name("tile.irdl.mlir")
"""What of it is installed."""


def irdl_text() -> str:
    """The dialect: what ops take and give, and which types and attributes there are."""
    assert ops.__all__  # which importing them defines
    with ir.Context(), ir.Location.unknown():
        return f"{Tile._emit_module()}\n"


if __name__ == "__main__":
    FILE.write_text(irdl_text(), encoding="utf-8")

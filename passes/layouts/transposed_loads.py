"""Transposes of loaded tiles: the load says `transposed`, or no longer."""

from __future__ import annotations

from typing import Any

from tilec.ir.mlir import ir

from ..emit import create
from ..search import named
from .tile_classes import plain


def fold_transposes(function: Any) -> None:
    """Load the transpose where a tile without a layout is transposed as soon as it is loaded.

    Args:
        function: a `gpu.func`.
    """
    for op in named(function, ["tile.transpose"]):
        if list(op.attributes["permutation"]) == [1, 0]:
            load = op.operands[0].owner
            if getattr(load, "name", None) == "tile.load" and plain(op.results[0]) is not None:
                _fold(op, load)


def _fold(transpose: Any, load: Any) -> None:
    attributes = {name: load.attributes[name] for name in load.attributes}
    if attributes.pop("transposed", None) is None:
        attributes["transposed"] = ir.UnitAttr.get()
    result = transpose.results[0]
    with ir.InsertionPoint(load), load.location:
        loaded = create("tile.load", list(load.operands), result.type, **attributes)
    result.replace_all_uses_with(loaded)
    transpose.operation.erase()
    if next(iter(load.results[0].uses), None) is None:
        load.erase()

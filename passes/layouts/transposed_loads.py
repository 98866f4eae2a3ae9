"""Transposes of loaded tiles: the load says `transposed`, or no longer."""

from __future__ import annotations

from tilec.dialects.tile.emit import emit
from tilec.dialects.tile.ops import LoadOp, TransposeOp
from tilec.ir.aliases import Op
from tilec.ir.attributes import attribute
from tilec.ir.mlir import ir

from ..search import defining_op, named
from .tile_classes import plain


def fold_transposes(function: Op) -> None:
    """Load the transpose where a tile without a layout is transposed as soon as it is loaded.

    Args:
        function: a `gpu.func`.
    """
    for op in named(function, [TransposeOp]):
        if list(attribute(op, "permutation", ir.DenseI64ArrayAttr)) == [1, 0]:
            load = defining_op(op.operands[0], LoadOp)
            if load is not None and plain(op.result) is not None:
                _fold(op, load.operation)


def _fold(transpose: ir.Operation, load: ir.Operation) -> None:
    attributes = {name: load.attributes[name] for name in load.attributes}
    if attributes.pop("transposed", None) is None:
        attributes["transposed"] = ir.UnitAttr.get()
    with ir.InsertionPoint(load), load.location:
        loaded = emit(LoadOp, list(load.operands), transpose.result.type, **attributes)
    transpose.result.replace_all_uses_with(loaded)
    transpose.erase()
    if next(iter(load.result.uses), None) is None:
        load.erase()

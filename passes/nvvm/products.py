"""Matrix products: the call of the instruction."""

from __future__ import annotations

from typing import Any

from tilec.dialects.tile.tiles import tile_value
from tilec.isa import form
from tilec.isa.llvm import Value
from tilec.mlir import ir

from ..emit import create
from ..fragments.expansion import Expansion, Values
from .kernel import Kernel, llvm_type
from .registers import bitcast, packing


class Products:
    """Lowering of the matrix products of one kernel."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel

    def product(self, op: Any, expansion: Expansion) -> list[Values]:
        """`tile.mma` and its sparse and scaled kin, `tile.movmatrix`."""
        found = form(op.attributes["form"].value)
        names = [operand.name for operand in found.operands]
        registers = {
            name: iter(expansion.values(value))
            for name, value in zip(names, op.operands, strict=True)
        }
        selectors = {selector.name for selector in found.selectors}
        wanted = self._kernel.call_of(found)
        arguments = [
            _constant(op, value) if value.name in selectors else next(registers[value.name])
            for value in wanted.arguments
        ]
        results = self._kernel.call(wanted, arguments)
        tile = tile_value(op.results[0].type)
        assert tile is not None
        type_ = packing(tile).type
        return [[bitcast(value, type_) for value in results]]


def _constant(op: Any, selector: Value) -> Any:
    """A selector, an attribute of the op."""
    type_ = llvm_type(selector.type)
    number = int(op.attributes[selector.name].value)
    return create("llvm.mlir.constant", [], type_, value=ir.IntegerAttr.get(type_, number))

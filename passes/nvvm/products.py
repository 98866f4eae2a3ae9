"""`tile.mma`: the call of the instruction."""

from __future__ import annotations

from typing import Any

from tilec.dialects.tile.ops.mma import dense_form
from tilec.dialects.tile.tiles import tile_value
from tilec.isa.llvm import call

from ..expansion import Expansion, Values
from .kernel import Kernel
from .registers import bitcast, packing


class Products:
    """Lowering of the matrix products of one kernel."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel

    def mma(self, op: Any, expansion: Expansion) -> list[Values]:
        """`tile.mma`."""
        form = dense_form(op.attributes["form"].value)
        arguments = [register for v in op.operands for register in expansion.values(v)]
        results = self._kernel.call(call(form, target=self._kernel.target), arguments)
        tile = tile_value(op.results[0].type)
        assert tile is not None
        type_ = packing(tile).type
        return [[bitcast(value, type_) for value in results]]

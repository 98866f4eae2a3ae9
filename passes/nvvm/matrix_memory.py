"""`tile.ldmatrix` and `tile.stmatrix`: the rows' addresses and the call."""

from __future__ import annotations

from typing import Any

from tilec.dialects.tile.casts import narrow_element
from tilec.dialects.tile.matrices import lane_rows, matrix_origins
from tilec.dialects.tile.ops.matrix_memory import matrix_form
from tilec.dialects.tile.shared import shared_buffer
from tilec.dialects.tile.tiles import TileValue, tile_value
from tilec.isa import Family, MatrixMemory, TilecError
from tilec.isa.llvm import call

from ..fragments.expansion import Expansion, Values
from .kernel import Kernel
from .narrow_floats import integer
from .registers import bitcast, packing
from .shared_memory import shared_access


class MatrixMoves:
    """Lowering of matrix loads and stores of one kernel."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel

    def ldmatrix(self, op: Any, expansion: Expansion) -> list[Values]:
        """`tile.ldmatrix`."""
        form = matrix_form(op.attributes["form"].value, Family.LDMATRIX)
        tile = tile_value(op.results[0].type)
        assert tile is not None
        source, *indices = op.operands
        address = self._address(op, form, tile, source, expansion.one(source), indices)
        loaded = self._kernel.call(call(form, target=self._kernel.target), [address])
        element = narrow_element(tile.element)
        if form.source is not None and element is not None and element.shift:
            loaded = [integer("shli", register, element.shift) for register in loaded]
        type_ = packing(tile).type
        return [[bitcast(value, type_) for value in loaded]]

    def stmatrix(self, op: Any, expansion: Expansion) -> list[Values]:
        """`tile.stmatrix`."""
        form = matrix_form(op.attributes["form"].value, Family.STMATRIX)
        value, target, *indices = op.operands
        tile = tile_value(value.type)
        assert tile is not None
        address = self._address(op, form, tile, target, expansion.one(target), indices)
        held = expansion.values(value)
        self._kernel.call(call(form, target=self._kernel.target), [address, *held])
        return []

    def _address(
        self,
        op: Any,
        form: MatrixMemory,
        tile: TileValue,
        memref: Any,
        base: Any,
        indices: list[Any],
    ) -> Any:
        """The address of the row that this lane supplies.

        Lanes beyond the rows repeat the low ones: sm_75 wants a valid address of every lane.
        """
        origins = matrix_origins(form, tile, transposed="transposed" in op.attributes)
        place = lane_rows(form, origins)
        buffer = shared_buffer(memref.type)
        shape = tuple(memref.type.shape)
        access = shared_access(self._kernel, base, buffer, indices, shape, place, "lane")
        row = form.row_bytes // buffer.element_bytes
        if access.col.multiple % row == 0 and access.col.constant % row:
            raise TilecError(f"takes rows from a multiple of {row} elements on")
        return access.pointer((0, 0))

"""`tile.ldmatrix` and `tile.stmatrix`: the rows' addresses and the call."""

from __future__ import annotations

from typing import Any

from tilec.dialects.tile.casts import narrow_element
from tilec.dialects.tile.matrices import lane_rows, matrix_origins
from tilec.dialects.tile.ops.matrix_memory import matrix_form
from tilec.dialects.tile.shared import shared_buffer
from tilec.dialects.tile.tiles import tile_value
from tilec.isa import Family, MatrixMemory, TilecError
from tilec.layout import LinearLayout

from ..fragments.expansion import Expansion, Values
from .kernel import Kernel
from .narrow_floats import integer
from .registers import bitcast, packing
from .shared_memory import shared_access


class MatrixMoves:
    """Lowering of matrix loads and stores of one kernel."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self._known_rows: dict[tuple[str, Any, bool], LinearLayout] = {}

    def ldmatrix(self, op: Any, expansion: Expansion) -> list[Values]:
        """`tile.ldmatrix`."""
        form = matrix_form(op.attributes["form"].value, Family.LDMATRIX)
        tile = tile_value(op.results[0].type)
        assert tile is not None
        source, *indices = op.operands
        rows = self._rows(op, form, op.results[0].type)
        address = self._address(form, rows, source, expansion.one(source), indices)
        loaded = self._kernel.call(self._kernel.call_of(form), [address])
        element = narrow_element(tile.element)
        if form.source is not None and element is not None and element.shift:
            loaded = [integer("shli", register, element.shift) for register in loaded]
        type_ = packing(tile).type
        return [[bitcast(value, type_) for value in loaded]]

    def stmatrix(self, op: Any, expansion: Expansion) -> list[Values]:
        """`tile.stmatrix`."""
        form = matrix_form(op.attributes["form"].value, Family.STMATRIX)
        value, target, *indices = op.operands
        rows = self._rows(op, form, value.type)
        address = self._address(form, rows, target, expansion.one(target), indices)
        held = expansion.values(value)
        self._kernel.call(self._kernel.call_of(form), [address, *held])
        return []

    def _rows(self, op: Any, form: MatrixMemory, type_: Any) -> LinearLayout:
        """(lane) -> (row, col): the row that a lane supplies, from the fragment's origin.

        Lanes beyond the rows repeat the low ones: sm_75 wants a valid address of every lane.
        """
        key = form.ptx, type_, "transposed" in op.attributes
        if key not in self._known_rows:
            tile = tile_value(type_)
            assert tile is not None
            origins = matrix_origins(form, tile, transposed=key[-1])
            self._known_rows[key] = lane_rows(form, origins)
        return self._known_rows[key]

    def _address(
        self, form: MatrixMemory, rows: LinearLayout, memref: Any, base: Any, indices: list[Any]
    ) -> Any:
        """The address of the row that this lane supplies."""
        buffer = shared_buffer(memref.type)
        shape = tuple(memref.type.shape)
        access = shared_access(self._kernel, base, buffer, indices, shape, rows, "lane")
        row = form.row_bytes // buffer.element_bytes
        if access.col.multiple % row == 0 and access.col.constant % row:
            raise TilecError(f"takes rows from a multiple of {row} elements on")
        return access.pointer((0, 0))

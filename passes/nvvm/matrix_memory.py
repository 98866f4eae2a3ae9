"""`tile.ldmatrix` and `tile.stmatrix`: the rows' addresses and the call."""

from __future__ import annotations

from collections.abc import Sequence

from tilec.dialects.tile.casts import narrow_element
from tilec.dialects.tile.matrices import lane_rows, matrix_origins
from tilec.dialects.tile.ops import LdmatrixOp, StmatrixOp
from tilec.dialects.tile.ops.matrix_memory import matrix_form
from tilec.dialects.tile.shared import shared_buffer
from tilec.ir.aliases import Type, Value
from tilec.ir.mlir import ir
from tilec.ir.ops import arith
from tilec.ir.types import memref_of
from tilec.isa import Family, MatrixMemory, TilecError

from ..fragments.expansion import Expansion, Values
from .lowering import Lowering
from .narrow_floats import integer
from .registers import bitcast, fragment, packing_of
from .shared_memory import shared_access


class _Move:
    """What the moves of one form and type of fragment have in common.

    Attributes:
        form: the form.
        call: the call of the instruction.
        rows: (lane) -> (row, col): the row that a lane supplies, from the fragment's origin.
            Lanes beyond the rows repeat the low ones: sm_75 wants a valid address of every lane.
        register: type of the fragment's registers.
        shift: zero bits below each code, which a load that unpacks elements leaves out.
    """

    def __init__(
        self, kernel: Lowering, form: MatrixMemory, value: Value, *, transposed: bool
    ) -> None:
        tile = fragment(value)
        element = narrow_element(tile.element)
        self.form = form
        self.call = kernel.call_of(form)
        self.rows = lane_rows(form, matrix_origins(form, tile, transposed=transposed))
        self.register = packing_of(value).type
        self.shift = element.shift if form.source is not None and element is not None else 0


class MatrixMoves:
    """Lowering of matrix loads and stores of one kernel."""

    def __init__(self, kernel: Lowering) -> None:
        self._kernel = kernel
        self._known: dict[tuple[ir.StringAttr, Type, bool], _Move] = {}

    def ldmatrix(self, op: LdmatrixOp, expansion: Expansion) -> list[Values]:
        """`tile.ldmatrix`."""
        move = self._move(op, Family.LDMATRIX, op.tile)
        address = self._address(move, op.source, expansion.one(op.source), op.indices)
        if not move.shift:
            return [self._kernel.call(move.call, [address], move.register)]
        loaded = self._kernel.call(move.call, [address])
        moved = [integer(arith.shli, word, move.shift) for word in loaded]
        return [[bitcast(word, move.register) for word in moved]]

    def stmatrix(self, op: StmatrixOp, expansion: Expansion) -> list[Values]:
        """`tile.stmatrix`."""
        move = self._move(op, Family.STMATRIX, op.tile)
        address = self._address(move, op.target, expansion.one(op.target), op.indices)
        self._kernel.call(move.call, [address, *expansion.values(op.tile)])
        return []

    def _move(self, op: LdmatrixOp | StmatrixOp, family: Family, value: Value) -> _Move:
        name, transposed = op.form, "transposed" in op.attributes
        key = name, value.type, transposed
        move = self._known.get(key)
        if move is None:
            form = matrix_form(name.value, family)
            move = self._known[key] = _Move(self._kernel, form, value, transposed=transposed)
        return move

    def _address(self, move: _Move, memref: Value, base: Value, indices: Sequence[Value]) -> Value:
        """The address of the row that this lane supplies."""
        type_ = memref_of(memref)
        buffer, shape = shared_buffer(type_), tuple(type_.shape)
        access = shared_access(self._kernel, base, buffer, indices, shape, move.rows, "lane")
        row = move.form.row_bytes // buffer.element_bytes
        if access.col.multiple % row == 0 and access.col.constant % row:
            raise TilecError(f"takes rows from a multiple of {row} elements on")
        return access.pointer((0, 0))

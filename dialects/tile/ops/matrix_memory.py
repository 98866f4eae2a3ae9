"""`tile.ldmatrix` and `tile.stmatrix`."""

from collections.abc import Sequence
from typing import Any

from tilec.isa import Family, MatrixMemory, TilecError
from tilec.mlir import ext, ir

from ..dialect import SharedAttr
from ..matrices import matrix_origins
from ..shared import shared_buffer
from .base import TileOp, form_of, fragment_of, memory
from .memory import check_access


def matrix_form(name: str, family: Family) -> MatrixMemory:
    """The form of `family` called `name`; raises TilecError if there is none."""
    found = form_of(name, family)
    assert isinstance(found, MatrixMemory)
    return found


def _check(op: Any, family: Family, value: Any, mem: Any, indices: Sequence[Any]) -> None:
    found = matrix_form(op.form.value, family)
    tile = fragment_of(value, "the fragment")
    type_ = memory(mem)
    transposed = "transposed" in op.attributes
    if not isinstance(type_.memory_space, SharedAttr):
        raise TilecError(f'memory must be in the space #tile.shared<"…">, not {type_}')
    check_access(tile, type_, indices, transposed=transposed)
    buffer = shared_buffer(type_)
    if not buffer.together(found.row_bytes // buffer.element_bytes):
        raise TilecError(f"{found.ptx} takes rows of {found.row_bytes} bytes whole, unlike {type_}")
    matrix_origins(found, tile, transposed=transposed)


class LdmatrixOp(TileOp, name="ldmatrix"):
    """A fragment from shared memory by one `ldmatrix`.

    Element (r, c) is `memory[…, i + r, j + c]`, or `memory[…, i + c, j + r]` with the unit
    attribute `transposed`. The fragment's layout must be the instruction's.
    """

    UNITS = frozenset({"transposed"})

    source: ext.Operand[Any]
    indices: Sequence[ext.Operand[Any]]
    form: ir.StringAttr
    tile: ext.Result[Any]

    def check(self) -> None:
        """Verify form, types and that the layout is the instruction's."""
        source, *indices = self.operands
        _check(self, Family.LDMATRIX, self.results[0], source, indices)


class StmatrixOp(TileOp, name="stmatrix"):
    """A fragment to shared memory by one `stmatrix`; the mirror of `tile.ldmatrix`."""

    UNITS = frozenset({"transposed"})

    tile: ext.Operand[Any]
    target: ext.Operand[Any]
    indices: Sequence[ext.Operand[Any]]
    form: ir.StringAttr

    def check(self) -> None:
        """Verify form, types and that the layout is the instruction's."""
        tile, target, *indices = self.operands
        _check(self, Family.STMATRIX, tile, target, indices)

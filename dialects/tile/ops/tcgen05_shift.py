"""`tile.tcgen05_shift`: rows of tensor memory moved by one. PTX ISA 9.7.16.9.1."""

from collections.abc import Sequence
from typing import Any

from tilec.dialects.semantics import Access, Scope, Semantics, Touch
from tilec.dialects.semantics.upstream import constant_of
from tilec.ir.mlir import ext, ir
from tilec.isa import TilecError

from ..tensor import check_matrix, tensor_buffer
from .base import check_indices, memory
from .tensor_memory import GroupedOp

_BITS = 256
"""Of each lane that one instruction moves."""
_QUARTER = 32


class Tcgen05ShiftOp(GroupedOp, name="tcgen05_shift"):
    """Move 32 bytes of each lane down by one row, of all rows but the last (`tcgen05.shift.down`).

    By one thread, asynchronous as a product is, and in order with those that the thread issues
    before and after it. The indices are those of the first element that is moved: its row is a
    multiple of 32, and eight columns of 32 bits follow. The ISA shows the direction in a picture
    alone: the simulator refuses the instruction, and the interpreter does not know it.
    """

    assembly_format = "$buffer `[` ranked($indices, $buffer) `]` attr-dict `:` type($buffer)"
    inferred_types = {"indices": "index"}

    SEMANTICS = Semantics(
        scope=Scope.ONE_THREAD,
        effects=(
            Touch(Access.READ, None, 0, asynchronous=True),
            Touch(Access.WRITE, None, 0, asynchronous=True),
        ),
    )

    buffer: ext.Operand[Any]
    indices: Sequence[ext.Operand[Any]]

    @property
    def mnemonic(self) -> str:
        """`tcgen05.shift`."""
        return f"tcgen05.shift.cta_group::{self.group}.down"

    def check(self) -> None:
        """Verify the group, the buffer and where it begins."""
        super().check()
        value, place = self.operands[0], list(self.operands)[1:]
        check_indices(place, memory(value, "buffer").rank, "the shift")
        buffer = tensor_buffer(value, "buffer")
        if buffer.held not in ("a", "d") or buffer.group != self.group:
            pair = " cta_group::2" * (self.group == 2)
            raise TilecError(
                f'{self.mnemonic} moves rows of #tile.tensor<"a{pair}"> or '
                f'#tile.tensor<"d{pair}">, not of {value.type}'
            )
        check_matrix(value, place)
        row, col = (constant_of(index) for index in place[-2:])
        width = _BITS // 32 * buffer.packed
        if row is None or row % _QUARTER or not 0 <= row < buffer.rows:
            raise TilecError(
                f"rows are moved from a constant multiple of {_QUARTER} below {buffer.rows} on"
            )
        if col is not None and not (col % buffer.packed == 0 <= col <= buffer.bank - width):
            raise TilecError(
                f"moves columns {col} to {col + width - 1} of {ir.MemRefType(value.type)}"
            )

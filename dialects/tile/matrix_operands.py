"""Matrices in shared memory as the operands of `wgmma` and `tcgen05`: which descriptor tells them.

What is true of one memref type and form is solved once, by `tilec.layout`; an op adds its indices.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import TYPE_CHECKING

from tilec.dialects.semantics.upstream import constant_of
from tilec.ir.aliases import Value
from tilec.ir.mlir import ir
from tilec.isa import Form, Operand, TilecError, form
from tilec.isa.wording import counted
from tilec.layout.descriptors import (
    DescribedOperand,
    SharedRead,
    indices,
    solve_descriptor,
    solve_read,
)
from tilec.layout.shared_matrix import Digit, SharedMatrix
from tilec.layout.swizzle import CHUNK_BYTES, SWIZZLES

from .dialect import SharedAttr
from .shared import SharedBuffer, shared_buffer
from .tiles import element_name

if TYPE_CHECKING:
    from tilec.isa.described_product import DescribedProduct

_CORE = 8
"""Rows after which a swizzle repeats."""


def is_in_memory(value: Value) -> bool:
    """Whether an operand is a memref."""
    return isinstance(value.type, ir.MemRefType)


@dataclass(frozen=True, slots=True)
class MatrixOperand:
    """A memref that an instruction reads an operand from.

    Attributes:
        name: of the operand.
        buffer: the memref's matrices.
        swizzle: of its space.
        described: the descriptor, but for where the operand starts.
        spans: matrices of the buffer that the operand lies in, and rows and columns of each.
    """

    name: str
    buffer: SharedBuffer
    swizzle: str
    described: DescribedOperand
    spans: tuple[int, int, int]

    def check(self, at: Sequence[Value]) -> None:
        """Check constant indices: where operands may start, and that they end inside.

        Raises:
            TilecError: saying where they may.
        """
        row, col = (constant_of(index) for index in at[-2:])
        matrices, rows, cols = self.spans
        if row is not None and row % _CORE:
            raise TilecError(
                f"operand {self.name} starts at row {row}; rows start at multiples of {_CORE}"
            )
        chunk = CHUNK_BYTES // self.buffer.element_bytes
        if col is not None and col % chunk:
            raise TilecError(
                f"operand {self.name} starts at column {col}; columns start at multiples of {chunk}"
            )
        for what, first, taken, there in (
            ("rows", row, rows, self.buffer.rows),
            ("columns", col, cols, self.buffer.cols),
        ):
            if first is not None and not 0 <= first <= there - taken:
                raise TilecError(
                    f"operand {self.name} takes {what} {first} to {first + taken - 1} of a matrix "
                    f"of {there}"
                )
        last = constant_of(at[-3]) if len(at) > 2 else None
        if matrices > self.buffer.count or (
            last is not None and len(at) == 3 and not 0 <= last <= self.buffer.count - matrices
        ):
            raise TilecError(
                f"operand {self.name} takes {counted(matrices, 'matrix', 'matrices')} from "
                f"{last or 0} on, of "
                f"{self.buffer.count}"
            )


def described_operand(found: Form, name: str, value: Value, *, transposed: bool) -> MatrixOperand:
    """How a form is told an operand that lies in a memref.

    Args:
        found: the form.
        name: `a` or `b`.
        value: the memref.
        transposed: whether its last dimension counts along M or N.

    Raises:
        TilecError: if it is none in shared memory, or no descriptor tells it.
    """
    buffer, swizzle = _swizzled(found.ptx, name, value)
    _check_element(found, found.operand(name), ir.MemRefType(value.type))
    return _solved(found.ptx, name, buffer, swizzle, transposed)


def tensor_operand(
    found: DescribedProduct, name: str, value: Value, *, transposed: bool
) -> MatrixOperand:
    """How a `tcgen05.mma` is told an operand that lies in a memref; arguments as before.

    Of a pair of CTAs each has its half of the rows of A and of the columns of B.

    Raises:
        TilecError: if it is none in shared memory, or no descriptor tells it.
    """
    buffer, swizzle = _swizzled(found.ptx, name, value)
    _check_element(found, found.operand(name), ir.MemRefType(value.type))
    return _solved_tensor(found, name, buffer, swizzle, transposed)


def copied_operand(what: str, rows: int, row_bytes: int, value: Value) -> MatrixOperand:
    """How a `tcgen05.cp` is told what it copies: rows of bytes.

    Args:
        what: the instruction.
        rows: of its source.
        row_bytes: bytes of a row.
        value: the memref.

    Raises:
        TilecError: if it is none in shared memory, or no descriptor tells it.
    """
    buffer, swizzle = _swizzled(what, "source", value)
    return _solved_copy(what, rows, row_bytes, buffer, swizzle)


def copied_image(what: str, value: Value) -> MatrixOperand:
    """How a `tcgen05.cp` of 32 rows of 16 bytes is told scale factors in its order.

    Args:
        what: the instruction.
        value: the memref, of a row for each row of factors (`tilec.dialects.tile.scale_images`).
    """
    buffer = shared_buffer(ir.MemRefType(value.type))
    return _solved_image(what, buffer)


def _swizzled(what: str, name: str, value: Value) -> tuple[SharedBuffer, str]:
    """The matrices of a memref in shared memory, and the swizzle that descriptors tell."""
    type_ = value.type
    if not isinstance(type_, ir.MemRefType) or not isinstance(type_.memory_space, SharedAttr):
        raise TilecError(f'operand {name} of {what} is a memref in #tile.shared<"…">, not {type_}')
    swizzle = type_.memory_space.swizzle.value
    buffer = shared_buffer(type_)
    if swizzle not in SWIZZLES:
        raise TilecError(
            f'operand {name} lies in #tile.shared<"{swizzle}">; descriptors support '
            f"{', '.join(SWIZZLES)}"
        )
    return buffer, swizzle


def _check_element(found: Form, operand: Operand, type_: ir.MemRefType) -> None:
    legal = [element_name(operand)]
    legal += ["f32"] if operand.type.name == "tf32" else []
    legal += ["i8"] if operand.type.bits <= 8 and legal != ["i8"] else []
    if str(type_.element_type) not in legal:
        raise TilecError(
            f"operand {operand.name} of {found.ptx} has elements of type {' or '.join(legal)}, not "
            f"{type_.element_type}"
        )


@lru_cache(maxsize=512)
def _solved(
    key: str, name: str, buffer: SharedBuffer, swizzle: str, transposed: bool
) -> MatrixOperand:
    found = form(key)
    operand = found.operand(name)
    along, _ = indices(name)
    extents = {"row": operand.rows, "col": operand.cols}
    read = SharedRead(key, name, extents, along, operand.type.bits, operand.type.bits == 16)
    return _matched(read, buffer, swizzle, transposed, partial(solve_descriptor, found, name))


@lru_cache(maxsize=512)
def _solved_tensor(
    found: DescribedProduct, name: str, buffer: SharedBuffer, swizzle: str, transposed: bool
) -> MatrixOperand:
    from tilec.isa.tensor_shapes import product_kind  # noqa: PLC0415 (for Blackwell only)

    operand = found.operand(name)
    along, k = indices(name)
    own = {"row": operand.rows, "col": operand.cols}
    extents = {along: own[along] // found.group, k: own[k]}
    turns = product_kind(found.descriptor.kind).transposes and operand.container < 32
    read = SharedRead(
        found.ptx, name, extents, along, operand.container, turns, "elements of 8 and 16 bits"
    )
    return _matched(read, buffer, swizzle, transposed, partial(solve_read, read))


@lru_cache(maxsize=64)
def _solved_copy(
    what: str, rows: int, row_bytes: int, buffer: SharedBuffer, swizzle: str
) -> MatrixOperand:
    per_byte = SharedBuffer(
        buffer.count, buffer.rows, buffer.cols * buffer.element_bytes, 1, buffer.layout
    )
    read = SharedRead(what, "source", {"row": rows, "col": row_bytes}, "row", 8, False)
    found = _matched(read, per_byte, swizzle, False, partial(solve_read, read))
    matrices, lines, width = found.spans
    return replace(found, buffer=buffer, spans=(matrices, lines, width // buffer.element_bytes))


@lru_cache(maxsize=64)
def _solved_image(what: str, buffer: SharedBuffer) -> MatrixOperand:
    rows, row_bytes = 32, CHUNK_BYTES
    plain = SharedBuffer(1, rows, row_bytes, 1, buffer.layout)
    read = SharedRead(what, "source", {"row": rows, "col": row_bytes}, "row", 8, False)
    found = _matched(read, plain, "none", False, partial(solve_read, read))
    return replace(found, buffer=buffer, spans=(1, buffer.rows, buffer.cols))


def _matched(
    read: SharedRead,
    buffer: SharedBuffer,
    swizzle: str,
    transposed: bool,
    solve: Callable[[SharedMatrix], DescribedOperand],
) -> MatrixOperand:
    """What is read, of the matrices of a buffer.

    Args:
        read: what an instruction reads at once.
        buffer: the matrices.
        swizzle: of each.
        transposed: whether their last dimension counts along M or N.
        solve: gives the descriptor of a matrix.

    Raises:
        TilecError: if none tells it.
    """
    contiguous, lines = (read.along, read.k) if transposed else (read.k, read.along)
    per_byte = max(1, 8 // read.bits)
    cols, width = buffer.cols * per_byte, read.extents[contiguous]
    row_bits = buffer.cols * buffer.element_bytes * 8
    if read.extents[lines] > buffer.rows:
        raise TilecError(
            f"operand {read.name} of {read.what} has {read.extents[lines]} {lines}s, more than the "
            f"{buffer.rows} rows of the memref's matrices"
        )
    matrices = -(-width // cols)
    if width > cols and width % cols and not transposed:
        raise TilecError(
            f"operand {read.name} of {read.what} is {width} wide, not a whole number of matrices "
            f"of "
            f"{cols}"
        )
    digits = [
        Digit(contiguous, min(width, cols), read.bits),
        Digit(lines, read.extents[lines], row_bits),
    ]
    if matrices > 1:
        digits.append(Digit(contiguous, matrices, buffer.matrix_bytes * 8))
    matrix = SharedMatrix(read.bits, tuple(digits), SWIZZLES[swizzle])
    taken = (matrices, read.extents[lines], min(width, cols) // per_byte)
    return MatrixOperand(read.name, buffer, swizzle, solve(matrix), taken)

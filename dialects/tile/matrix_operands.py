"""Matrices in shared memory as the operands of `wgmma`: which descriptor tells them.

What is true of one memref type and form is solved once, by `tilec.layout`; an op adds its indices.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from tilec.dialects.semantics.upstream import constant_of
from tilec.ir.aliases import Value
from tilec.ir.mlir import ir
from tilec.isa import Form, TilecError, form
from tilec.isa.wording import counted
from tilec.layout.descriptors import DescribedOperand, indices, solve_descriptor
from tilec.layout.shared_matrix import Digit, SharedMatrix
from tilec.layout.swizzle import CHUNK_BYTES, SWIZZLES

from .dialect import SharedAttr
from .shared import SharedBuffer, shared_buffer
from .tiles import element_name

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
    type_ = value.type
    if not isinstance(type_, ir.MemRefType) or not isinstance(type_.memory_space, SharedAttr):
        raise TilecError(
            f'operand {name} of {found.ptx} is a memref in #tile.shared<"…">, not {type_}'
        )
    buffer = shared_buffer(type_)
    swizzle = type_.memory_space.swizzle.value
    _check_element(found, name, type_)
    if swizzle not in SWIZZLES:
        raise TilecError(
            f'operand {name} lies in #tile.shared<"{swizzle}">; descriptors tell '
            f"{', '.join(SWIZZLES)}"
        )
    return _solved(found.ptx, name, buffer, swizzle, transposed)


def _check_element(found: Form, name: str, type_: ir.MemRefType) -> None:
    operand = found.operand(name)
    legal = [element_name(operand)]
    legal += ["f32"] if operand.type.name == "tf32" else []
    legal += ["i8"] if operand.type.bits <= 8 and legal != ["i8"] else []
    if str(type_.element_type) not in legal:
        raise TilecError(
            f"operand {name} of {found.ptx} has elements of type {' or '.join(legal)}, not "
            f"{type_.element_type}"
        )


@lru_cache(maxsize=512)
def _solved(
    key: str, name: str, buffer: SharedBuffer, swizzle: str, transposed: bool
) -> MatrixOperand:
    found = form(key)
    operand = found.operand(name)
    along, k = indices(name)
    extents = {"row": operand.rows, "col": operand.cols}
    contiguous, lines = (along, k) if transposed else (k, along)
    per_byte = max(1, 8 // operand.type.bits)
    cols, width = buffer.cols * per_byte, extents[contiguous]
    row_bits = buffer.cols * buffer.element_bytes * 8
    if extents[lines] > buffer.rows:
        raise TilecError(
            f"operand {name} of {key} has {extents[lines]} {lines}s, more than the {buffer.rows} "
            "rows of the memref's matrices"
        )
    matrices = -(-width // cols)
    if width > cols and width % cols and not transposed:
        raise TilecError(
            f"operand {name} of {key} is {width} wide, no whole number of matrices of {cols}"
        )
    digits = [
        Digit(contiguous, min(width, cols), operand.type.bits),
        Digit(lines, extents[lines], row_bits),
    ]
    if matrices > 1:
        digits.append(Digit(contiguous, matrices, buffer.matrix_bytes * 8))
    matrix = SharedMatrix(operand.type.bits, tuple(digits), SWIZZLES[swizzle])
    described = solve_descriptor(found, name, matrix)
    taken = (matrices, extents[lines], min(width, cols) // per_byte)
    return MatrixOperand(name, buffer, swizzle, described, taken)

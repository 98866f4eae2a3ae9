"""Operands of which an `mma` reads some lanes or bytes, as its selectors say.

A register of sparsity metadata or of scale factors has room for more than one `mma`: the
selectors are outputs of the layout like row and column, so a lane's element is used where it
lies at the selectors' values.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from tilec.isa import Form, Operand

from .linear import LayoutError, LinearLayout

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Index = TypeVar("Index", int, "NDArray[np.intp]")


def _powers(first: int, end: int) -> list[int]:
    """The powers of two from `first` up to but without `end`."""
    return [1 << bit for bit in range(first.bit_length() - 1, end.bit_length() - 1)]


def metadata(form: Form) -> LinearLayout:
    """The codes of a sparse A: (register, lane) -> (row, col, selector), a bijection.

    `register` counts the eight 4-bit codes of a lane's register, `col` those of a row of A. Of a
    warpgroup (register, lane, warp) -> …: each warp has the codes of the rows of A and D that are
    its own. PTX ISA 9.7.14.6.1, 9.7.15.6.1.
    """
    if form.sparsity is None:
        raise LayoutError(f"{form.ptx} is dense: it has no metadata")
    operand = form.operand("e")
    # A word holds four codes of row g and of row g + 8, or eight of one row.
    both_rows = form.operand("a").container >= 16
    in_register = 4 if both_rows else 8
    high_row = [(8, 0, 0)]
    registers = [(0, c, 0) for c in _powers(1, in_register)] + high_row * both_rows
    lanes = high_row * (not both_rows)
    lanes += [(0, c, 0) for c in _powers(in_register, operand.cols)]
    lanes += [(0, 0, s) for s in _powers(1, len(form.sparsity.selectors))]
    lanes += [(1, 0, 0), (2, 0, 0), (4, 0, 0)]
    bases = {"register": registers, "lane": lanes}
    if operand.rows > 16:
        bases["warp"] = [(row, 0, 0) for row in _powers(16, operand.rows)]
    return LinearLayout.of(
        bases,
        {"row": operand.rows, "col": operand.cols, "selector": len(form.sparsity.selectors)},
    )


def scale_factors(form: Form, operand: Operand) -> LinearLayout:
    """The scale factors of A or of B: (register, lane) -> (row, col, byte id, thread id).

    `register` counts the bytes of a lane's register; the ids are named as the form's selectors
    are. Injective; a byte id that is not legal has no lane. PTX ISA 9.7.14.3.
    """
    if form.scaling is None:
        raise LayoutError(f"{form.ptx} is not block-scaled: it has no scale factors")
    side, chunks = operand.name[-1], form.scaling.chunks
    outer, inner = ("row", "col") if side == "a" else ("col", "row")
    extents = {"row": operand.rows, "col": operand.cols}
    byte_id, thread_id = f"byte_id_{side}", f"thread_id_{side}"
    # Places are (outer, inner, byte id, thread id); byte b is chunk b - byte id.
    registers = [(0, b, 0, 0) if b < chunks else (0, 0, b, 0) for b in (1, 2)]
    high = [(o, 0, 0, 0) for o in _powers(8, extents[outer])]
    # Eight rows take one lane of each group of four, sixteen take two.
    threads = 4 * 8 // extents[outer]
    lanes = high + [(0, 0, 0, t) for t in _powers(1, threads)]
    lanes += [(1, 0, 0, 0), (2, 0, 0, 0), (4, 0, 0, 0)]
    layout = LinearLayout.of(
        {"register": registers, "lane": lanes},
        {
            outer: extents[outer],
            inner: chunks,
            byte_id: 1 if chunks == 4 else 4,
            thread_id: threads,
        },
    )
    return layout.reorder(("register", "lane"), ("row", "col", byte_id, thread_id))


def logical_column(form: Form, code: Index, column: Index) -> Index:
    """Where a stored element of a sparse A stands in the product.

    Args:
        form: a sparse form.
        code: the 4-bit code of the chunk that the element belongs to, code number
            `column // (elements stored of a chunk)` of its row.
        column: its column as stored.

    Returns:
        Its logical column; integers and numpy arrays alike.
    """
    if form.sparsity is None:
        raise LayoutError(f"{form.ptx} is dense: its columns are those of the stored matrix")
    return logical_place(form.sparsity.chunk, code, column)


def logical_place(chunk: int, code: Index, column: Index) -> Index:
    """The same by the columns that a code is of: 2, 4 or 8."""
    if chunk == 2:
        # 1:2, told as two halves of a word each: 0b0100 is the first, 0b1110 the second
        return 2 * column + (code >> 1 & 1)
    run = chunk // 4  # elements that an index of the code moves together
    stored = 2 * run
    index = code >> 2 * (column // run % 2) & 3
    return chunk * (column // stored) + run * index + column % run

"""Where the operands of `tcgen05.mma` lie in tensor memory. PTX ISA 9.7.16.10.5, 9.7.16.10.7.

Tensor memory is one more space: 128 lanes of 512 columns of 32 bits, of every CTA. An operand is a
linear map from its indices to (cta, lane, column), lane and column counted from its address. An
extent need not be a power of two: a matrix whose columns are split between banks of lanes is split
at its own width, and the map is that of a bank.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from tilec.isa.tensor_memory import LANES, CopyShape
from tilec.isa.tensor_shapes import banks

from .linear import LayoutError, LinearLayout

Indices = NDArray[np.int64]
SCALE_ROWS = 128
"""Rows of A or columns of B whose scale factors, four of each, a copy brings at once."""
_identity = LinearLayout.identity


@dataclass(frozen=True, slots=True)
class TensorLayout:
    """A matrix in tensor memory.

    Attributes:
        rows, cols: its extents.
        width: columns of the matrix in a bank of lanes.
        layout: (row, bank, col) -> (cta, lane, column), `col` within the bank.
    """

    rows: int
    cols: int
    width: int
    layout: LinearLayout

    def places(self) -> tuple[Indices, Indices, Indices]:
        """CTA of the pair, lane and column of every element, (rows, cols) each."""
        row = np.arange(self.rows)[:, None]
        bank, col = np.divmod(np.arange(self.cols), self.width)
        found = self.layout(row=row, bank=bank, col=col)
        cta, lane, column = (np.broadcast_to(one, (self.rows, self.cols)) for one in found)
        return np.asarray(cta), np.asarray(lane), np.asarray(column)

    def place(self, row: int, col: int) -> tuple[int, int, int]:
        """CTA, lane and column of an element.

        Raises:
            LayoutError: if there is none.
        """
        if not (0 <= row < self.rows and 0 <= col < self.cols):
            raise LayoutError(f"no element {row},{col} in {self.rows}×{self.cols}")
        bank, inside = divmod(col, self.width)
        cta, lane, column = self.layout(row=row, bank=bank, col=inside)
        return cta, lane, column

    def held(self, cta: int, lane: int) -> Iterator[tuple[int, tuple[int, int]]]:
        """Columns of a lane, and the element in each, in ascending order."""
        ctas, lanes, columns = self.places()
        hit = np.argwhere((ctas == cta) & (lanes == lane))
        found = [(int(columns[r, c]), (r, c)) for r, c in hit.tolist()]
        yield from sorted(found)

    @property
    def columns(self) -> int:
        """Columns of tensor memory that it takes."""
        return self.width

    @property
    def ctas(self) -> int:
        """CTAs that have a part of it."""
        return self.layout.out_sizes["cta"]


def _bits(extent: int) -> int:
    """The power of two that an extent is rounded up to."""
    return 1 << (extent - 1).bit_length() if extent > 1 else 1


def layout_name(m: int, group: int, *, stationary: bool = False, sparse: bool = False) -> str:
    """The letter by which the ISA calls the data path layout of D.

    Args:
        m: rows of D, of both CTAs together.
        group: CTAs that take part, 1 or 2.
        stationary: whether it is `.ws`.
        sparse: whether A is sparse.

    Raises:
        LayoutError: if there is none.
    """
    if group == 2:
        found = {256: "A", 128: "C" if sparse else "B"}.get(m)
    elif stationary:
        found = {128: "D", 64: "E", 32: "G"}.get(m)
    else:
        found = {128: "D", 64: "F"}.get(m)
    if found is None:
        raise LayoutError(f"tcgen05.mma has no D of {m} rows with cta_group::{group}")
    return found


@lru_cache(maxsize=256)
def accumulator(
    m: int, n: int, group: int = 1, *, stationary: bool = False, sparse: bool = False
) -> TensorLayout:
    """D: a column of 32 bits an element, of whatever type; arguments as of `layout_name`.

    Raises:
        LayoutError: if there is no such D.
    """
    name = layout_name(m, group, stationary=stationary, sparse=sparse)
    count = banks(m, group, stationary=stationary, sparse=sparse)
    width = n // count
    return TensorLayout(m, n, width, _rows(name, count) * _identity(_bits(width), "col", "column"))


def _rows(name: str, count: int) -> LinearLayout:
    """(row, bank) -> (cta, lane) of a layout of the ISA's."""
    ones = LinearLayout.empty(outs=("cta", "lane", "column"))
    match name:
        case "D":
            rows = _identity(LANES, "row", "lane")
        case "A":
            rows = _identity(LANES, "row", "lane") * _identity(2, "row", "cta")
        case "F" | "C":
            # Sixteen rows to a quarter of the lanes, of which the other half is left.
            rows = LinearLayout.of(
                {"row": [(n if n < 16 else 2 * n,) for n in (1, 2, 4, 8, 16, 32)]}, {"lane": LANES}
            )
            if name == "C":
                rows *= _identity(2, "row", "cta")
        case "B":
            rows = _identity(64, "row", "lane") * _identity(2, "row", "cta")
        case "E":
            rows = _identity(64, "row", "lane")
        case _:
            rows = _identity(32, "row", "lane")
    whole = rows * _identity(count, "bank", "lane") * ones
    return whole.reorder(("row", "bank"), ("cta", "lane", "column"))


@lru_cache(maxsize=256)
def left_operand(
    m: int,
    k: int,
    container: int,
    group: int = 1,
    *,
    stationary: bool = False,
    sparse: bool = False,
) -> tuple[TensorLayout, int]:
    """A: rows as those of D, elements packed along K, the first in the low bits.

    Args:
        m: rows, of both CTAs together.
        k: columns, of a sparse A as stored.
        container: bits that an element takes.
        group: CTAs that take part.
        stationary: whether it is `.ws`.
        sparse: whether it is sparse.

    Returns:
        Where each column of 32 bits lies, `col` counting those, and elements in one. Where D has
        several banks of lanes, A stands in each: the layout is of the first.
    """
    packed = 32 // container
    columns = k // packed
    name = layout_name(m, group, stationary=stationary, sparse=sparse)
    rows = _rows(name, 1)
    return TensorLayout(
        m, columns, columns, rows * _identity(_bits(columns), "col", "column")
    ), packed


def scale_rows(name: str, m: int, n: int, group: int) -> tuple[int, int]:
    """Rows of scale factors that stand together in a CTA, and parts of the lanes with such rows.

    Of A a CTA has those of its own rows. Of B each has all, of a pair with M = 128 in two halves of
    the lanes, a half of the columns in each.

    Args:
        name: `sfa` or `sfb`.
        m: rows of D, of both CTAs together.
        n: columns of D.
        group: CTAs that take part.
    """
    if name == "sfa":
        return m // group, 1
    parts = 2 if group == 2 and m == LANES else 1
    return n // parts, parts


@lru_cache(maxsize=64)
def scale_factors(rows: int) -> LinearLayout:
    """Scale factors of rows of A or columns of B, four consecutive ones of a row in a column.

    They stand in each quarter of the lanes: the layout is of the first. An instruction takes 1, 2
    or 4 of them, from the byte on that its descriptor says. `scale_rows` says how many rows.

    Args:
        rows: rows of A or columns of B, in whole 32s.

    Returns:
        (row, scale) -> (lane, column, byte).
    """
    layout = (
        _identity(32, "row", "lane")
        * _identity(_bits(-(-rows // 32)), "row", "column")
        * _identity(4, "scale", "byte")
    )
    return layout.reorder(("row", "scale"), ("lane", "column", "byte"))


@lru_cache(maxsize=64)
def scale_image(rows: int) -> LinearLayout:
    """Scale factors in shared memory as `tcgen05.cp.32x128b.warpx4` copies them, four of each row.

    Pieces of 512 bytes are those of 128 rows: factor j of row r is byte 16·(r mod 32) +
    4·(r / 32) + j. PTX ISA 9.7.16.10.7; it is cuBLAS's order, too.

    Args:
        rows: rows of A or columns of B, a power of two, in whole pieces.

    Returns:
        (offset) -> (row, col).

    Raises:
        LayoutError: for other rows.
    """
    if rows % SCALE_ROWS or rows & (rows - 1):
        raise LayoutError(f"{rows} rows are no power of two of pieces of {SCALE_ROWS}")
    above = [[1 << bit, 0] for bit in range(7, rows.bit_length() - 1)]
    inside = [[0, 1], [0, 2], [32, 0], [64, 0], *([1 << bit, 0] for bit in range(5))]
    return LinearLayout.of({"offset": [*inside, *above]}, {"row": rows, "col": 4})


@lru_cache(maxsize=64)
def scale_columns(rows: int, *, halves: bool = False) -> TensorLayout:
    """The columns of `scale_factors`: of each row one, in the first quarter of the lanes.

    Args:
        rows: rows of A or columns of B.
        halves: whether the second half of the rows stands in the other half of the lanes, as those
            of B do for a pair of CTAs with M = 128.

    Raises:
        LayoutError: if they are not whole 32s, or not a power of two of them in halves.
    """
    if rows % 32:
        raise LayoutError(f"scale factors are of a multiple of 32 rows, not of {rows}")
    if halves and (rows < 64 or rows & (rows - 1)):
        raise LayoutError(f"scale factors in halves are of 64, 128 or 256 rows, not of {rows}")
    columns = rows // 64 if halves else rows // 32
    bits = _bits(columns).bit_length() - 1
    lanes = [(0, 1 << bit, 0) for bit in range(5)]
    places = [*lanes, *((0, 0, 1 << bit) for bit in range(bits))]
    places += [(0, LANES // 2, 0)] * halves
    outs = {"cta": 1, "lane": LANES if halves else 32, "column": 1 << bits}
    return TensorLayout(
        rows, 1, columns, LinearLayout.of({"row": places, "bank": [], "col": []}, outs)
    )


@lru_cache(maxsize=8)
def metadata(bits: int) -> LinearLayout:
    """Sparsity metadata of 128 rows of A: codes of 4 bits, one a chunk. PTX ISA 9.7.16.10.8.4.

    Where M is 64 the ISA has pictures only.

    Args:
        bits: of an element of A as stored in shared memory: 4, 8, 16 or 32.

    Returns:
        (row, col) -> (lane, column, nibble), `col` counting chunks of a row.
    """
    if bits >= 16:
        # Eight rows share a lane's halves with the eight below them.
        layout = (
            _identity(8, "row", "lane")
            * _identity(4, "col", "nibble")
            * _identity(2, "row", "nibble")
            * _identity(2, "col", "lane")
            * _identity(8, "row", "lane")
            * LinearLayout.empty(outs=("column",))
        )
    else:
        layout = (
            _identity(LANES, "row", "lane")
            * _identity(8, "col", "nibble")
            * _identity(2, "col", "column")
        )
    return layout.reorder(("row", "col"), ("lane", "column", "nibble"))


_QUARTER = 32
"""Lanes that a warp reaches."""


def copied(shape: CopyShape) -> Indices:
    """Lanes that each row of a `tcgen05.cp` goes to, (copies, rows). PTX ISA 9.7.16.9.2.

    Of four rows the ISA has a picture only, read here as one for each warp's quarter of the lanes.
    """
    row = np.arange(shape.rows)
    if shape.rows < _QUARTER:
        return _QUARTER * row[None, :]
    match shape.cast:
        case "warpx4":
            return row + 32 * np.arange(4)[:, None]
        case "warpx2::02_13":
            return row + 64 * np.arange(2)[:, None]
        case "warpx2::01_23":
            return row + 32 * (row // 32) + 32 * np.arange(2)[:, None]
    return row[None, :]

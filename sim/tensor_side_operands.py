"""What goes with A and B of `tcgen05.mma`: scale factors, sparsity metadata, a mask of columns.

PTX ISA 9.7.16.10.7 to 9.7.16.10.9.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from tilec.isa import TilecError
from tilec.isa.described_product import DescribedProduct
from tilec.isa.tensor_memory import LANES
from tilec.isa.wording import counted
from tilec.isa.zero_columns import ZeroColumns
from tilec.layout.tensor_memory import metadata, scale_factors, scale_rows

from .alu import Array
from .checks.in_flight import Thread
from .tensor.elements import element_bits
from .tensor.elements import unpacked as values_of
from .tensor_operands import Values
from .tensor_places import Place, TensorPlaces

_WORD = 4
"""Bytes of a column."""
_HALF = LANES // 2


def read_scales(
    places: TensorPlaces,
    form: DescribedProduct,
    name: str,
    place: Place,
    thread: Thread,
    ctas: Sequence[int],
) -> Values:
    """Scale factors that each CTA has of A or B, (CTAs, rows of A or columns of B, chunks).

    Args:
        places: of the instruction.
        form: its product.
        name: `sfa` or `sfb`.
        place: the operand's address.
        thread: who executes it.
        ctas: those that take part.

    Raises:
        TilecError: if a column has no room for them, or they are where nothing is.
    """
    operand, descriptor = form.operand(name), form.descriptor
    chunks = operand.cols if name == "sfa" else operand.rows
    first = descriptor.sfa_id if name == "sfa" else descriptor.sfb_id
    if first + chunks > _WORD:
        raise TilecError(f"byte {first} of {name} leaves no room for {chunks}")
    rows, parts = scale_rows(name, form.shape.m, form.shape.n, form.group)
    row = np.arange(rows * parts)[:, None]
    found = scale_factors(rows)(row=row % rows, scale=first + np.arange(chunks))
    cta = np.arange(len(ctas))[:, None, None]
    shape = (len(ctas), rows * parts, chunks)
    # The second half of the rows, where there is one, stands in the other half of the lanes.
    lane = found[0] + _HALF * (row // rows)
    homes, lanes, columns, byte = (
        np.asarray(np.broadcast_to(one, shape)) for one in (cta, lane, found[1], found[2])
    )
    words = places.read(name, place, thread, ctas, (homes, lanes, columns))
    codes = words >> (8 * byte).astype(np.uint32) & 0xFF
    return values_of(operand.type, codes & ((1 << element_bits(operand.type)) - 1))


def read_metadata(
    places: TensorPlaces,
    form: DescribedProduct,
    place: Place,
    thread: Thread,
    ctas: Sequence[int],
) -> NDArray[np.intp]:
    """The code of every chunk of A, (m, chunks); arguments as of `read_scales`.

    Raises:
        TilecError: if where they stand is not published, or nothing is there.
    """
    rows = form.shape.m // len(ctas)
    _check_published(form, rows)
    _, column = places.at(place, thread)
    if column % 2:
        raise TilecError(f"its metadata begin in column {column}; legal: an even one")
    layout = metadata(form.operand("a").container)
    row = np.arange(form.shape.m)[:, None]
    found = layout(row=row % rows, col=np.arange(layout.in_sizes["col"]))
    shape = (form.shape.m, layout.in_sizes["col"])
    homes, lanes, columns, nibble = (
        np.asarray(np.broadcast_to(one, shape)) for one in (row // rows, *found)
    )
    words = places.read(
        "metadata", place, thread, ctas, (homes, lanes, columns + form.descriptor.selector)
    )
    codes: Array = words >> (4 * nibble).astype(np.uint32) & 0xF
    return codes.astype(np.intp)


def _check_published(form: DescribedProduct, rows: int) -> None:
    if rows == _HALF and not form.stationary:
        raise TilecError(
            "metadata of 64 rows of a CTA are published only as a picture, so they are not "
            "simulated"
        )
    selector = form.descriptor.selector
    if selector > 1:
        raise TilecError(
            f"the position of metadata of selector {selector} is published only as a picture, so "
            f"it is not simulated; legal: 0, 1"
        )


def zero_columns(word: int) -> ZeroColumns:
    """What the mask of a `.ws` says of the columns of B.

    Raises:
        TilecError: if it says nothing, or moves columns: which follow the last is not published.
    """
    found = ZeroColumns.decode(word)
    if found.shift:
        raise TilecError(
            f"its mask moves B by {counted(found.shift, 'column')}, which is not simulated: what "
            "follows the last column is not published"
        )
    return found

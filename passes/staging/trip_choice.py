"""Which trip through shared memory a conversion of layouts takes, by which instructions.

One answer for the pass that makes the trip and for those that ask beforehand what it costs.
"""

from __future__ import annotations

from typing import NamedTuple

from tilec.dialects.tile.dialect import SharedAttr
from tilec.dialects.tile.ops.memory import NO_MATRICES
from tilec.dialects.tile.shared import shared_buffer
from tilec.dialects.tile.stored import stored_elements
from tilec.dialects.tile.tiles import Element, TileValue, bits_of
from tilec.ir.mlir import ir
from tilec.isa import Target
from tilec.layout import LinearLayout
from tilec.layout.access import Access
from tilec.layout.conversion import convert
from tilec.layout.plans import SharedTrip

from ..fragments.fragment_types import FragmentTypes
from ..fragments.matrix_moves import matrix_moves
from ..layouts.conversion_choice import Trip, choose_conversion

_BYTE = 8


class ChosenTrip(NamedTuple):
    """A trip as it is made.

    Attributes:
        plan: how the elements go, and what that costs.
        buffer_type: the type of the buffer that they go through.
        forms: of the store and of the load, the matrix instruction, or that there is none.
    """

    plan: SharedTrip
    buffer_type: ir.MemRefType
    forms: tuple[str, str]


def choose_trip(
    trip: Trip, element: Element, target: Target | None, types: FragmentTypes
) -> ChosenTrip:
    """The plan of a trip, its buffer, and the forms that store and load.

    That is the cheapest whose matrix instructions move the fragments that the tile is taken apart
    into; where there is none, the cheapest with plain accesses instead.

    Args:
        trip: the plans there are.
        element: the elements' type, of a byte or more.
        target: whose matrix instructions may be used.
        types: the fragments of the kernel's tiles.
    """
    found = []
    for plan in trip.plans:
        type_ = _buffer_type(trip.shape, element, plan)
        store = _form(plan.store, trip.source, type_, element, target, types)
        load = _form(plan.load, trip.result, type_, element, target, types)
        if store is not None and load is not None:
            return ChosenTrip(plan, type_, (store, load))
        found.append(ChosenTrip(plan, type_, (store or NO_MATRICES, load or NO_MATRICES)))
    return found[0]


def conversion_cost(
    source: LinearLayout,
    result: LinearLayout,
    element: Element,
    target: Target | None,
    types: FragmentTypes,
) -> int:
    """What `tile-stage-conversions` will say that a conversion costs.

    Args:
        source: (register, lane, warp) -> place, of what there is.
        result: the layout wanted.
        element: the elements' type.
        target: whose matrix instructions may be used.
        types: the fragments of the kernel's tiles.

    Raises:
        LayoutError: if there is no way.
    """
    conversion = choose_conversion(source, result, bits_of(element), target)
    bits = max(bits_of(element), _BYTE) if conversion.as_bytes else bits_of(element)
    if conversion.trip is None:
        return convert(source, result, bits, target).price.total
    stored = ir.IntegerType.get_signless(_BYTE) if conversion.as_bytes else element
    return choose_trip(conversion.trip, stored, target, types).plan.price.total


def _buffer_type(shape: tuple[int, int], element: Element, plan: SharedTrip) -> ir.MemRefType:
    row_major = plan.order == ("col", "row")
    text = str(plan.swizzle if plan.swizzle is not None and row_major else plan.shared)
    space = SharedAttr.get(ir.StringAttr.get(text))
    stored = ir.Type.parse(stored_elements(element)[0])
    return ir.MemRefType.get(list(shape), stored, memory_space=space)


def _form(
    access: Access,
    layout: LinearLayout,
    buffer_type: ir.MemRefType,
    element: Element,
    target: Target | None,
    types: FragmentTypes,
) -> str | None:
    """The form of the op that makes an access; None if that takes the tile apart otherwise."""
    if access.form is None:
        return NO_MATRICES
    tile = TileValue(tuple(layout.out_sizes.values()), element, layout, is_fragment=False)
    moves = matrix_moves(tile, types.parts(tile), target, store=access.store, transposed=False)
    buffer = shared_buffer(buffer_type)
    legal = [move.form.ptx for move in moves if move.finds_rows(buffer)]
    return access.form.ptx if access.form.ptx in legal else None

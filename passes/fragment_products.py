"""`tile.dot` as the `tile.mma` of its fragments."""

from __future__ import annotations

from typing import Any

from tilec.dialects.tile.ops.mma import dense_form, repetition
from tilec.dialects.tile.tiles import element_name, frag_type
from tilec.isa import Mma
from tilec.layout import LinearLayout, fragment
from tilec.mlir import ir

from .emit import create
from .expansion import Expansion, Values
from .fragment_types import FragmentTypes
from .parts import cut, join


class FragmentProducts:
    """Dots of one kernel."""

    def __init__(self, types: FragmentTypes) -> None:
        self._types = types

    def dot(self, op: Any, expansion: Expansion) -> list[Values]:
        """`tile.dot`: an instruction for each fragment of C and each step along K."""
        form = dense_form(op.attributes["form"].value)
        tiles = {}
        for name, value in zip("abc", op.operands, strict=True):
            tile = self._types.tile(value.type)
            assert tile is not None
            tiles[name] = repetition(form, name, tile)
        held = {
            name: _joined(expansion.values(value), form, name, tiles[name].in_sizes["register"])
            for name, value in zip("abc", op.operands, strict=True)
        }
        a, b = (
            {place(q, p): p for p in range(q.in_sizes["register"])}
            for q in (tiles["a"], tiles["b"])
        )
        accumulators = held["c"]
        attribute = op.attributes["form"]
        # K outermost: neighbouring instructions do not wait for each other's accumulator.
        for k in range(tiles["a"].out_sizes["col"]):
            for part, accumulator in enumerate(accumulators):
                row, col = place(tiles["c"], part)
                operands = [held["a"][a[row, k]], held["b"][b[k, col]], accumulator]
                accumulators[part] = create("tile.mma", operands, accumulator.type, form=attribute)
        types = self._types.of(op.results[0].type) or []
        size = len(types) // len(accumulators)
        return [[p for whole in accumulators for p in cut(whole, size, types[0])]]


def place(layout: LinearLayout, part: int) -> tuple[int, int]:
    """Row and column, in fragments, of part number `part`."""
    row, col = layout(register=part)
    return row, col


def _joined(values: Values, form: Mma, name: str, count: int) -> Values:
    """The `count` fragments of operand `name` from their parts (see `FragmentTypes`)."""
    size = len(values) // count
    if size == 1:
        return list(values)
    layout = fragment(form, name)
    element = ir.Type.parse(element_name(form.operand(name)))
    whole = frag_type(tuple(layout.out_sizes.values()), element, layout)
    return [join(values[at : at + size], whole) for at in range(0, len(values), size)]

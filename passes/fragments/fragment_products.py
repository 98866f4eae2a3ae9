"""Products of tiles as the instructions of their fragments."""

from __future__ import annotations

from collections.abc import Mapping

from tilec.dialects.tile.dots import DOTS, extents, repetition, selectors, steps, unit_of
from tilec.dialects.tile.ops.dots import dot_form, dot_values
from tilec.dialects.tile.tiles import TileValue, element_name, element_of, frag_type
from tilec.ir.aliases import Value
from tilec.ir.attributes import i64_attribute
from tilec.ir.creation import create
from tilec.ir.mlir import ir
from tilec.isa import Mma
from tilec.layout import LinearLayout
from tilec.layout.linear import places
from tilec.layout.operands import INDICES

from .expansion import Expansion, Handler, Values
from .fragment_types import FragmentTypes
from .parts import cut, join


class FragmentProducts:
    """Dots of one kernel."""

    def __init__(self, types: FragmentTypes) -> None:
        self._types = types

    def handlers(self) -> dict[str, Handler]:
        """By op name."""
        return dict.fromkeys(DOTS, self._dot)

    def _dot(self, op: ir.OpView, expansion: Expansion) -> list[Values]:
        """An instruction for each fragment of C and each step along K."""
        form, values = dot_form(op), dot_values(op)
        tiles = {name: self._tile(value) for name, value in values.items()}
        dot = DOTS[op.operation.name]
        names, instruction = dot.operands, dot.instruction
        operands = {
            name: _Fragments(form, name, tiles[name], expansion.values(values[name]))
            for name in names
        }
        served = {name: operands[name].steps for name in names}
        counts = extents(form, tiles)
        selects = bool(selectors(form, dict.fromkeys(counts, 0), served))
        accumulators = operands["c"].values
        fixed = {"form": op.attributes["form"]}
        # K outermost: neighbouring instructions do not wait for each other's accumulator.
        for k in range(counts["k"]):
            for part, accumulator in enumerate(accumulators):
                m, n = operands["c"].places[part]
                at = {"m": m, "n": n, "k": k}
                taken = [accumulator if i == "c" else operands[i].at(at) for i in names]
                if selects:
                    chosen = selectors(form, at, served).items()
                    fixed |= {i: i64_attribute(v) for i, v in chosen}
                accumulators[part] = create(instruction, taken, accumulator.type, **fixed)
        types = self._types.of(op.results[0].type) or []
        size = len(types) // len(accumulators)
        return [[p for whole in accumulators for p in cut(whole, size, types[0])]]

    def _tile(self, value: Value) -> TileValue:
        tile = self._types.tile(value.type)
        assert tile is not None
        return tile


class _Fragments:
    """The fragments of one operand that a warp holds.

    Attributes:
        values: in the order of the tile's registers.
        places: row and column of each, counted in fragments.
        steps: for how many instructions each serves, by index.
    """

    def __init__(self, form: Mma, name: str, tile: TileValue, values: Values) -> None:
        repeats = repetition(form, name, tile)
        count = repeats.in_size("register")
        unit = unit_of(form, name, tile.layout)
        self.values = _joined(values, form, name, unit, count)
        self.steps = steps(form, name, unit)
        self._along = tuple(INDICES[name])
        self.places = places(repeats, "register")
        self._parts = {self.places[part]: part for part in reversed(range(count))}

    def at(self, at: Mapping[str, int]) -> Value:
        """The fragment for the instruction number `at` along `m`, `n` and `k`."""
        row, col = self._along
        return self.values[self._parts[at[row] // self.steps[row], at[col] // self.steps[col]]]


def _joined(values: Values, form: Mma, name: str, unit: LinearLayout, count: int) -> Values:
    """The `count` fragments of operand `name` from their parts (see `FragmentTypes`)."""
    size = len(values) // count
    if size == 1:
        return list(values)
    element = element_of(ir.Type.parse(element_name(form.operand(name))))
    whole = frag_type(tuple(unit.out_sizes.values()), element, unit)
    return [join(values[at : at + size], whole) for at in range(0, len(values), size)]

"""One layout for each class of tiles: from what is pinned, products, views and memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import prod
from typing import Any

from tilec.dialects.semantics import is_loop
from tilec.dialects.tile.attributes import LAYOUT
from tilec.dialects.tile.dialect import LayoutAttr
from tilec.dialects.tile.ops import ConvertLayoutOp, ReduceOp
from tilec.dialects.tile.ops.dots import dot_values
from tilec.dialects.tile.ops.memory import MemoryOp
from tilec.dialects.tile.tiles import PlainTile, TileValue, bits_of, tensor_type, tile_value
from tilec.isa import TilecError
from tilec.layout import LinearLayout

from ..base import Diagnostic, PassError, remark
from .layout_relations import backward, forward, leaves_open
from .layout_wants import dot_layouts, legal_layout, memory_layout
from .tile_classes import Classes, is_product, is_related, plain

Rule = Callable[[Any, LinearLayout, tuple[int, ...]], LinearLayout | None]
"""How the layout on one side of an op follows from that on the other."""


class LayoutChoice:
    """The layouts of a function's classes.

    They are given out by rank: pins, accumulators, operands of products (those in inner loops
    first), then accesses to memory, large tiles first. Whenever a class gets one, so do those
    that follow from it by views.

    Args:
        classes: the classes.
        warps: of the CTA.

    Raises:
        PassError: for pins that fit no tile or each other, and products without form or grid.
    """

    def __init__(self, classes: Classes, warps: int) -> None:
        self.dots: dict[Any, dict[str, LinearLayout]] = {}
        """By the result of each product, the layouts of its operands and result."""
        self._classes = classes
        self._warps = warps
        self._layouts: dict[Any, LinearLayout] = {}
        self._related: dict[Any, list[Any]] = {}
        self._accesses: dict[Any, list[Any]] = {}
        self._reduced: dict[Any, set[int]] = {}
        self._reached: list[Any] = []
        self._errors: list[Diagnostic] = []
        for op in classes.ops:
            self._enter(op)
        for op in classes.ops:
            self._guard(op, self._pin)
        self._spread()
        self._products()
        if self._errors:
            raise PassError(self._errors)
        self._memory()

    def layout(self, value: Any) -> LinearLayout:
        """The layout of the class of `value`."""
        return self._layouts[self._classes.of(value)]

    def _enter(self, op: Any) -> None:
        """Note what an op says of the classes that it touches."""
        of = self._classes.of
        if is_related(op):
            tiles = [v for v in (*op.operation.operands, *op.results) if plain(v) is not None]
            for value in tiles:
                self._related.setdefault(of(value), []).append(op)
            if isinstance(op, ReduceOp):
                self._reduced.setdefault(of(tiles[0]), set()).add(int(op.axis.value))
        elif isinstance(op, MemoryOp):
            self._accesses.setdefault(of(op.tile), []).append(op)
        elif is_product(op):
            self._guard(op, self._note_dot)

    def _guard(self, op: Any, step: Any) -> None:
        try:
            step(op)
        except TilecError as error:
            self._errors.append(Diagnostic(op.location, f"'{op.operation.name}' op {error}"))

    def _note_dot(self, op: Any) -> None:
        self.dots[op.results[0]] = dot_layouts(op, self._warps)

    def _pin(self, op: Any) -> None:
        """Take the layouts that attributes name, and conversions from or to types with a layout."""
        if isinstance(op, ConvertLayoutOp):
            ends = [op.operands[0], op.results[0]]
            for value, other in (ends, ends[::-1]):
                known = tile_value(other.type)
                if known is not None and plain(value) is not None:
                    self._give_pinned(value, known, op)
        elif LAYOUT in op.attributes:
            attribute = op.attributes[LAYOUT]
            tiles = [result for result in op.results if plain(result) is not None]
            if not isinstance(attribute, LayoutAttr) or len(tiles) != 1:
                raise TilecError(
                    f"{LAYOUT} must be a #tile.layout, on an op whose result is one tile"
                )
            shape, element = tuple(tiles[0].type.shape), tiles[0].type.element_type
            known = tile_value(tensor_type(shape, element, attribute.text.value))
            assert known is not None
            self._give_pinned(tiles[0], known, op)

    def _give_pinned(self, value: Any, tile: TileValue, op: Any) -> None:
        if tile.warps != self._warps:
            raise TilecError(f"pins a layout of {tile.warps} warps; the kernel has {self._warps}")
        other = self._layouts.get(self._classes.of(value), tile.layout)
        if other != tile.layout:
            raise TilecError(
                f"pins '{tile.layout}', but the tile is joined with one pinned to '{other}'; put a "
                "tile.convert_layout between them"
            )
        self._give(value, tile.layout, op, "a pin")

    def _products(self) -> None:
        """Give out what products ask for: accumulators first, in inner loops first."""
        dots = [op for op in self._classes.ops if is_product(op)]
        dots.sort(key=lambda op: -_depth(op))
        for results in (True, False):
            for op in dots:
                wanted, values = self.dots.get(op.results[0], {}), dot_values(op)
                for name, layout in wanted.items():
                    if (name == "d") == results and name != "c":  # which is of the class of d
                        self._give(values[name], layout, op, f"its operand {name}")
            self._spread()

    def _memory(self) -> None:
        """Give layouts to what is left, by how it is moved from and to memory, or made."""
        roots = sorted(self._classes.all(), key=_size, reverse=True)
        for root in roots:
            accesses = self._accesses.get(root, [])
            if accesses:
                tile, why = accesses[0].tile, "wide accesses to memory"
                self._give(tile, self._wide(root), accesses[0], why)
                self._spread()
        for root in roots:
            sources = [op for op in self._related.get(root, []) if self._repeats(op, root)]
            if sources:
                (source, result) = sources[0].operands[0], sources[0].results[0]
                layout = forward(sources[0], self.layout(source), tuple(result.type.shape))
                self._give(root, layout, sources[0], "what is repeated")
            else:
                self._give(root, self._wide(root), None, "")
            self._spread()

    def _wide(self, root: Any) -> LinearLayout:
        """The layout for the accesses of a class."""
        tile = plain(root)
        assert tile is not None
        together = self._reduced.get(root, set())
        return memory_layout(tile, self._accesses.get(root, []), self._warps, together)

    def _repeats(self, op: Any, root: Any) -> bool:
        """Whether an op repeats a tile whose layout is known to be one of class `root`."""
        if not leaves_open(op) or self._classes.of(op.results[0]) != root:
            return False
        return self._classes.of(op.operands[0]) in self._layouts

    def _give(self, value: Any, layout: LinearLayout, where: Any, why: str) -> None:
        """Give a layout to a class, if it has none."""
        root = self._classes.of(value)
        if root in self._layouts:
            return
        if why:
            message = (
                f"'{where.operation.name}' op gives {value.type} the layout of {why}: '{layout}'"
            )
            remark(where.location, message)
        self._layouts[root] = layout
        self._reached.append(root)

    def _spread(self) -> None:
        """Give layouts to the classes that views link to those that have got one."""
        for root in self._reached:
            for op in self._related.get(root, []):
                self._reached += self._follow(op, root)
        self._reached.clear()

    def _follow(self, op: Any, root: Any) -> Iterator[Any]:
        """The class on the other side of a view, if it gets its layout by it."""
        source, result = op.operation.operands[0], op.results[0]
        if plain(result) is None:
            return
        ends: list[tuple[Any, Any, Rule]] = [(result, source, backward)]
        if not leaves_open(op):
            ends.append((source, result, forward))
        for near, far, rule in ends:
            other = self._classes.of(far)
            tile = plain(far)
            if self._classes.of(near) != root or other in self._layouts or tile is None:
                continue
            found = rule(op, self._layouts[root], tile.shape)
            if found is not None and self._movable(other, tile, found):
                self._layouts[other] = found
                yield other

    def _movable(self, root: Any, tile: PlainTile, layout: LinearLayout) -> bool:
        """Whether all accesses of a class could move its tiles under a layout."""
        if bits_of(tile.element) >= 8:
            return True
        return all(legal_layout(op, tile, layout) for op in self._accesses.get(root, []))


def _size(value: Any) -> int:
    return prod(value.type.shape)


def _depth(op: Any) -> int:
    """Loops around an op."""
    depth, parent = 0, op.operation.parent
    while parent is not None and parent.name != "gpu.func":
        depth += is_loop(parent)
        parent = parent.parent
    return depth

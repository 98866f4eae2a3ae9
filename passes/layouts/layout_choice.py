"""One layout for each class of tiles: from what is pinned, products, views and memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import prod

from tilec.dialects.semantics import is_loop
from tilec.dialects.tile.attributes import LAYOUT
from tilec.dialects.tile.dialect import LayoutAttr
from tilec.dialects.tile.ops import ConvertLayoutOp, ReduceOp, TakeOp
from tilec.dialects.tile.ops.memory import MemoryOp
from tilec.dialects.tile.tiles import PlainTile, TileValue, bits_of, tensor_type, tile_value
from tilec.ir.aliases import Op, Value
from tilec.ir.mlir import ir
from tilec.isa import TilecError
from tilec.layout import LinearLayout

from ..report import Report
from .layout_relations import backward, forward, leaves_open
from .layout_wants import dot_layouts, dot_tiles, legal_layout, memory_layout
from .tile_classes import Classes, is_product, is_related, plain

Rule = Callable[[ir.OpView, LinearLayout, tuple[int, ...]], LinearLayout | None]
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
        self.dots: dict[Value, dict[str, LinearLayout]] = {}
        """By the result of each product, the layouts of its operands and result."""
        self._classes = classes
        self._warps = warps
        self._layouts: dict[Value, LinearLayout] = {}
        self._related: dict[Value, list[ir.OpView]] = {}
        self._accesses: dict[Value, list[MemoryOp]] = {}
        self._reduced: dict[Value, set[int]] = {}
        self._taken: dict[Value, TakeOp] = {}
        self._reached: list[Value] = []
        self._report = Report()
        for op in classes.ops:
            self._enter(op)
        for op in classes.ops:
            self._guard(op, self._pin)
        self._spread()
        self._products()
        self._report.raise_errors()
        self._memory()

    def layout(self, value: Value) -> LinearLayout:
        """The layout of the class of `value`."""
        return self._layouts[self._classes.of(value)]

    def _enter(self, op: ir.OpView) -> None:
        """Note what an op says of the classes that it touches."""
        of = self._classes.of
        if is_related(op):
            tiles = [v for v in (*op.operation.operands, *op.results) if plain(v) is not None]
            for value in tiles:
                self._related.setdefault(of(value), []).append(op)
            if isinstance(op, ReduceOp):
                self._reduced.setdefault(of(tiles[0]), set()).add(op.axis.value)
            elif isinstance(op, TakeOp):
                self._reduced.setdefault(of(tiles[0]), set()).add(op.axis.value)
                self._taken.setdefault(of(tiles[0]), op)
        elif isinstance(op, MemoryOp):
            self._accesses.setdefault(of(op.tile), []).append(op)
        elif is_product(op):
            self._guard(op, self._note_dot)

    def _guard(self, op: ir.OpView, step: Callable[[ir.OpView], None]) -> None:
        try:
            step(op)
        except TilecError as error:
            self._report.error(op, str(error))

    def _note_dot(self, op: ir.OpView) -> None:
        self.dots[op.results[0]] = dot_layouts(op, self._warps)

    def _pin(self, op: ir.OpView) -> None:
        """Take the layouts that attributes name, and conversions from or to types with a layout."""
        if isinstance(op, ConvertLayoutOp):
            for value, other in ((op.source, op.result), (op.result, op.source)):
                known = tile_value(other.type)
                if known is not None and plain(value) is not None:
                    self._give_pinned(value, known, op)
        elif LAYOUT in op.attributes:
            attribute = op.attributes[LAYOUT]
            tiles = {r: tile for r in op.results if (tile := plain(r)) is not None}
            if not isinstance(attribute, LayoutAttr) or len(tiles) != 1:
                raise TilecError(
                    f"{LAYOUT} must be a #tile.layout, on an op whose result is one tile"
                )
            ((result, tile),) = tiles.items()
            known = tile_value(tensor_type(tile.shape, tile.element, attribute.text.value))
            assert known is not None
            self._give_pinned(result, known, op)

    def _give_pinned(self, value: Value, tile: TileValue, op: ir.OpView) -> None:
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
                wanted, values = self.dots.get(op.results[0], {}), dot_tiles(op)
                for name, layout in wanted.items():
                    if (name == "d") == results and name != "c":  # which is of the class of d
                        self._give(values[name], layout, op, f"its operand {name}")
            self._spread()

    def _memory(self) -> None:
        """Give layouts to what is left, by how it is moved from and to memory, or made."""
        for root, op in self._taken.items():
            self._give(root, op.legal(self._wide(root)), op, "elements taken within warps")
            self._spread()
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
                source, result = sources[0].operands[0], plain(sources[0].results[0])
                assert result is not None
                layout = forward(sources[0], self.layout(source), result.shape)
                self._give(root, layout, sources[0], "what is repeated")
            else:
                self._give(root, self._wide(root))
            self._spread()

    def _wide(self, root: Value) -> LinearLayout:
        """The layout for the accesses of a class."""
        accesses = self._accesses.get(root, [])
        # Of a tile and its offsets, which are of another type, the tile is moved.
        tile = plain(next((op.tile for op in accesses if op.by_element), root))
        assert tile is not None
        together = self._reduced.get(root, set())
        return memory_layout(tile, accesses, self._warps, together)

    def _repeats(self, op: ir.OpView, root: Value) -> bool:
        """Whether an op repeats a tile whose layout is known to be one of class `root`."""
        if not leaves_open(op) or self._classes.of(op.results[0]) != root:
            return False
        return self._classes.of(op.operands[0]) in self._layouts

    def _give(
        self, value: Value, layout: LinearLayout, where: ir.OpView | None = None, why: str = ""
    ) -> None:
        """Give a layout to a class, if it has none."""
        root = self._classes.of(value)
        if root in self._layouts:
            return
        if where is not None:
            self._report.analysis(where, f"gives {value.type} the layout of {why}: '{layout}'")
        self._layouts[root] = layout
        self._reached.append(root)

    def _spread(self) -> None:
        """Give layouts to the classes that views link to those that have got one."""
        for root in self._reached:
            for op in self._related.get(root, []):
                self._reached += self._follow(op, root)
        self._reached.clear()

    def _follow(self, op: ir.OpView, root: Value) -> Iterator[Value]:
        """The class on the other side of a view, if it gets its layout by it."""
        source, result = op.operands[0], op.results[0]
        if plain(result) is None:
            return
        ends: list[tuple[Value, Value, Rule]] = [(result, source, backward)]
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

    def _movable(self, root: Value, tile: PlainTile, layout: LinearLayout) -> bool:
        """Whether all accesses of a class could move its tiles under a layout."""
        if bits_of(tile.element) >= 8:
            return True
        return all(legal_layout(op, tile, layout) for op in self._accesses.get(root, []))


def _size(value: Value) -> int:
    return prod(ir.RankedTensorType(value.type).shape)


def _depth(op: Op) -> int:
    """Loops around an op."""
    depth, parent = 0, op.operation.parent
    while parent is not None and parent.name != "gpu.func":
        depth += is_loop(parent)
        parent = parent.operation.parent
    return depth

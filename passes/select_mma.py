"""`tile-select-mma`: the instruction and the grid of warps of every product of tiles."""

from __future__ import annotations

from math import prod
from typing import ClassVar

from tilec.dialects.tile.ops.dots import dot_form, dot_values, reads_shared
from tilec.dialects.tile.tiles import PlainTile, bits_of
from tilec.ir.aliases import Value
from tilec.ir.attributes import attribute
from tilec.ir.mlir import ir
from tilec.isa import LANES, Target, TilecError
from tilec.isa.sass import execution
from tilec.isa.wording import counted

from .functions import known_target
from .kernel_pass import Kernel, KernelPass
from .layouts.chained_dots import links
from .layouts.mma_choice import (
    Choice,
    TileProduct,
    best_choice,
    candidates,
    choice,
    grids,
    share,
    trip_cost,
)
from .layouts.tile_classes import Classes, has_plain_tiles, is_elementwise, is_product, plain


class SelectMma(KernelPass):
    """Choose the instruction of each product of tiles without layouts, and how warps share it.

    In: level 1. Out: the same, with `form` and `warps` on each dot; existing ones are kept. The
    pass chooses the cheapest form of the target, preferring native to emulated ones, and the
    grid of warps that reads the least from shared memory and computes the fewest elements of
    computed factors. If the result of a product is an operand of the next, all warps are
    arranged along one dimension if that costs less than passing the result through shared
    memory. A remark gives the choice and the alternatives.
    """

    name: ClassVar[str] = "tile-select-mma"

    def run(self, kernel: Kernel) -> None:
        """Choose for a kernel."""
        if not has_plain_tiles(kernel.function):
            return
        with kernel.at(kernel.module):
            target = known_target(kernel.module)
            with kernel.at(kernel.function):
                _Selection(kernel, target).run()


class _Selection:
    """The choices of one kernel."""

    def __init__(self, kernel: Kernel, target: Target) -> None:
        self._kernel = kernel
        self._target = target
        self._classes = Classes(kernel.function)
        self._dots = [op for op in self._classes.ops if is_product(op) and not reads_shared(op)]
        self._warps = kernel.warps if self._dots else 0

    def run(self) -> None:
        """Set the attributes of every dot."""
        alone = []
        for dot in self._dots:
            with self._kernel.at(dot):
                alone.append(self._choose(dot))
        if self._kernel.errors:
            return
        for dot, chosen in zip(self._dots, self._linked(alone), strict=True):
            self._check_registers(dot, chosen)
            if not {"form", "warps"} <= set(dot.attributes):
                self._kernel.remark(dot, self._reason(dot, chosen))
            dot.attributes["form"] = ir.StringAttr.get(chosen.form.ptx)
            dot.attributes["warps"] = ir.DenseI64ArrayAttr.get(list(chosen.warps))

    def _choose(self, dot: ir.OpView) -> Choice:
        """The best for one product alone, as far as its attributes leave it open."""
        product = _product(dot)
        form = dot_form(dot) if "form" in dot.attributes else candidates(product, self._target)[0]
        if "warps" not in dot.attributes:
            return best_choice(form, self._warps, product, self._target)
        along_m, along_n = attribute(dot, "warps", ir.DenseI64ArrayAttr)
        if along_m * along_n != self._warps:
            raise TilecError(f"warps {along_m}x{along_n} are not the {self._warps} of the kernel")
        return choice(form, (along_m, along_n), product, self._target)

    def _check_registers(self, dot: ir.OpView, chosen: Choice) -> None:
        """Report if a thread's registers do not hold its part of the accumulator."""
        tile = _product(dot).tiles["d"]
        bits = bits_of(tile.element)
        needed = prod(share(chosen.form, chosen.warps, tile.shape)) * bits // 32 // LANES
        threads = self._warps * LANES
        most = min(self._target.registers_per_thread, self._target.registers_per_sm // threads)
        if needed > most:
            text = "x".join(str(n) for n in tile.shape)
            self._kernel.error(
                dot,
                f"has an accumulator of {text}x{tile.element}, {counted(needed, 'register')} of "
                "each of "
                f"{counted(threads, 'thread')}; a thread has {most}: let the tile be smaller"
                f"{', or the warps more' if threads < 256 else ''}",
            )

    def _linked(self, alone: list[Choice]) -> list[Choice]:
        """All warps along one index for products that feed each other, if that is cheaper."""
        number = {dot.operation: at for at, dot in enumerate(self._dots)}
        together, trips = list(alone), 0.0
        moved: set[int] = set()
        for first, second, along in links(self._dots, self._classes):
            trips += trip_cost(_product(first), self._warps)
            for dot, index in zip((first, second), along, strict=True):
                at = number[dot.operation]
                if at not in moved and "warps" not in dot.attributes:
                    grid = (self._warps, 1) if index == "m" else (1, self._warps)
                    together[at] = choice(alone[at].form, grid, _product(dot), self._target)
                moved.add(at)
        cost = [sum(one.cost for one in choices) for choices in (alone, together)]
        return together if cost[1] <= cost[0] + trips else alone

    def _reason(self, dot: ir.OpView, chosen: Choice) -> str:
        """What was chosen, what it costs, and what the alternatives cost."""
        product = _product(dot)
        others = [
            best_choice(form, self._warps, product, self._target)
            for form in candidates(product, self._target)
            if form != chosen.form
        ]
        others += [
            choice(chosen.form, grid, product, self._target)
            for grid in grids(self._warps)
            if grid != chosen.warps
        ]
        how = execution(chosen.form, self._target)
        emulated = f", emulated on {self._target}" if how is not None and how.emulated else ""
        text = (
            f"becomes {chosen.instructions} {chosen.form.ptx}{emulated} for each of "
            f"{counted(_grid(chosen), 'warp')}, cost {chosen.cost:g}"
        )
        costs = "; ".join(f"{one.form.shape} {_grid(one)} {one.cost:g}" for one in others)
        return f"{text}; others: {costs}" if others else text


def _grid(one: Choice) -> str:
    return "x".join(str(n) for n in one.warps)


def _product(dot: ir.OpView) -> TileProduct:
    values = dot_values(dot)
    tiles = {name: _plain(value) for name, value in values.items()}
    unsigned = "unsigned_a" in dot.attributes, "unsigned_b" in dot.attributes
    computed = _is_computed(values["a"]), _is_computed(values["b"])
    return TileProduct(dot.operation.name, tiles, unsigned, computed)


def _plain(value: Value) -> PlainTile:
    found = plain(value)
    assert found is not None
    return found


def _is_computed(value: Value) -> bool:
    return not isinstance(value.owner, ir.Block) and is_elementwise(value.owner)

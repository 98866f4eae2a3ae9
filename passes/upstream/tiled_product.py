"""A product of matrices in memory as a CTA's loop over slices of tiles."""

from __future__ import annotations

from tilec.dialects.tile.emit import emit, emit_effect
from tilec.dialects.tile.ops import DotOp, FillOp, LoadOp, StoreOp
from tilec.ir.aliases import Attribute, Type, Value
from tilec.ir.attributes import is_positive_zero
from tilec.ir.mlir import ir
from tilec.ir.ops import arith, gpu, scf
from tilec.ir.ops import memref as memref_ops

from ..emit import index_constant
from .memory_product import MemoryProduct
from .product_tiles import ProductTiles
from .vector_types import tile


def emit_product(product: MemoryProduct, tiles: ProductTiles) -> None:
    """Emit the part of a CTA: tile (y, x) of C, of the z-th matrix of the batch."""
    _Emission(product, tiles).run()


class _Emission:
    """The ops of one product, emitted at the current insertion point."""

    def __init__(self, product: MemoryProduct, tiles: ProductTiles) -> None:
        self._product = product
        self._tiles = tiles
        self._contraction = product.contraction
        self._index = ir.IndexType.get()

    def run(self) -> None:
        rows, cols = self._contraction.maps[2][-2:]
        at = {
            cols: self._scaled(gpu.block_id(gpu.Dimension.X), self._tiles.n),
            rows: self._scaled(gpu.block_id(gpu.Dimension.Y), self._tiles.m),
            **self._batch(),
        }
        total = self._loop(self._initial(at), at)
        self._store(total, at)

    def _scaled(self, number: Value, by: int) -> Value:
        return arith.muli(number, index_constant(by))

    def _batch(self) -> dict[int, Value]:
        """By loop, the number of this CTA's matrix."""
        outer = self._contraction.maps[2][:-2]
        if not outer:
            return {}
        found: dict[int, Value] = {}
        number = gpu.block_id(gpu.Dimension.Z)
        for loop in reversed(outer[1:]):
            extent = self._extent(loop)
            found[loop] = arith.remui(number, extent)
            number = arith.divui(number, extent)
        return {outer[0]: number, **found}

    def _extent(self, loop: int) -> Value:
        static = self._product.static(loop)
        if static is not None:
            return index_constant(static)
        memref, dim = next(
            (memref, loops.index(loop))
            for memref, loops in zip(self._product.memrefs, self._contraction.maps, strict=True)
            if loop in loops
        )
        return memref_ops.dim(memref, index_constant(dim))

    def _initial(self, at: dict[int, Value]) -> Value:
        """The accumulators before the first slice."""
        element = self._stored
        total = self._product.elements.total
        scalar = self._product.initial
        shape = (self._tiles.m, self._tiles.n)
        if scalar is None:
            value = self._load(2, shape, element, at)
            return value if total == element else arith.extf(value, tile(shape, total))
        constant = _zero(scalar, total)
        if constant is not None:
            return arith.splat(tile(shape, total), constant)
        if total != element:
            scalar = arith.extf(scalar, total)
        return emit(FillOp, [scalar], tile(shape, total))

    @property
    def _stored(self) -> Type:
        """Element type of the result in memory."""
        return ir.MemRefType(self._product.memrefs[2].type).element_type

    def _loop(self, initial: Value, at: dict[int, Value]) -> Value:
        """The accumulators after the last slice."""
        depth = self._contraction.depth
        bounds = [index_constant(0), self._extent(depth), index_constant(self._tiles.k)]
        loop = scf.for_(bounds, [initial])
        here = ir.Location.current or ir.Location.unknown()
        body = loop.regions[0].blocks.append(self._index, initial.type, arg_locs=[here, here])
        with ir.InsertionPoint(body):
            k, before = body.arguments
            place = {**at, depth: k}
            elements, tiles = self._product.elements, self._tiles
            a = self._load(0, (tiles.m, tiles.k), elements.a, place)
            b = self._load(1, (tiles.k, tiles.n), elements.b, place)
            units = {
                f"unsigned_{side}": ir.UnitAttr.get()
                for side, unsigned in zip("ab", self._product.unsigned, strict=True)
                if unsigned
            }
            after = emit(DotOp, [a, b, before], initial.type, **units)
            scf.yield_([after])
        return loop.results[0]

    def _load(
        self, number: int, shape: tuple[int, int], element: Type, at: dict[int, Value]
    ) -> Value:
        attributes: dict[str, Attribute] = {"masked": ir.UnitAttr.get()}
        if number < 2 and self._contraction.transposed[number]:
            attributes["transposed"] = ir.UnitAttr.get()
        operands = self._place(number, at)
        return emit(LoadOp, operands, tile(shape, element), **attributes)

    def _store(self, total: Value, at: dict[int, Value]) -> None:
        if self._stored != self._product.elements.total:
            narrow = tile((self._tiles.m, self._tiles.n), self._stored)
            total = arith.truncf(total, narrow)
        emit_effect(
            StoreOp,
            [total, *self._place(2, at)],
            masked=ir.UnitAttr.get(),
        )

    def _place(self, number: int, at: dict[int, Value]) -> list[Value]:
        """A memref and where the CTA's tile begins in it."""
        loops = self._contraction.maps[number]
        return [self._product.memrefs[number], *(at[loop] for loop in loops)]


def _zero(scalar: Value, total: Type) -> Attribute | None:
    """The attribute of a zero of type `total`, if that is what `scalar` is."""
    owner = scalar.owner
    if isinstance(owner, ir.Block) or owner.name != "arith.constant":
        return None
    value = owner.attributes["value"]
    if isinstance(total, ir.IntegerType):
        return value if isinstance(value, ir.IntegerAttr) and value.value == 0 else None
    return ir.FloatAttr.get(total, 0.0) if is_positive_zero(value) else None

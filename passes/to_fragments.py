"""`tile-to-fragments`: from tiles of a CTA to fragments of a warp."""

from __future__ import annotations

from typing import ClassVar

from tilec.dialects.tile.emit import emit
from tilec.dialects.tile.ops import AtomicOp, ConvertLayoutOp, LoadOp, StoreOp
from tilec.dialects.tile.stored import check_addressable, stored_places
from tilec.dialects.tile.tiles import TileValue
from tilec.ir.aliases import Type, Value
from tilec.ir.mlir import ir, scf
from tilec.isa import TilecError

from . import lowerings
from .emit import is_zero, linear
from .fragments.expansion import Expansion, Handler, Values, lowers
from .fragments.fragment_elementwise import FragmentElementwise
from .fragments.fragment_memory import FragmentMemory, Transfer
from .fragments.fragment_products import FragmentProducts
from .fragments.fragment_types import FragmentTypes
from .fragments.fragment_units import FragmentUnits
from .fragments.fragment_views import FragmentViews
from .fragments.indexed_memory import IndexedMemory
from .fragments.parts import cut, join
from .fragments.tensor_tiles import TensorTiles
from .fragments.warpgroup_products import WarpgroupProducts
from .kernel_pass import Kernel, KernelPass
from .thread_index import ThreadIndex


class ToFragments(KernelPass):
    """Replace every tensor that has a layout by the fragments of it that a warp holds.

    In: level 2, tensors with `#tile.layout` in `gpu.func`s with a known block size. Out: level
    3. `tile.dot` becomes a `tile.mma` for each instruction, and `tile.warpgroup_dot` becomes
    `tile.wgmma` with a fence, a commit and a wait. Loads from shared memory become
    `tile.ldmatrix`, and stores `tile.stmatrix`, if their `form` says so or, without a `form`,
    if the layouts match and the target has them. Elementwise `arith` and `math` ops become
    `tile.elementwise` and `tile.cast`.
    """

    name: ClassVar[str] = "tile-to-fragments"

    def run(self, kernel: Kernel) -> None:
        """Rewrite a kernel."""
        if any(_is_tensor(r.type) for op in kernel.walk() for r in op.results):
            _Rewrite(kernel).run()


def _is_tensor(type_: Type) -> bool:
    return isinstance(type_, ir.RankedTensorType)


class _Rewrite:
    """The rewriting of one kernel."""

    def __init__(self, kernel: Kernel) -> None:
        self._function = kernel.function
        self._thread = ThreadIndex(kernel.function)
        self._memory = FragmentMemory(kernel.target)
        self._types = FragmentTypes(kernel.function)

    def run(self) -> None:
        handlers: dict[str, Handler] = {
            **lowerings.to_fragments(),
            **FragmentElementwise(self._types).handlers(),
            **FragmentProducts(self._types).handlers(),
            **FragmentUnits(self._types).handlers(),
            **FragmentViews(self._types, self._thread).handlers(),
            **IndexedMemory(self._types, self._thread).handlers(),
            **TensorTiles(self._types, self._thread).handlers(),
            **WarpgroupProducts(self._types, self._thread).handlers(),
            **dict(
                (
                    lowers(AtomicOp, self._store),
                    lowers(ConvertLayoutOp, self._convert),
                    lowers(LoadOp, self._load),
                    lowers(StoreOp, self._store),
                )
            ),
        }
        Expansion(self._types.of, handlers).run(self._function)

    def _convert(self, op: ConvertLayoutOp, expansion: Expansion) -> list[Values] | None:
        source, result = op.source, op.result
        before, after = self._types.tile(source.type), self._types.tile(result.type)
        if before is None or after is None:
            return None
        values = expansion.values(source)
        types = self._types.of(result.type) or []
        if before.layout == after.layout:
            return [
                [
                    v if v.type == t else emit(ConvertLayoutOp, [v], t)
                    for v, t in zip(values, types, strict=True)
                ]
            ]
        # Within a warp: all that it holds as one fragment, converted, and cut again.
        if before.layout.columns_of("warp") != after.layout.columns_of("warp"):
            raise TilecError("moves elements between warps: run tile-stage-conversions first")
        whole = join(values, self._types.whole(source.type))
        whole = emit(ConvertLayoutOp, [whole], self._types.whole(result.type))
        return [cut(whole, len(types), types[0])]

    def _access(self, tile: TileValue, op: Transfer) -> list[Value]:
        """The indices of warp w's first fragment: the op's, and the warp's place."""
        transposed = "transposed" in op.attributes
        check_addressable(tile.layout)
        warps = stored_places(self._types.parts(tile).warps, tile.element, transposed=transposed)
        places = linear(warps, "warp", self._thread.warp) if tile.warps > 1 else None
        return self._memory.offset(list(op.indices), places, transposed=transposed)

    def _load(self, op: LoadOp, _: Expansion) -> list[Values] | None:
        tile = self._types.tile(op.tile.type)
        if tile is None:
            return None
        at = self._access(tile, op)
        return [self._memory.load(op, op.source, at, tile, self._types.parts(tile))]

    def _store(self, op: StoreOp | AtomicOp, expansion: Expansion) -> list[Values] | None:
        value, target = op.tile, op.target
        tile = self._types.tile(value.type)
        if tile is None:
            return None
        at = self._access(tile, op)
        values, parts = expansion.values(value), self._types.parts(tile)
        copies = tile.layout.free("warp")
        if not copies:
            self._memory.store(op, values, target, at, tile, parts)
            return []
        # Of warps that hold the same, one stores it.
        branch = scf.IfOp(is_zero(self._thread.warp, copies))
        with ir.InsertionPoint(branch.then_block):
            self._memory.store(op, values, target, at, tile, parts)
            scf.YieldOp([])
        return []

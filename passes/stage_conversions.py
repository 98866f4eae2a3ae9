"""`tile-stage-conversions`: layout conversions that go through shared memory, spelled out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from tilec.dialects.tile.dialect import SharedAttr
from tilec.dialects.tile.stored import stored_elements
from tilec.dialects.tile.tiles import TileValue, bits_of, tile_value
from tilec.isa import Target, TilecError
from tilec.layout.conversion import convert
from tilec.layout.plans import SharedTrip
from tilec.mlir import ir

from .base import Diagnostic, Pass, PassError, walk
from .emit import create, index_constant
from .functions import functions, gpu_modules, target_of


@dataclass(frozen=True)
class StageConversions(Pass):
    """Replace `tile.convert_layout` by a trip through shared memory where that is the plan.

    In and out: level 2. A conversion between warps, and one within a warp for which the trip
    is cheapest, becomes a buffer, swizzled free of conflicts where that is possible, and
    barrier, store, barrier, load. Other conversions stay.
    """

    name: ClassVar[str] = "tile-stage-conversions"

    def apply(self, module: Any) -> None:
        """Rewrite every kernel of `module`."""
        errors: list[Diagnostic] = []
        for gpu_module in gpu_modules(module):
            target = target_of(gpu_module)
            for function in functions(gpu_module):
                for op in list(walk(function)):
                    if op.operation.name != "tile.convert_layout":
                        continue
                    try:
                        _stage(op, function, target)
                    except TilecError as error:
                        errors.append(Diagnostic(op.location, f"'tile.convert_layout' op {error}"))
        if errors:
            raise PassError(errors)


def _stage(op: Any, function: Any, target: Target | None) -> None:
    source, result = tile_value(op.operands[0].type), tile_value(op.results[0].type)
    assert source is not None
    assert result is not None
    if source.is_fragment:
        return
    plan = convert(source.layout, result.layout, bits_of(source.element), target)
    if isinstance(plan, SharedTrip):
        _through_shared(op, function, source, plan)


def _through_shared(op: Any, function: Any, tile: TileValue, plan: SharedTrip) -> None:
    if len(tile.shape) != 2 or bits_of(tile.element) < 8:
        extents = "x".join(str(n) for n in tile.shape)
        raise TilecError(
            "goes through shared memory, which takes tiles of rank 2 whose elements have a byte "
            f"or more, not {extents}x{tile.element}"
        )
    rows, cols = tile.shape
    element = ir.Type.parse(stored_elements(tile.element)[0])
    row_major = plan.order == tuple(reversed(tile.layout.out_sizes))
    text = str(plan.swizzle if plan.swizzle is not None and row_major else plan.shared)
    top = function.regions[0].blocks[0].operations[0]
    with ir.InsertionPoint(top), op.location:
        space = SharedAttr.get(ir.StringAttr.get(text))
        type_ = ir.MemRefType.get([rows, cols], element, memory_space=space)
        buffer = create("tile.alloc_shared", [], type_)
    with ir.InsertionPoint(op), op.location:
        zero = index_constant(0)
        # Whoever still reads what an earlier round of a loop left must be done first.
        ir.Operation.create("gpu.barrier")
        ir.Operation.create("tile.store", operands=[op.operands[0], buffer, zero, zero])
        ir.Operation.create("gpu.barrier")
        loaded = create("tile.load", [buffer, zero, zero], op.results[0].type)
    op.results[0].replace_all_uses_with(loaded)
    op.operation.erase()

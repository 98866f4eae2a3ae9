"""`tile-stage-conversions`: what cannot stay in registers goes through shared memory."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import ClassVar

from tilec.dialects.tile.dialect import SharedAttr
from tilec.dialects.tile.emit import emit, emit_effect
from tilec.dialects.tile.ops import AllocSharedOp, ConvertLayoutOp, LoadOp, ReshapeOp, StoreOp
from tilec.dialects.tile.stored import stored_elements
from tilec.dialects.tile.tiles import TileValue, bits_of, tensor_type, tile_value
from tilec.ir.aliases import Type, Value
from tilec.ir.mlir import ir
from tilec.isa import Target, TilecError
from tilec.layout import LayoutError, LinearLayout
from tilec.layout.conversion import conversion_plans
from tilec.layout.plans import Plan, SharedTrip
from tilec.layout.views import reshaped

from .emit import create, index_constant
from .kernel_pass import Kernel, KernelPass


@dataclass(frozen=True)
class StageConversions(KernelPass):
    """Replace `tile.convert_layout` by a trip through shared memory where that is the plan.

    In and out: level 2. A conversion between warps, and one within a warp for which the trip
    is cheapest, becomes a buffer, swizzled free of conflicts where that is possible, and
    barrier, store, barrier, load. A tile that is no matrix goes as one, the last dimension its
    columns; elements of less than a byte go as bytes. Other conversions stay.
    """

    name: ClassVar[str] = "tile-stage-conversions"

    def run(self, kernel: Kernel) -> None:
        """Rewrite a kernel."""
        for op in kernel.named(ConvertLayoutOp):
            with kernel.at(op):
                _stage(op, kernel)


def _stage(op: ConvertLayoutOp, kernel: Kernel) -> None:
    source, result = tile_value(op.source.type), tile_value(op.result.type)
    if source is None or result is None:
        raise TilecError("takes tiles with layouts here: run tile-assign-layouts first")
    if source.is_fragment:
        return
    bits = bits_of(source.element)
    if _stays(source.layout, result.layout, bits, kernel.target):
        return
    with ir.InsertionPoint(op):
        if bits < 8:
            moved = _moved_as_bytes(op, result, kernel)
        else:
            moved = _trip(op, op.source, result.layout, kernel)
    op.result.replace_all_uses_with(moved)
    op.operation.erase()


def _moved_as_bytes(op: ConvertLayoutOp, result: TileValue, kernel: Kernel) -> Value:
    """A tile of elements of less than a byte under another layout."""
    value = _widened(op.source)
    source = _tile(value)
    if _stays(source.layout, result.layout, 8, kernel.target):
        wide = tensor_type(source.shape, source.element, result.layout)
        moved = emit(ConvertLayoutOp, [value], wide)
    else:
        moved = _trip(op, value, result.layout, kernel)
    return _narrowed(moved, op.result.type)


def _stays(source: LinearLayout, result: LinearLayout, bits: int, target: Target | None) -> bool:
    """Whether registers and shuffles of each warp do, and are the cheapest."""
    try:
        plan = conversion_plans(source, result, bits, target)[0]
    except LayoutError:  # elements of less than a byte that lie apart
        if bits < 8:
            return False
        raise
    same_warps = source.columns_of("warp") == result.columns_of("warp")
    return same_warps and not isinstance(plan, SharedTrip)


def _widened(value: Value) -> Value:
    """A tile of elements of less than a byte as one of bytes."""
    tile = _tile(value)
    if not isinstance(tile.element, ir.IntegerType):
        code = ir.IntegerType.get_signless(bits_of(tile.element))
        value = create("arith.bitcast", [value], tensor_type(tile.shape, code, tile.layout))
    byte = ir.IntegerType.get_signless(8)
    return create("arith.extui", [value], tensor_type(tile.shape, byte, tile.layout))


def _narrowed(value: Value, type_: Type) -> Value:
    """The other way round: a tile of bytes as one of `type_`."""
    tile = tile_value(type_)
    assert tile is not None
    if isinstance(tile.element, ir.IntegerType):
        return create("arith.trunci", [value], type_)
    code = ir.IntegerType.get_signless(bits_of(tile.element))
    narrow = create("arith.trunci", [value], tensor_type(tile.shape, code, tile.layout))
    return create("arith.bitcast", [narrow], type_)


def _tile(value: Value) -> TileValue:
    found = tile_value(value.type)
    assert found is not None
    return found


def _trip(op: ConvertLayoutOp, value: Value, wanted: LinearLayout, kernel: Kernel) -> Value:
    """The tile under the layout `wanted`, by way of a buffer at the top of the kernel."""
    tile = _tile(value)
    shape = (prod(tile.shape[:-1]), tile.shape[-1])
    source, result = reshaped(tile.layout, shape), reshaped(wanted, shape)
    offered = conversion_plans(source, result, bits_of(tile.element), kernel.target)
    plan = next((p for p in offered if isinstance(p, SharedTrip) and _is_emitted(p)), None)
    if plan is None:
        raise TilecError(f"has no way from '{tile.layout}' to '{wanted}' through shared memory")
    _explain(kernel, op, plan, offered)
    element = ir.Type.parse(stored_elements(tile.element)[0])
    row_major = plan.order == ("col", "row")
    text = str(plan.swizzle if plan.swizzle is not None and row_major else plan.shared)
    with ir.InsertionPoint(kernel.function.entry_block.operations[0]):
        space = SharedAttr.get(ir.StringAttr.get(text))
        memory = ir.MemRefType.get(list(shape), element, memory_space=space)
        buffer = emit(AllocSharedOp, [], memory)
    is_matrix = tile.shape == shape
    if not is_matrix:
        value = emit(ReshapeOp, [value], tensor_type(shape, tile.element, source))
    zero = index_constant(0)
    # Whoever still reads what an earlier round of a loop left must be done first.
    ir.Operation.create("gpu.barrier")
    emit_effect(StoreOp, [value, buffer, zero, zero])
    ir.Operation.create("gpu.barrier")
    type_ = tensor_type(tile.shape, tile.element, wanted)
    if is_matrix:
        return emit(LoadOp, [buffer, zero, zero], type_)
    matrix = tensor_type(shape, tile.element, result)
    return emit(ReshapeOp, [emit(LoadOp, [buffer, zero, zero], matrix)], type_)


def _is_emitted(plan: SharedTrip) -> bool:
    """Whether matrix instructions find their rows in consecutive columns, where they are sought."""
    places = plan.shared.bases["offset"]
    widths = [access.width * 8 // access.bits for access in (plan.store, plan.load) if access.form]
    return all(
        places[bit] == (0, 1 << bit) for bit in range(max(widths, default=1).bit_length() - 1)
    )


def _explain(
    kernel: Kernel, op: ConvertLayoutOp, plan: SharedTrip, offered: tuple[Plan, ...]
) -> None:
    registers = [p for p in offered if not isinstance(p, SharedTrip)]
    others = [f"{type(p).__name__.lower()} {p.price.total}" for p in registers]
    instead = f"; instead of {', '.join(others)}" if others else ""
    kernel.remark(
        op,
        f"goes through {plan.bytes} bytes of shared memory, by {plan.store.instructions} "
        f"{plan.store.name} and {plan.load.instructions} {plan.load.name} a warp: costs "
        f"{plan.price.total}{instead}",
    )

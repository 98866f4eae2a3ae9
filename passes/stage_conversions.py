"""`tile-stage-conversions`: what cannot stay in registers goes through shared memory."""

from __future__ import annotations

from typing import ClassVar

from tilec.dialects.semantics import control_flow, is_function, is_loop
from tilec.dialects.tile.emit import emit, emit_effect
from tilec.dialects.tile.ops import AllocSharedOp, ConvertLayoutOp, LoadOp, ReshapeOp, StoreOp
from tilec.dialects.tile.tiles import TileValue, bits_of, tensor_type, tile_value
from tilec.ir.aliases import Op, Type, Value
from tilec.ir.mlir import ir
from tilec.ir.ops import arith, gpu
from tilec.isa import TilecError
from tilec.layout import LinearLayout
from tilec.layout.conversion import convert
from tilec.layout.plans import Nothing, Plan, SharedTrip, Shuffles, Transposition

from .emit import index_constant
from .fragments.fragment_types import FragmentTypes
from .kernel_pass import Kernel, KernelPass
from .layouts.conversion_choice import Trip, choose_conversion
from .staging.trip_choice import choose_trip


class StageConversions(KernelPass):
    """Lower `tile.convert_layout` to a trip through shared memory where that is the plan.

    In and out: level 2. A conversion between warps, or one within a warp for which the round
    trip is cheapest, becomes a buffer, without bank conflicts if possible, and a store, a
    barrier and a load, with another barrier before them in loops. Both get a `form`, the matrix
    instruction that they use, or one that says none. A tile that is not a matrix is treated as
    one whose columns are the last dimension; elements narrower than a byte are stored as bytes.
    Other conversions do not change.
    """

    name: ClassVar[str] = "tile-stage-conversions"

    def run(self, kernel: Kernel) -> None:
        """Rewrite a kernel."""
        types = FragmentTypes(kernel.function)
        for op in kernel.named(ConvertLayoutOp):
            with kernel.at(op):
                _stage(op, kernel, types)


def _stage(op: ConvertLayoutOp, kernel: Kernel, types: FragmentTypes) -> None:
    source, result = tile_value(op.source.type), tile_value(op.result.type)
    if source is None or result is None:
        raise TilecError("takes tiles with layouts here: run tile-assign-layouts first")
    if source.is_fragment:
        return
    conversion = choose_conversion(
        source.layout, result.layout, bits_of(source.element), kernel.target
    )
    if conversion.trip is None:
        _explain_registers(kernel, op, source, result, as_bytes=conversion.as_bytes)
        if not conversion.as_bytes:
            return
    with ir.InsertionPoint(op):
        value = _widened(op.source) if conversion.as_bytes else op.source
        if conversion.trip is not None:
            moved = _go_through_shared(op, value, result.layout, conversion.trip, kernel, types)
        else:
            element = _tile(value).element
            wide = tensor_type(source.shape, element, result.layout)
            moved = emit(ConvertLayoutOp, [value], wide)
        if conversion.as_bytes:
            moved = _narrowed(moved, op.result.type)
    op.result.replace_all_uses_with(moved)
    op.operation.erase()


def _widened(value: Value) -> Value:
    """A tile of elements of less than a byte as one of bytes."""
    tile = _tile(value)
    if not isinstance(tile.element, ir.IntegerType):
        code = ir.IntegerType.get_signless(bits_of(tile.element))
        value = arith.bitcast(value, tensor_type(tile.shape, code, tile.layout))
    byte = ir.IntegerType.get_signless(8)
    return arith.extui(value, tensor_type(tile.shape, byte, tile.layout))


def _narrowed(value: Value, type_: Type) -> Value:
    """The other way round: a tile of bytes as one of `type_`."""
    tile = tile_value(type_)
    assert tile is not None
    if isinstance(tile.element, ir.IntegerType):
        return arith.trunci(value, type_)
    code = ir.IntegerType.get_signless(bits_of(tile.element))
    narrow = arith.trunci(value, tensor_type(tile.shape, code, tile.layout))
    return arith.bitcast(narrow, type_)


def _tile(value: Value) -> TileValue:
    found = tile_value(value.type)
    assert found is not None
    return found


def _go_through_shared(
    op: ConvertLayoutOp,
    value: Value,
    wanted: LinearLayout,
    trip: Trip,
    kernel: Kernel,
    types: FragmentTypes,
) -> Value:
    """The tile under the layout `wanted`, by way of a buffer at the top of the kernel."""
    tile = _tile(value)
    plan, buffer_type, forms = choose_trip(trip, tile.element, kernel.target, types)
    _explain(kernel, op, plan, trip.offered)
    with ir.InsertionPoint(kernel.function.entry_block.operations[0]):
        buffer = emit(AllocSharedOp, [], buffer_type)
    is_matrix = tile.shape == trip.shape
    if not is_matrix:
        value = emit(ReshapeOp, [value], tensor_type(trip.shape, tile.element, trip.source))
    zero = index_constant(0)
    store, load = (ir.StringAttr.get(form) for form in forms)
    if _may_repeat(op, kernel):  # whoever still reads what the round before left must be done first
        gpu.barrier()
    emit_effect(StoreOp, [value, buffer, zero, zero], form=store)
    gpu.barrier()
    type_ = tensor_type(tile.shape, tile.element, wanted)
    if is_matrix:
        return emit(LoadOp, [buffer, zero, zero], type_, form=load)
    matrix = tensor_type(trip.shape, tile.element, trip.result)
    return emit(ReshapeOp, [emit(LoadOp, [buffer, zero, zero], matrix, form=load)], type_)


def _may_repeat(op: ConvertLayoutOp, kernel: Kernel) -> bool:
    """Whether an op may be executed more than once."""
    around: Op | None = op.operation.parent
    while around is not None and not is_function(around):
        if control_flow(around) is None or is_loop(around) or _has_branches(around):
            return True
        around = around.operation.parent
    return not kernel.is_entry or _has_branches(kernel.function)


def _has_branches(op: Op) -> bool:
    """Whether a region has several blocks, between which there may be a way back."""
    return any(len(region.blocks) > 1 for region in op.regions)


def _explain_registers(
    kernel: Kernel, op: ConvertLayoutOp, source: TileValue, result: TileValue, *, as_bytes: bool
) -> None:
    bits = 8 if as_bytes else bits_of(source.element)
    plan = convert(source.layout, result.layout, bits, kernel.target)
    if not isinstance(plan, Nothing):
        kernel.analysis(op, f"{_in_registers(plan)}, cost {plan.price.total}")


def _in_registers(plan: Plan) -> str:
    match plan:
        case Transposition():
            return f"takes {plan.price.wavefronts} movmatrix per warp"
        case Shuffles():
            return f"takes {plan.price.wavefronts} shuffles per warp"
    return "permutes registers" if plan.price.total else "renames registers"


def _explain(
    kernel: Kernel, op: ConvertLayoutOp, plan: SharedTrip, offered: tuple[Plan, ...]
) -> None:
    registers = [p for p in offered if not isinstance(p, SharedTrip)]
    others = [f"{type(p).__name__.lower()} {p.price.total}" for p in registers]
    instead = f"; instead of {', '.join(others)}" if others else ""
    kernel.remark(
        op,
        f"goes through {plan.bytes} bytes of shared memory, by {plan.store.instructions} "
        f"{plan.store.name} and {plan.load.instructions} {plan.load.name} per warp, "
        f"cost {plan.price.total}{instead}",
    )

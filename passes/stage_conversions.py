"""`tile-stage-conversions`: what cannot stay in registers goes through shared memory."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any, ClassVar

from tilec.dialects.tile.dialect import SharedAttr
from tilec.dialects.tile.stored import stored_elements
from tilec.dialects.tile.tiles import bits_of, tensor_type, tile_value
from tilec.ir.mlir import ir
from tilec.isa import Target, TilecError
from tilec.layout import LayoutError, LinearLayout
from tilec.layout.conversion import conversion_plans
from tilec.layout.plans import Plan, SharedTrip
from tilec.layout.views import reshaped

from .base import Diagnostic, Pass, PassError, remark, walk
from .emit import create, index_constant
from .functions import functions, gpu_modules, target_of


@dataclass(frozen=True)
class StageConversions(Pass):
    """Replace `tile.convert_layout` by a trip through shared memory where that is the plan.

    In and out: level 2. A conversion between warps, and one within a warp for which the trip
    is cheapest, becomes a buffer, swizzled free of conflicts where that is possible, and
    barrier, store, barrier, load. A tile that is no matrix goes as one, the last dimension its
    columns; elements of less than a byte go as bytes. Other conversions stay.
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
    if source is None or result is None:
        raise TilecError("takes tiles with layouts here: run tile-assign-layouts first")
    if source.is_fragment:
        return
    bits = bits_of(source.element)
    if _stays(source.layout, result.layout, bits, target):
        return
    with ir.InsertionPoint(op), op.location:
        value = op.operands[0]
        if bits < 8:
            value = _widened(value)
            source = tile_value(value.type)
            assert source is not None
            if _stays(source.layout, result.layout, 8, target):
                wide = tensor_type(source.shape, source.element, result.layout)
                moved = create("tile.convert_layout", [value], wide)
            else:
                moved = _trip(op, value, result.layout, function, target)
            moved = _narrowed(moved, op.results[0].type)
        else:
            moved = _trip(op, value, result.layout, function, target)
    op.results[0].replace_all_uses_with(moved)
    op.operation.erase()


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


def _widened(value: Any) -> Any:
    """A tile of elements of less than a byte as one of bytes."""
    tile = tile_value(value.type)
    assert tile is not None
    if not isinstance(tile.element, ir.IntegerType):
        code = ir.IntegerType.get_signless(bits_of(tile.element))
        value = create("arith.bitcast", [value], tensor_type(tile.shape, code, tile.layout))
    byte = ir.IntegerType.get_signless(8)
    return create("arith.extui", [value], tensor_type(tile.shape, byte, tile.layout))


def _narrowed(value: Any, type_: Any) -> Any:
    """The other way round: a tile of bytes as one of `type_`."""
    if isinstance(type_.element_type, ir.IntegerType):
        return create("arith.trunci", [value], type_)
    tile = tile_value(type_)
    assert tile is not None
    code = ir.IntegerType.get_signless(bits_of(tile.element))
    narrow = create("arith.trunci", [value], tensor_type(tile.shape, code, tile.layout))
    return create("arith.bitcast", [narrow], type_)


def _trip(op: Any, value: Any, wanted: LinearLayout, function: Any, target: Target | None) -> Any:
    """The tile under the layout `wanted`, by way of a buffer at the top of the kernel."""
    tile = tile_value(value.type)
    assert tile is not None
    shape = (prod(tile.shape[:-1]), tile.shape[-1])
    source, result = reshaped(tile.layout, shape), reshaped(wanted, shape)
    offered = conversion_plans(source, result, bits_of(tile.element), target)
    plan = next((p for p in offered if isinstance(p, SharedTrip) and _is_emitted(p)), None)
    if plan is None:
        raise TilecError(f"has no way from '{tile.layout}' to '{wanted}' through shared memory")
    _explain(op, plan, offered)
    element = ir.Type.parse(stored_elements(tile.element)[0])
    row_major = plan.order == ("col", "row")
    text = str(plan.swizzle if plan.swizzle is not None and row_major else plan.shared)
    with ir.InsertionPoint(function.regions[0].blocks[0].operations[0]):
        space = SharedAttr.get(ir.StringAttr.get(text))
        type_ = ir.MemRefType.get(list(shape), element, memory_space=space)
        buffer = create("tile.alloc_shared", [], type_)
    is_matrix = tile.shape == shape
    if not is_matrix:
        value = create("tile.reshape", [value], tensor_type(shape, tile.element, source))
    zero = index_constant(0)
    # Whoever still reads what an earlier round of a loop left must be done first.
    ir.Operation.create("gpu.barrier")
    ir.Operation.create("tile.store", operands=[value, buffer, zero, zero])
    ir.Operation.create("gpu.barrier")
    given = tensor_type(tile.shape, tile.element, wanted)
    if is_matrix:
        return create("tile.load", [buffer, zero, zero], given)
    matrix = tensor_type(shape, tile.element, result)
    return create("tile.reshape", [create("tile.load", [buffer, zero, zero], matrix)], given)


def _is_emitted(plan: SharedTrip) -> bool:
    """Whether matrix instructions find their rows in consecutive columns, where they are sought."""
    places = plan.shared.bases["offset"]
    widths = [access.width * 8 // access.bits for access in (plan.store, plan.load) if access.form]
    return all(
        places[bit] == (0, 1 << bit) for bit in range(max(widths, default=1).bit_length() - 1)
    )


def _explain(op: Any, plan: SharedTrip, offered: tuple[Plan, ...]) -> None:
    registers = [p for p in offered if not isinstance(p, SharedTrip)]
    others = [f"{type(p).__name__.lower()} {p.price.total}" for p in registers]
    instead = f"; instead of {', '.join(others)}" if others else ""
    remark(
        op.location,
        f"'tile.convert_layout' op goes through {plan.bytes} bytes of shared memory, by "
        f"{plan.store.instructions} {plan.store.name} and {plan.load.instructions} "
        f"{plan.load.name} a warp: costs {plan.price.total}{instead}",
    )

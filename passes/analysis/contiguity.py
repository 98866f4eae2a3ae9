"""How many elements of global memory one access may take: strides, divisibility, alignment."""

from __future__ import annotations

from collections.abc import Sequence

from tilec.dialects.tile.tiles import bits_of
from tilec.ir.aliases import Value
from tilec.ir.attributes import attribute
from tilec.ir.dimensions import dimension_of
from tilec.ir.mlir import ir, scf
from tilec.ir.types import strides_and_offset
from tilec.isa.limits import CTAS_ALONG_X
from tilec.isa.wording import counted

from ..emit import constant_in, constant_of
from ..functions import function_around
from .memory_facts import memory_facts
from .multiples import multiple_of

ACCESS_BYTES = 16
"""The widest access of one thread."""


Range = tuple[int | None, int | None]
"""The least and the greatest that an index can be, each None if unknown."""


def contiguous(memref: Value) -> int:
    """Elements that are contiguous and aligned as one access, from each multiple of them on.

    That is along the memref's last dimension, at most 16 bytes.
    """
    type_ = ir.MemRefType(memref.type)
    strides, _ = strides_and_offset(type_)
    if not strides or strides[-1] != 1:
        return 1
    facts = memory_facts(memref)
    size = bits_of(type_.element_type) // 8
    aligned = max(1, min(facts.aligned, ACCESS_BYTES) // size)
    return min([aligned, *facts.strides[:-1]])


def why_narrow(memref: Value) -> str:
    """What keeps `contiguous` below 16 bytes, and what would say otherwise; empty if nothing."""
    type_ = ir.MemRefType(memref.type)
    strides, offset = strides_and_offset(type_)
    dynamic = ir.ShapedType.get_dynamic_stride_or_offset()
    if not strides or strides[-1] != 1:
        return "the last dimension is not known to be contiguous"
    facts = memory_facts(memref)
    size = bits_of(type_.element_type) // 8
    reasons = []
    if facts.aligned < ACCESS_BYTES:
        reasons.append(
            "its offset is dynamic"
            if offset == dynamic
            else f"its address is a multiple of {counted(facts.aligned, 'byte')} "
            "(tile.aligned may guarantee more)"
        )
    for dim, multiple in enumerate(facts.strides[:-1]):
        if multiple * size < ACCESS_BYTES:
            reasons.append(
                f"stride {dim} is a multiple of {multiple} (tile.strides may guarantee more)"
            )
    return ", ".join(reasons)


def together(memref: Value) -> int:
    """Elements that are inside or outside together, from each multiple of them on: a power of two.

    Those along the memref's last dimension.
    """
    return memory_facts(memref).sizes[-1]


def in_bounds(memref: Value, indices: Sequence[Value], shape: tuple[int, ...]) -> bool:
    """Whether a tile of `shape`, in the last dimensions, is known to lie within the memref."""
    extents = (*(1,) * (len(indices) - len(shape)), *shape)
    return all(
        reaches_inside(memref, dim, index, extent)
        for dim, (index, extent) in enumerate(zip(indices, extents, strict=True))
    )


def reaches_inside(memref: Value, dim: int, index: Value, extent: int = 1) -> bool:
    """Whether `extent` places of one dimension, from `index` on, are known to be in bounds."""
    type_ = ir.MemRefType(memref.type)
    first, last = _range(index)
    if first is None or first < 0:
        return False
    if not type_.is_dynamic_dim(dim) and last is not None:
        return last + extent <= type_.get_dim_size(dim)
    # Tiles that begin below the size, both being multiples of the extent.
    return (
        multiple_of(index) % extent == 0
        and memory_facts(memref).sizes[dim] % extent == 0
        and _below_size(index, memref, dim)
    )


def not_negative(index: Value, depth: int = 8) -> bool:
    """Whether an index is known not to be negative."""
    first, _ = _range(index, depth)
    return first is not None and first >= 0


def _below_size(index: Value, memref: Value, dim: int) -> bool:
    """Whether an index counts a loop up to the memref's size in a dimension."""
    loop = _counted_loop(index)
    if loop is None:
        return False
    bound, type_ = loop.upperBound, ir.MemRefType(memref.type)
    if not type_.is_dynamic_dim(dim):
        known = constant_of(bound)
        return known is not None and known <= type_.get_dim_size(dim)
    owner = bound.owner
    return (
        not isinstance(owner, ir.Block)
        and owner.name == "memref.dim"
        and owner.operands[0] == memref
        and constant_of(owner.operands[1]) == dim
    )


def _counted_loop(index: Value) -> scf.ForOp | None:
    """The loop that an index counts, if it does."""
    loop = index.owner.owner if isinstance(index, ir.BlockArgument) else None
    return loop if isinstance(loop, scf.ForOp) and loop.induction_variable == index else None


def _range(value: Value, depth: int = 8) -> Range:
    """The least and the greatest that an index can be."""
    owner = value.owner
    if isinstance(owner, ir.Block):
        loop = _counted_loop(value) if depth else None
        return (None, None) if loop is None else _range_of_count(loop, depth)
    known = constant_in(owner)
    if known is not None:
        return known, known
    if depth == 0:
        return None, None
    operands = owner.operands
    match owner.name:
        case "gpu.block_id":
            return 0, _blocks(owner)
        case "memref.dim" | "gpu.thread_id":
            return 0, None
        case "gpu.grid_dim":
            return 1, CTAS_ALONG_X
        case "arith.index_castui" if isinstance(operands[0].type, ir.IntegerType):
            low, high = _range(operands[0], depth - 1)
            most = (1 << operands[0].type.width) - 1
            if low is None or high is None or low < 0 or high > most:  # it may wrap
                return 0, most
            return low, high
        case "arith.shrui" if constant_of(operands[1]):
            return 0, None
        case "arith.divui" | "arith.remui" | "arith.ceildivui" if all(
            not_negative(v, depth - 1) for v in operands
        ):
            return 0, None
        case "arith.andi" if any(not_negative(v, depth - 1) for v in operands):
            masks = (constant_of(v) for v in operands)
            return 0, min((mask for mask in masks if mask is not None and mask >= 0), default=None)
        case "arith.minui" if any(not_negative(v, depth - 1) for v in operands):
            return 0, None
        case "arith.shli":
            low, _ = _range(operands[0], depth - 1)
            by = constant_of(operands[1])
            return (None if low is None or by is None else low << by), None
        case "arith.addi":
            (low, high), (low_too, high_too) = (_range(v, depth - 1) for v in operands)
            return _sum(low, low_too), _sum(high, high_too)
        case "arith.muli":
            (low, high), (by, same) = (_range(v, depth - 1) for v in operands)
            if by is None or by < 0:
                return None, None
            if by != same:  # no constant: it must not wrap
                if low is None or high is None or same is None or low < 0 or high * same >= 1 << 63:
                    return None, None
                return low * by, high * same
            return (None if low is None else low * by), (None if high is None else high * by)
    return None, None


def _range_of_count(loop: scf.ForOp, depth: int) -> Range:
    """Of what a loop counts."""
    low, _ = _range(loop.lowerBound, depth - 1)
    _, bound = _range(loop.upperBound, depth - 1)
    least, _ = _range(loop.step, depth - 1)
    if low is None or least is None or least < 1:
        return None, None
    if bound is None:
        return low, None
    start, step = constant_of(loop.lowerBound), constant_of(loop.step)
    if start is None or step is None:
        return low, bound - 1
    return low, start + max(0, (bound - 1 - start) // step * step)


def _blocks(block_id: ir.OpView) -> int:
    """The greatest block number along the dimension that a `gpu.block_id` asks for."""
    if "upper_bound" in block_id.attributes:
        return attribute(block_id, "upper_bound", ir.IntegerAttr).value - 1
    function = function_around(block_id)
    if function is None or "known_grid_size" not in function.attributes:
        return CTAS_ALONG_X - 1
    sizes = attribute(function, "known_grid_size", ir.DenseI32ArrayAttr)
    return sizes[dimension_of(block_id)] - 1


def _sum(a: int | None, b: int | None) -> int | None:
    return None if a is None or b is None else a + b

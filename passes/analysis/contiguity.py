"""How many elements of global memory one access may take: strides, divisibility, alignment."""

from __future__ import annotations

from typing import Any

from tilec.dialects.tile.tiles import bits_of
from tilec.ir.mlir import ir

from ..emit import constant_of
from .memory_facts import memory_facts
from .multiples import multiple_of

ACCESS_BYTES = 16
"""The widest access of one thread."""


def contiguous(memref: Any) -> int:
    """Elements that are contiguous and aligned as one access, from each multiple of them on.

    That is along the memref's last dimension, at most 16 bytes.
    """
    strides, _ = memref.type.get_strides_and_offset()
    if not strides or strides[-1] != 1:
        return 1
    facts = memory_facts(memref)
    size = bits_of(memref.type.element_type) // 8
    aligned = max(1, min(facts.aligned, ACCESS_BYTES) // size)
    return min([aligned, *facts.strides[:-1]])


def why_narrow(memref: Any) -> str:
    """What keeps `contiguous` below 16 bytes, and what would say otherwise; empty if nothing."""
    strides, offset = memref.type.get_strides_and_offset()
    dynamic = ir.ShapedType.get_dynamic_stride_or_offset()
    if not strides or strides[-1] != 1:
        return "the last dimension is not known to be contiguous"
    facts = memory_facts(memref)
    size = bits_of(memref.type.element_type) // 8
    reasons = []
    if facts.aligned < ACCESS_BYTES:
        reasons.append(
            "its offset is dynamic"
            if offset == dynamic
            else f"its address is a multiple of {facts.aligned} bytes (tile.aligned may say more)"
        )
    for dim, multiple in enumerate(facts.strides[:-1]):
        if multiple * size < ACCESS_BYTES:
            reasons.append(f"stride {dim} is a multiple of {multiple} (tile.strides may say more)")
    return ", ".join(reasons)


def together(memref: Any) -> int:
    """Elements that are inside or outside together, from each multiple of them on: a power of two.

    Those along the memref's last dimension.
    """
    return memory_facts(memref).sizes[-1]


def in_bounds(memref: Any, indices: list[Any], shape: tuple[int, ...]) -> bool:
    """Whether a tile of `shape`, in the last dimensions, is known to lie within the memref."""
    extents = (*(1,) * (len(indices) - len(shape)), *shape)
    return all(
        reaches_inside(memref, dim, index, extent)
        for dim, (index, extent) in enumerate(zip(indices, extents, strict=True))
    )


def reaches_inside(memref: Any, dim: int, index: Any, extent: int = 1) -> bool:
    """Whether `extent` places of one dimension, from `index` on, are known to be in bounds."""
    type_ = memref.type
    first, last = _range(index)
    if first is None or first < 0:
        return False
    if not type_.is_dynamic_dim(dim) and last is not None:
        return last + extent <= int(type_.get_dim_size(dim))
    # Tiles that begin below the size, both being multiples of the extent.
    return (
        multiple_of(index) % extent == 0
        and memory_facts(memref).sizes[dim] % extent == 0
        and _below_size(index, memref, dim)
    )


def not_negative(index: Any, depth: int = 8) -> bool:
    """Whether an index is known not to be negative."""
    first, _ = _range(index, depth)
    return first is not None and first >= 0


def _below_size(index: Any, memref: Any, dim: int) -> bool:
    """Whether an index counts a loop up to the memref's size in a dimension."""
    block = index.owner
    if not isinstance(block, ir.Block) or block.owner.operation.name != "scf.for":
        return False
    if index.arg_number != 0:
        return False
    bound = block.owner.operation.operands[1]
    if not memref.type.is_dynamic_dim(dim):
        known = constant_of(bound)
        return known is not None and known <= int(memref.type.get_dim_size(dim))
    owner = bound.owner
    return (
        not isinstance(owner, ir.Block)
        and owner.name == "memref.dim"
        and owner.operands[0] == memref
        and constant_of(owner.operands[1]) == dim
    )


def _range(value: Any, depth: int = 8) -> tuple[int | None, int | None]:
    """The least and the greatest that an index can be, each None if unknown."""
    known = constant_of(value)
    if known is not None:
        return known, known
    owner = value.owner
    if depth == 0:
        return None, None
    if isinstance(owner, ir.Block):
        return _range_of_argument(value, owner, depth)
    operands = list(owner.operands)
    match owner.name:
        case "gpu.block_id":
            return 0, _blocks(owner)
        case "memref.dim" | "gpu.thread_id":
            return 0, None
        case "arith.shrui" if constant_of(operands[1]):
            return 0, None
        case "arith.andi" if any(not_negative(v, depth - 1) for v in operands):
            return 0, None
        case "arith.shli":
            low, _ = _range(operands[0], depth - 1)
            by = constant_of(operands[1])
            return (None if low is None or by is None else low << by), None
        case "arith.addi":
            sides = [_range(v, depth - 1) for v in operands]
            return _each(sum, [s[0] for s in sides]), _each(sum, [s[1] for s in sides])
        case "arith.muli":
            (low, high), (by, same) = (_range(v, depth - 1) for v in operands)
            if by is None or by != same or by < 0:
                return None, None
            return (None if low is None else low * by), (None if high is None else high * by)
    return None, None


def _range_of_argument(value: Any, block: Any, depth: int) -> tuple[int | None, int | None]:
    """Of what a loop counts."""
    parent = block.owner.operation
    if parent.name != "scf.for" or value.arg_number != 0:
        return None, None
    low, _ = _range(parent.operands[0], depth - 1)
    _, bound = _range(parent.operands[1], depth - 1)
    step = constant_of(parent.operands[2])
    if low is None or step is None or step < 1:
        return None, None
    if bound is None:
        return low, None
    start = constant_of(parent.operands[0])
    last = bound - 1 if start is None else start + max(0, (bound - 1 - start) // step * step)
    return low, last


def _blocks(block_id: Any) -> int | None:
    """The greatest block number along the dimension that a `gpu.block_id` asks for, if known."""
    if "upper_bound" in block_id.attributes:
        return int(block_id.attributes["upper_bound"].value) - 1
    function = block_id.parent
    while function.operation.name != "gpu.func":
        function = function.operation.parent
    attributes = function.operation.attributes
    if "known_grid_size" not in attributes:
        return None
    at = "xyz".index(str(block_id.attributes["dimension"]).rstrip(">")[-1])
    return int(list(ir.DenseI32ArrayAttr(attributes["known_grid_size"]))[at]) - 1


def _each(fold: Any, values: list[int | None]) -> int | None:
    known = [v for v in values if v is not None]
    return fold(known) if len(known) == len(values) else None

"""Shared memory that is written while a product may read it, as far as indices tell."""

from __future__ import annotations

from collections.abc import Iterator

from tilec.dialects.semantics import Resource, writes
from tilec.dialects.semantics.ask import root_memory
from tilec.dialects.semantics.upstream import constant_of
from tilec.dialects.tile.ops.base import Region, TileOp
from tilec.dialects.tile.ops.wgmma import WgmmaProduct
from tilec.ir.aliases import Op, Value
from tilec.ir.mlir import ir

from .products_in_flight import Flight, product_of


def overwritten_product(op: Op, flight: Flight) -> WgmmaProduct | None:
    """A product in flight of which an op certainly writes what that may read, if one is known."""
    view = op.operation.opview
    target = next((one for one in writes(op, Resource.SHARED) if one is not None), None)
    region = view.reached() if target is not None and isinstance(view, TileOp) else None
    if target is None or region is None:
        return None
    for result, present in flight.reads:
        product = product_of(result)
        if not _on_one_way(op.operation, product.operation):
            continue
        for memref, read in _operands(product):
            if memref == target == root_memory(target) and _meet(
                region, read, ir.MemRefType(memref.type), same_round=present
            ):
                return product
    return None


def _on_one_way(one: ir.Operation, other: ir.Operation) -> bool:
    """Whether one stands in the block of the other, or in one inside it, where its threads come."""
    return _is_under(one, other.block) or _is_under(other, one.block)


def _is_under(op: ir.Operation | None, block: ir.Block) -> bool:
    while op is not None and op.parent is not None:
        if op.block == block:
            return True
        op = op.parent.operation
    return False


def _operands(op: WgmmaProduct) -> Iterator[tuple[Value, Region]]:
    """The memrefs that a product reads, and which part of each."""
    form = op.key
    for number, name in enumerate("ab"):
        operand = form.operand(name)
        if not operand.threads:
            shape = operand.rows, operand.cols
            if (name == "b") != bool(op.selector_value(f"imm_trans_{name}")):
                shape = shape[::-1]
            yield op.operands[number], Region(op.indices_of(name), shape)


def _meet(one: Region, other: Region, memref: ir.MemRefType, *, same_round: bool) -> bool:
    """Whether two parts of a memref certainly have elements in common."""
    shape = list(memref.shape)
    ones = [1] * (len(shape) - 2)
    first, second = ([*ones, *part.shape[-2:]] for part in (one, other))
    return all(
        _overlap(a, b, m, n, whole, same_round=same_round)
        for a, b, m, n, whole in zip(one.indices, other.indices, first, second, shape, strict=True)
    )


def _overlap(a: Value, b: Value, m: int, n: int, whole: int, *, same_round: bool) -> bool:
    """Whether `m` elements from `a` on and `n` from `b` on certainly meet, of so many."""
    if m >= whole or n >= whole:
        return True
    at, by = constant_of(a), constant_of(b)
    if at is not None and by is not None:
        return at < by + n and by < at + m
    return a == b and same_round

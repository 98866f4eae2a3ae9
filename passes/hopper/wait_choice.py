"""Whether a round's product may stay in flight until the next round has begun its own."""

from __future__ import annotations

from tilec.dialects.tile.attributes import DEFER_WAIT
from tilec.dialects.tile.ops.warpgroup_dot import AwaitedProduct
from tilec.ir.aliases import Op
from tilec.ir.attributes import given_attribute
from tilec.ir.mlir import ir
from tilec.isa.wording import counted

from ..analysis.costs import DEFERRED_STAGES
from .chained_products import has_chain


def may_defer(loop: Op) -> bool:
    """Whether threads wait for a loop's products, and tile-overlap-products has no say in when."""
    of_threads = any(product.accumulator_registers for product in _products(loop))
    return of_threads and not has_chain(loop)


def why_awaited(loop: Op, stages: int | None) -> str:
    """Why each round waits for its own product; empty if the next one does.

    Args:
        loop: an `scf.for` with products of warpgroups.
        stages: of the ring that holds the operands; None if threads that multiply copy them.
    """
    products = _products(loop)
    if len(products) > 1:
        return f"its body has {counted(len(products), 'product')}"
    (product,) = products
    if product.tiles().keys() - {"c"}:
        return "A, or its metadata, is in registers, which the next iteration fills"
    *_, end = loop.regions[0].blocks[0].operations
    arguments, passed = list(loop.regions[0].blocks[0].arguments)[1:], list(end.operands)
    c, uses = product.tile_values()["c"], list(product.d.uses)
    is_chained = c in arguments and len(uses) == 1 and passed[arguments.index(c)] == product.d
    if not is_chained or sum(1 for _ in c.uses) > 1:
        return "its product is not the accumulator of the next iteration"
    given = given_attribute(loop, DEFER_WAIT, ir.BoolAttr)
    if given is not None:
        return "" if given.value else f"{DEFER_WAIT} = false"
    if stages is None:
        return (
            "the threads that multiply also copy, and fill a stage anew once every product that "
            "read it has ended"
        )
    if stages < DEFERRED_STAGES:
        return (
            f"a ring of {counted(stages, 'stage')} would have none to fill while two iterations "
            f"are in flight"
        )
    return ""


def _products(loop: Op) -> list[AwaitedProduct]:
    body = loop.regions[0].blocks[0]
    return [op for op in body.operations if isinstance(op, AwaitedProduct)]

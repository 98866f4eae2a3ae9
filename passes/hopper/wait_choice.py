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
    of_threads = any(product.accumulator_registers for product in products_of(loop))
    return of_threads and not has_chain(loop)


def why_awaited(loop: Op, stages: int | None) -> str:
    """Why each round waits for its own product; empty if the next one does.

    Args:
        loop: an `scf.for` with products of warpgroups.
        stages: of the ring that holds the operands; None if threads that multiply copy them.
    """
    products = products_of(loop)
    several = f"its body has {counted(len(products), 'product')}, one of which "
    if any(product.tiles().keys() - {"c"} for product in products):
        if len(products) > 1:
            return f"{several}takes A, or its metadata, from registers"
        return "A, or its metadata, is in registers, which the next iteration fills"
    if not all(_is_chained(loop, product) for product in products):
        which = several if len(products) > 1 else "its product "
        return f"{which}is not the accumulator of the next iteration"
    if len({product.d.type for product in products}) > 1:
        return f"accumulators of its {len(products)} products differ in type"
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


def _is_chained(loop: Op, product: AwaitedProduct) -> bool:
    """Whether a product only goes on in the accumulator that it gives."""
    *_, end = loop.regions[0].blocks[0].operations
    arguments, passed = list(loop.regions[0].blocks[0].arguments)[1:], list(end.operands)
    c, uses = product.tile_values()["c"], list(product.d.uses)
    goes_on = c in arguments and len(uses) == 1 and passed[arguments.index(c)] == product.d
    return goes_on and sum(1 for _ in c.uses) == 1


def products_of(loop: Op) -> list[AwaitedProduct]:
    """The products of warpgroups in a loop's body."""
    body = loop.regions[0].blocks[0]
    return [op for op in body.operations if isinstance(op, AwaitedProduct)]

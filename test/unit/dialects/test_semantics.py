"""What ops declare: every class answers every question, and answers what the ISA says.

The ISA's side is read off the mnemonics: an instruction with `.aligned` is executed by all lanes
of a warp (PTX ISA, "mma", "ldmatrix", ...).
"""

from __future__ import annotations

import pytest
from tilec.dialects import semantics
from tilec.dialects.semantics import Access, LayoutRule, Resource, Scope, Spread, Variation
from tilec.dialects.semantics.upstream import BEGINNINGS, OPS, upstream
from tilec.dialects.tile import ops
from tilec.dialects.tile.dots import DOTS
from tilec.dialects.tile.families import TILE_OPS
from tilec.dialects.tile.ops.base import RelatedOp, TileOp
from tilec.dialects.tile.ops.memory import MemoryOp
from tilec.ir.mlir import ir
from tilec.isa import warp_forms

CLASSES = {
    op.OPERATION_NAME: op
    for op in (getattr(ops, name) for name in ops.__all__)
    if isinstance(op, type)
}

WRITES = {  # what an op leaves behind besides its results
    "tile.async_commit": {Resource.COPIES},
    "tile.async_copy": {Resource.COPIES, None},
    "tile.async_wait": {Resource.COPIES, Resource.SHARED},
    "tile.atomic": {None},
    "tile.atomic_cas": {None},
    "tile.atomic_rmw": {None},
    "tile.atomic_scatter": {None},
    "tile.inline_asm_volatile": {Resource.OUTSIDE},
    "tile.scatter": {None},
    "tile.stmatrix": {None},
    "tile.store": {None},
    "tile.barrier_arrive": {Resource.GLOBAL, Resource.SHARED, Resource.BARRIERS},
    "tile.barrier_expect": {Resource.GLOBAL, Resource.SHARED, Resource.BARRIERS},
    "tile.barrier_init": {Resource.GLOBAL, Resource.SHARED, Resource.BARRIERS},
    "tile.barrier_wait": {Resource.GLOBAL, Resource.SHARED, Resource.BARRIERS},
    "tile.tcgen05_alloc": {Resource.TENSOR, None},
    "tile.tcgen05_commit": {
        Resource.GLOBAL,
        Resource.SHARED,
        Resource.BARRIERS,
        Resource.TENSOR,
    },
    "tile.tcgen05_cp": {None},
    "tile.tcgen05_dealloc": {Resource.TENSOR},
    "tile.tcgen05_fence": {Resource.TENSOR},
    "tile.tcgen05_ld": {Resource.TENSOR},
    "tile.tcgen05_ld_red": {Resource.TENSOR},
    "tile.tcgen05_mma": {None},
    "tile.tcgen05_mma_scaled": {None},
    "tile.tcgen05_mma_sp": {None},
    "tile.tcgen05_mma_sp_scaled": {None},
    "tile.tcgen05_relinquish": {Resource.TENSOR},
    "tile.tcgen05_shift": {None},
    "tile.tcgen05_st": {None},
    "tile.tcgen05_wait_ld": {Resource.TENSOR},
    "tile.tcgen05_wait_st": {Resource.TENSOR},
    "tile.tensor_load": {Resource.TENSOR},
    "tile.tensor_store": {Resource.TENSOR, None},
    "tile.tma_gather": {Resource.BARRIERS, None},
    "tile.tma_gather_prefetch": {Resource.COPIES},
    "tile.tma_load": {Resource.BARRIERS, None},
    "tile.tma_prefetch": {Resource.COPIES},
    "tile.tma_reduce": {Resource.COPIES, None},
    "tile.tma_scatter": {Resource.COPIES, None},
    "tile.tma_store": {Resource.COPIES, None},
    "tile.try_cancel": {Resource.BARRIERS, None},
    "tile.wgmma": {Resource.ACCUMULATORS},
    "tile.wgmma_commit": {Resource.ACCUMULATORS},
    "tile.wgmma_fence": {Resource.ACCUMULATORS},
    "tile.wgmma_sp": {Resource.ACCUMULATORS},
    "tile.wgmma_wait": {Resource.ACCUMULATORS},
    "tile.warpgroup_start": {Resource.ACCUMULATORS},
    "tile.warpgroup_wait": {Resource.ACCUMULATORS},
    "tile.wmma_store": {None},
}


def test_all_classes_are_here() -> None:
    def leaves(cls: type) -> set[type]:
        inner = cls.__subclasses__()
        return {leaf for one in inner for leaf in leaves(one)} if inner else {cls}

    ours = {c for c in leaves(TileOp) if c.__module__.startswith("tilec.")}
    assert ours == set(CLASSES.values())


@pytest.mark.parametrize("name", CLASSES)
def test_every_question_is_answered(name: str) -> None:
    declared = CLASSES[name].SEMANTICS
    assert declared is not semantics.UNKNOWN
    assert callable(declared.scope) or isinstance(declared.scope, Scope)
    assert declared.effects is not None
    assert callable(declared.varies) or isinstance(declared.varies, Variation)
    assert isinstance(declared.layouts, LayoutRule)
    assert (declared.layouts is LayoutRule.RELATED) == issubclass(CLASSES[name], RelatedOp)
    assert (declared.layouts is LayoutRule.MOVED) == issubclass(CLASSES[name], MemoryOp)


@pytest.mark.parametrize("name", CLASSES)
def test_writers_are_kept(name: str) -> None:
    changed = {
        touch.resource
        for touch in CLASSES[name].SEMANTICS.effects or ()
        if touch.access in (Access.WRITE, Access.ORDER)
    }
    assert changed == WRITES.get(name, set())


def test_aligned_instructions_are_a_warps() -> None:
    products = {dot.family: name for name, dot in DOTS.items()}
    for form in warp_forms().values():
        aligned = ".aligned" in form.ptx
        for name in filter(None, (TILE_OPS[form.family], products.get(form.family))):
            assert (CLASSES[name].SEMANTICS.scope is Scope.WARP) == aligned, (name, form.ptx)


def test_upstream_names_exist() -> None:
    """The table names ops that there are: a misspelt name would mean nothing."""
    with ir.Context() as context:
        missing = []
        for name in OPS:
            context.dialects[name.partition(".")[0]]
            if not context.is_registered_operation(name):
                missing.append(name)
        assert missing == []
        for start in BEGINNINGS:
            context.dialects[start.partition(".")[0]]


def test_longest_beginning_counts() -> None:
    assert upstream("nvvm.read.ptx.sreg.ntid.x").varies is Variation.CTA
    assert upstream("nvvm.read.ptx.sreg.tid.y").varies is Variation.DIVERGENT
    assert upstream("nvvm.read.ptx.sreg.tid.x").varies is Variation.THREAD_NUMBER
    assert upstream("nvvm.wgmma.mma_async").scope is Scope.WARPGROUP
    assert upstream("acme.fma") is None


def test_unknown_ops_are_taken_for_the_worst() -> None:
    with ir.Context() as context, ir.Location.unknown():
        context.allow_unregistered_dialects = True
        module = ir.Module.create()
        with ir.InsertionPoint(module.body):
            op = ir.Operation.create("acme.fence", results=[ir.IndexType.get()])
        assert semantics.scope_of(op) is Scope.CLUSTER
        assert semantics.effects_of(op) is None
        assert not semantics.is_removable(op)
        assert not semantics.is_movable(op)
        assert list(semantics.writes(op, Resource.GLOBAL)) == [None]
        assert semantics.variation_of(op) is Variation.DIVERGENT
        assert semantics.layout_rule(op) is LayoutRule.UNKNOWN
        assert max(Spread) is Spread.DIVERGENT

"""What upstream's ops mean, those that tilec's passes meet: the one table of their names.

An op stands here by its name, or by the beginning of it where all that begin so are alike; the
longest beginning counts. Upstream has interfaces for some of this, in C++, which the bindings do
not let Python ask.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from types import MappingProxyType

from tilec.ir.aliases import Op, Value
from tilec.ir.mlir import ir

from .control import Branch, Conditional, Counted, Parallel
from .declaration import PURE, Semantics
from .effects import (
    ANY_MEMORY,
    FINDS,
    MEETS,
    MEMORIES,
    ORDERS_MEMORY,
    Access,
    Resource,
    Touch,
    reads,
    updates,
    writes_to,
)
from .layouts import LayoutRule
from .place import Place
from .scope import Scope
from .spread import Variation

FUNCTIONS = frozenset({"func.func", "gpu.func", "llvm.func"})
"""What control flow does not leave."""
LAUNCHES = frozenset({"gpu.launch", "gpu.launch_func"})
"""What only a host may do."""
CONSTANTS = frozenset({"arith.constant", "llvm.mlir.constant"})
"""Whose attribute `value` is the result."""


@lru_cache(maxsize=4096)
def upstream(name: str) -> Semantics | None:
    """The declaration of one of upstream's ops; None if the table has none.

    Args:
        name: the op's full name, such as `arith.addi`.
    """
    found = OPS.get(name)
    if found is not None:
        return found
    beginnings = [start for start in BEGINNINGS if name.startswith(start)]
    return BEGINNINGS[max(beginnings, key=len)] if beginnings else None


def constant_of(value: Value) -> int | None:
    """The integer that `value` is known to be, or None."""
    owner = value.owner
    return None if isinstance(owner, ir.Block) else constant_in(owner)


def constant_in(op: Op) -> int | None:
    """The integer that an op is known to give, or None."""
    if op.operation.name not in CONSTANTS:
        return None
    attribute = op.attributes["value"]
    return attribute.value if isinstance(attribute, ir.IntegerAttr) else None


_READS_MEMORY = tuple(Touch(Access.READ, resource) for resource in MEMORIES)
_WRITES_MEMORY = tuple(Touch(Access.WRITE, resource) for resource in MEMORIES)
_OUTSIDE = (Touch(Access.WRITE, Resource.OUTSIDE),)

_LANE = Semantics(scope=Scope.LANE)
"""Each lane for itself; what it does is not known."""
_COMPUTES = _LANE.but(varies=Variation.AS_OPERANDS)
"""The same, with results that are as uniform as its operands."""
_WARP = Semantics(scope=Scope.WARP, varies=Variation.AS_OPERANDS)
_READER = _COMPUTES.but(effects=(reads(0),))
_VIEW = PURE.but(aliases=0)
_CARRIED = PURE.but(layouts=LayoutRule.CARRIED)
_ELEMENTWISE = PURE.but(layouts=LayoutRule.JOINED, cost=1)
_CAST = _ELEMENTWISE.but(varies=Variation.SAME_VALUE)
_PER_LANE = PURE.but(varies=Variation.DIVERGENT)
_PER_WARP = PURE.but(varies=Variation.WARP)
_PER_CTA = PURE.but(varies=Variation.CTA)
_THREAD = PURE.but(varies=Variation.THREAD_NUMBER)
_UPDATES = _LANE.but(effects=ANY_MEMORY)
"""Reads and writes memory, and gives each lane what it found."""
_BARRIER = _WARP.but(effects=MEETS)
"""Of whole warps, which it counts, at whatever place of the program they come to one."""
_FENCE = _LANE.but(effects=ORDERS_MEMORY)
_PRODUCT = PURE.but(scope=Scope.WARP)


def _each(prefix: str, names: str, meaning: Semantics) -> Iterator[tuple[str, Semantics]]:
    """The same declaration for several ops of a dialect."""
    for name in names.split():
        yield f"{prefix}.{name}", meaning


OPS: Mapping[str, Semantics] = MappingProxyType(
    dict(
        (
            # Arithmetic, each lane for itself; on tiles element by element.
            ("arith.constant", PURE.but(layouts=LayoutRule.FREE, cost=0)),
            *_each("arith", "index_cast index_castui extui extsi trunci", _CAST),
            # Structured control flow.
            ("scf.for", _COMPUTES.but(effects=(), layouts=LayoutRule.CARRIED, control=Counted())),
            ("scf.if", _COMPUTES.but(effects=(), layouts=LayoutRule.CARRIED, control=Branch())),
            (
                "scf.while",
                _COMPUTES.but(effects=(), layouts=LayoutRule.CARRIED, control=Conditional()),
            ),
            *_each("scf", "forall parallel", _LANE.but(control=Parallel())),
            *_each("scf", "condition yield", _CARRIED),
            *_each("gpu", "return yield terminator", PURE),
            *_each("cf", "br cond_br switch", PURE),
            ("cf.assert", _LANE.but(effects=_OUTSIDE)),
            ("func.return", PURE),
            ("gpu.printf", _LANE.but(effects=_OUTSIDE)),
            # Who a thread is.
            *_each("gpu", "thread_id", _THREAD),
            *_each("gpu", "global_id lane_id", _PER_LANE),
            *_each("gpu", "subgroup_id", _PER_WARP),
            *_each(
                "gpu",
                "block_dim cluster_block_id cluster_dim cluster_dim_blocks cluster_id "
                "dynamic_shared_memory num_subgroups subgroup_size",
                PURE,
            ),
            # Where a CTA is.
            ("gpu.block_id", PURE.but(place=Place.BLOCK)),
            ("gpu.grid_dim", PURE.but(place=Place.GRID)),
            ("nvvm.read.ptx.sreg.cluster.ctarank", PURE.but(place=Place.CLUSTER)),
            ("nvvm.read.ptx.sreg.tid.x", _THREAD),
            ("nvvm.read.ptx.sreg.laneid", _PER_LANE),
            ("nvvm.read.ptx.sreg.warpid", _PER_WARP),
            *_each(
                "nvvm.read.ptx.sreg",
                "clock clock64 globaltimer globaltimer.lo",
                _LANE.but(effects=_OUTSIDE),
            ),
            # Among the lanes of a warp. Those with a mask say themselves who comes.
            ("gpu.shuffle", _PER_LANE.but(scope=Scope.WARP)),
            ("gpu.subgroup_reduce", PURE.but(scope=Scope.WARP, varies=Variation.WARP_AT_MOST)),
            ("gpu.subgroup_broadcast", PURE.but(scope=Scope.WARP, varies=Variation.WARP_AT_MOST)),
            ("gpu.all_reduce", Semantics(scope=Scope.CTA, varies=Variation.CTA)),
            *_each("nvvm", "vote.sync redux.sync", _PER_WARP),
            *_each("nvvm", "elect.sync match.sync", _PER_LANE),
            # Order.
            ("gpu.barrier", _BARRIER),
            ("nvvm.bar.warp.sync", _FENCE),
            ("nvvm.barrier", _BARRIER),
            # Memory.
            *_each("memref", "load", _READER),
            *_each("memref", "dim rank extract_aligned_pointer_as_index", PURE),
            ("memref.get_global", PURE),
            *_each(
                "memref",
                "assume_alignment cast collapse_shape expand_shape extract_strided_metadata "
                "memory_space_cast reinterpret_cast reshape subview transpose view",
                _VIEW,
            ),
            ("memref.store", _LANE.but(effects=(writes_to(1),))),
            ("memref.atomic_rmw", _LANE.but(effects=updates(1))),
            ("memref.generic_atomic_rmw", _LANE.but(effects=updates(0))),
            ("memref.copy", _LANE.but(effects=(reads(0), writes_to(1)))),
            (
                "memref.alloca",
                _LANE.but(effects=(Touch(Access.ALLOCATE, Resource.LOCAL),)),
            ),
            *_each("vector", "load", _READER),
            ("vector.store", _LANE.but(effects=(writes_to(1),))),
            *_each("vector", "transfer_read maskedload gather expandload", _COMPUTES),
            *_each("vector", "transfer_write maskedstore scatter compressstore", _LANE),
            ("vector.print", _LANE.but(effects=_OUTSIDE)),
            ("llvm.load", _COMPUTES.but(effects=_READS_MEMORY)),
            ("llvm.store", _LANE.but(effects=_WRITES_MEMORY)),
            *_each("llvm", "atomicrmw cmpxchg", _UPDATES),
            ("llvm.alloca", _LANE.but(effects=(Touch(Access.ALLOCATE, Resource.LOCAL),))),
            ("llvm.fence", _FENCE),
            # What grids before have written is there after it.
            ("nvvm.griddepcontrol", _LANE.but(effects=(*ORDERS_MEMORY, FINDS))),
            *_each("llvm", "call call_intrinsic inline_asm invoke", _LANE),
            *_each("func", "call call_indirect", _LANE),
            *_each("llvm", "return br cond_br switch unreachable", _COMPUTES.but(effects=())),
            *_each(
                "llvm",
                "add and ashr bitcast extractelement extractvalue fadd fcmp fdiv fmul fneg fpext "
                "fptosi fptoui fptrunc freeze fsub getelementptr icmp insertelement insertvalue "
                "inttoptr lshr mul or ptrtoint select sext shl shufflevector sitofp sub trunc "
                "uitofp xor zext addrspacecast",
                PURE,
            ),
            *_each("llvm.intr", "fma smax smin umax umin", PURE),
            # Matrix instructions of a warp.
            ("nvvm.ldmatrix", _WARP.but(effects=(Touch(Access.READ, Resource.SHARED),))),
            ("nvvm.stmatrix", _WARP.but(effects=(Touch(Access.WRITE, Resource.SHARED),))),
            ("nvgpu.ldmatrix", _WARP.but(effects=(reads(0),))),
            ("gpu.subgroup_mma_load_matrix", _WARP.but(effects=(reads(0),))),
            ("gpu.subgroup_mma_store_matrix", _WARP.but(effects=(writes_to(1),))),
            ("nvvm.wmma.load", _WARP.but(effects=_READS_MEMORY)),
            ("nvvm.wmma.store", _WARP.but(effects=_WRITES_MEMORY)),
            # Of a warpgroup: it waits for registers, and touches no memory.
            (
                "nvvm.setmaxregister",
                Semantics(scope=Scope.WARPGROUP, effects=_OUTSIDE),
            ),
            ("builtin.unrealized_conversion_cast", PURE),
        )
    )
)

BEGINNINGS: Mapping[str, Semantics] = MappingProxyType(
    {
        "arith.": _ELEMENTWISE,
        "math.": _ELEMENTWISE,
        "index.": PURE,
        "complex.": PURE,
        "ub.": PURE,
        "vector.": PURE,
        "tensor.": PURE,
        "affine.": _COMPUTES,
        "cf.": _COMPUTES,
        "func.": _COMPUTES,
        "gpu.": _COMPUTES,
        "linalg.": _COMPUTES,
        "llvm.": _COMPUTES,
        "llvm.intr.": _COMPUTES,
        "llvm.mlir.": PURE,
        "memref.": _COMPUTES,
        "nvgpu.": _COMPUTES,
        "nvvm.": _COMPUTES,
        "scf.": _COMPUTES,
        "ptr.": _COMPUTES,
        "gpu.subgroup_mma_": _PRODUCT,
        "nvgpu.mma.": _PRODUCT,
        "nvvm.atomicrmw": _UPDATES,
        "nvvm.cluster.": Semantics(scope=Scope.CLUSTER, effects=ORDERS_MEMORY),
        "nvvm.fence": _FENCE,
        "nvvm.inline_ptx": _LANE,
        "nvvm.mapa": PURE,
        "nvvm.mbarrier.": _LANE,
        "nvvm.membar": _FENCE,
        "nvvm.memory.barrier": _FENCE,
        "nvvm.mma.": _PRODUCT,
        "nvvm.read.ptx.sreg.": _PER_CTA,
        "nvvm.read.ptx.sreg.lanemask": _PER_LANE,
        "nvvm.read.ptx.sreg.tid": _PER_LANE,
        "nvvm.wgmma.": Semantics(scope=Scope.WARPGROUP),
        "nvvm.wmma.": _PRODUCT,
    }
)
"""Upstream's dialects, and families of ops in them, by the beginning of their names."""

"""Functions that build tile ops: result types inferred, locations those of the call.

    from tilec.dialects.tile import builders as tile

    with tile.module("copy", target="sm_80") as module:
        with tile.kernel("copy", {"x": "memref<?x?xf16>"}, block=32) as (x,):
            held = tile.load(x, 0, 0, type=tile.operand_fragment(FORM, "a"))
            tile.store(held, x, 16, 0)

Indices are values of type index or Python integers; element types are MLIR types or their
names; a layout is a `LinearLayout`, or the text of a `#tile.layout`. Every function raises
`BuildError`, a `TilecError` that names file, line and column of the call, where the op would
not verify. Control flow and scalars are upstream's: `tilec.ir.mlir.dialect("scf")` and so on.
"""

from .barrier import (
    barrier_arrive,
    barrier_expect,
    barrier_init,
    barrier_wait,
    tma_load,
    tma_prefetch,
    tma_reduce,
    tma_store,
    warpgroup_id,
)
from .caller import BuildError
from .kernels import kernel, module
from .memory import (
    alloc_shared,
    async_commit,
    async_copy,
    async_wait,
    atomic,
    atomic_cas,
    atomic_rmw,
    atomic_scatter,
    gather,
    ldmatrix,
    load,
    scatter,
    stmatrix,
    store,
)
from .products import (
    dot,
    dot_scaled,
    dot_sp,
    dot_sp_scaled,
    mma,
    mma_scaled,
    mma_sp,
    mma_sp_scaled,
)
from .registers import (
    cast,
    concat,
    convert_layout,
    elementwise,
    fill,
    index,
    inline_asm,
    inline_asm_volatile,
    movmatrix,
    select,
)
from .registers import slice as slice  # noqa: A004 (the op's name)
from .types import frag_type, operand_fragment, operand_tensor, shared_type, tensor_type
from .views import broadcast, expand, iota, reduce, reshape, take, transpose
from .wgmma import (
    accumulator,
    join_warps,
    warp_part,
    warpgroup_dot,
    warpgroup_start,
    warpgroup_type,
    warpgroup_wait,
    wgmma,
    wgmma_commit,
    wgmma_fence,
    wgmma_sp,
    wgmma_wait,
)
from .wmma import wmma_elementwise, wmma_fill, wmma_load, wmma_mma, wmma_store

__all__ = [
    "BuildError",
    "accumulator",
    "alloc_shared",
    "async_commit",
    "async_copy",
    "async_wait",
    "atomic",
    "atomic_cas",
    "atomic_rmw",
    "atomic_scatter",
    "barrier_arrive",
    "barrier_expect",
    "barrier_init",
    "barrier_wait",
    "broadcast",
    "cast",
    "concat",
    "convert_layout",
    "dot",
    "dot_scaled",
    "dot_sp",
    "dot_sp_scaled",
    "elementwise",
    "expand",
    "fill",
    "frag_type",
    "gather",
    "index",
    "inline_asm",
    "inline_asm_volatile",
    "iota",
    "join_warps",
    "kernel",
    "ldmatrix",
    "load",
    "mma",
    "mma_scaled",
    "mma_sp",
    "mma_sp_scaled",
    "module",
    "movmatrix",
    "operand_fragment",
    "operand_tensor",
    "reduce",
    "reshape",
    "scatter",
    "select",
    "shared_type",
    "slice",
    "stmatrix",
    "store",
    "take",
    "tensor_type",
    "tma_load",
    "tma_prefetch",
    "tma_reduce",
    "tma_store",
    "transpose",
    "warp_part",
    "warpgroup_dot",
    "warpgroup_id",
    "warpgroup_start",
    "warpgroup_type",
    "warpgroup_wait",
    "wgmma",
    "wgmma_commit",
    "wgmma_fence",
    "wgmma_sp",
    "wgmma_wait",
    "wmma_elementwise",
    "wmma_fill",
    "wmma_load",
    "wmma_mma",
    "wmma_store",
]

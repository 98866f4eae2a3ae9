"""The passes, one a file, in the order in which they work on a program.

    from upstream's ops    from_linalg, from_vector              made of upstream/
    what may be compiled   check_program, rasterize, check_target
    level 1                infer_vectors, promote_sums
                           select_wgmma, on sm_90a               of hopper/
                           select_tcgen05, on sm_100a            of blackwell/
                           select_mma                            of layouts/
                           stage_wgmma, on sm_90a                of hopper/
                           stage_tcgen05, on sm_100a             of blackwell/
    to level 2             assign_layouts, remove_conversions    of layouts/
    level 2                split_tiles                           of units/
                           stage_shared                          of staging/
                           choose_pingpong, form_clusters, on sm_90a
                           form_pairs, on sm_100a                of blackwell/
                           make_persistent, specialize_warps,
                           overlap_products, on sm_90a           of hopper/
                           pipeline_loops                        of staging/
                           fetch_metadata, on sm_90a             of staging/
                           unroll_loops                          of staging/
                           store_boxes, on sm_90a                of hopper/
                           copy_rows, from sm_100 on             of blackwell/
                           coalesce_stores
                           place_accumulators, on sm_100a        of blackwell/
                           allocate_tensor_memory
                           request_tiles, on sm_100a             of blackwell/
                           check_divergence, remove_dead,
                           stage_reductions, stage_conversions, reuse_shared, order_memory,
                           order_proxies, on sm_90a
    to level 3             to_fragments                          of fragments/
    level 3                defer_waits, on sm_90a                of hopper/
                           check_wgmma
    to registers           fragments_to_nvvm                     of nvvm/
    registers              take_over_tiles, on sm_100a
                           split_roles, on sm_90a                of hopper/
                           lower_math, kernel_abi                of math/, nvvm/
                           cut_blocks

Level 1 is tiles of a CTA, level 2 tiles with layouts, level 3 fragments of a warp. What several
passes ask of a program is in analysis/; defaults/ has the table of tiles that the tuner chose.

They are run by `pipeline`, which reads `pipeline_text`, finds them in `registry`, makes `steps` of
them, and tells `instrumentation`: tilec's with `pass_options`, MLIR's by `upstream_passes`, those
of other packages by `foreign`, for which `erasure` looks after uses. `mlir_diagnostics` reads what
MLIR reports; `pipeline_dump` shows a pipeline; `transform_passes`, by an op of `transform_dialect`,
has transform scripts find passes. They stand on `base` (what a pass is), `kernel_pass` (a pass on
kernels), `report` (errors and remarks), `functions` and `search` (finding kernels, ops), `emit` and
`thread_index` (making ops), `tile_order` (of a grid's tiles), `lowerings` (of ops that others
define).

Here is what a pass of another package imports; what needs MLIR is imported when first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilec.isa.lazy_names import lazy_names

from .base import Diagnostic, Pass, PassError, RemarkKind, advise, remark, walk

if TYPE_CHECKING:
    from .kernel_pass import Kernel, KernelPass, kernels
    from .lowerings import lowers_to_fragments, lowers_to_registers
    from .registry import register
    from .report import Report
    from .search import defining_op, named

__all__ = [
    "Diagnostic",
    "Kernel",
    "KernelPass",
    "Pass",
    "PassError",
    "RemarkKind",
    "Report",
    "advise",
    "defining_op",
    "kernels",
    "lowers_to_fragments",
    "lowers_to_registers",
    "named",
    "register",
    "remark",
    "walk",
]

_HOMES = {
    "Kernel": ".kernel_pass",
    "KernelPass": ".kernel_pass",
    "Report": ".report",
    "defining_op": ".search",
    "kernels": ".kernel_pass",
    "lowers_to_fragments": ".lowerings",
    "lowers_to_registers": ".lowerings",
    "register": ".registry",
    "named": ".search",
}
"""What needs MLIR, imported when it is first used."""

if not TYPE_CHECKING:
    __getattr__ = lazy_names(__name__, _HOMES)


def __dir__() -> list[str]:
    """The names that are exported."""
    return __all__

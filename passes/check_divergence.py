"""`tile-check-divergence`: no warp-wide op under divergent control flow."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

from tilec.dialects.tile.dialect import FragType
from tilec.dialects.tile.tiles import tile_value
from tilec.ir.mlir import ir
from tilec.layout.reduction import reduction

from .analysis.uniformity import Spread, Uniformity, control_of
from .base import Diagnostic, Pass, PassError, walk
from .functions import functions, gpu_modules

WARP_WIDE = frozenset(
    {
        "gpu.barrier",
        "nvvm.barrier",
        "nvvm.barrier0",
        "tile.async_copy",
        "tile.convert_layout",
        "tile.dot",
        "tile.ldmatrix",
        "tile.mma",
        "tile.mma_scaled",
        "tile.mma_sp",
        "tile.mma_sp_scaled",
        "tile.movmatrix",
        "tile.reduce",
        "tile.stmatrix",
        "tile.wmma_load",
        "tile.wmma_mma",
        "tile.wmma_store",
    }
)
"""Ops that all lanes of a warp execute together. PTX ISA, `.aligned`."""

ACCESSES = frozenset({"tile.atomic", "tile.load", "tile.store"})
"""Ops that move a fragment, or a tile of the whole CTA."""

UPSTREAM = (
    "gpu.subgroup_mma_",
    "nvgpu.ldmatrix",
    "nvgpu.mma.",
    "nvvm.ldmatrix",
    "nvvm.mma.",
    "nvvm.stmatrix",
    "nvvm.wgmma.",
    "nvvm.wmma.",
)
"""Beginnings of the names of upstream's."""


@dataclass(frozen=True)
class CheckDivergence(Pass):
    """Refuse ops that need the whole warp where only some of its lanes may come.

    Nor may the place of a CTA's tile in memory differ from thread to thread.

    In and out: levels 1 to 3, before `scf` is lowered; the program stays.
    """

    name: ClassVar[str] = "tile-check-divergence"

    def apply(self, module: Any) -> None:
        """Check every kernel."""
        errors: list[Diagnostic] = []
        for gpu_module in gpu_modules(module):
            for function in functions(gpu_module):
                uniformity: Uniformity | None = None
                for op in walk(function):
                    if not is_warp_wide(op):
                        continue
                    uniformity = uniformity or Uniformity(function)
                    limit = Spread.CTA if is_cta_wide(op) else Spread.WARP
                    control = control_of(uniformity, op, limit)
                    if control is not None:
                        errors.append(_error(op, control, limit))
                    errors += _check_place(uniformity, op)
        if errors:
            raise PassError(errors)


def is_warp_wide(op: Any) -> bool:
    """Whether all lanes of a warp must execute `op` together."""
    name = op.operation.name
    if name in ACCESSES:
        value = op.results[0] if name == "tile.load" else op.operands[0]
        return not isinstance(value.type, FragType)
    return name in WARP_WIDE or name.startswith(UPSTREAM)


def is_cta_wide(op: Any) -> bool:
    """Whether all warps of a CTA must execute `op` together."""
    name = op.operation.name
    if name == "tile.convert_layout":
        return not isinstance(op.operands[0].type, FragType)
    if name == "tile.reduce":
        tile = tile_value(op.operands[0].type)
        return tile is None or reduction(tile.layout, int(op.axis.value)).partials > 1
    return bool(name == "tile.async_copy")


def _check_place(uniformity: Uniformity, op: Any) -> Iterator[Diagnostic]:
    """An error if threads of a CTA disagree where in memory its tile lies."""
    if op.operation.name not in ACCESSES:
        return
    indices = [v for v in op.operation.operands if isinstance(v.type, ir.IndexType)]
    for number, index in enumerate(indices):
        if uniformity.of(index) is not Spread.CTA:
            yield Diagnostic(
                op.location,
                f"'{op.operation.name}' op moves a tile of the whole CTA, but index {number} may "
                "differ between threads; legal: indices that are the same in all threads, such as "
                "those made of block numbers",
            )


def _error(op: Any, control: Any, limit: Spread) -> Diagnostic:
    who, which, legal = (
        ("all warps of a CTA", "them", "in all threads, such as those of block numbers")
        if limit is Spread.CTA
        else (
            "whole warps",
            "lanes of one warp",
            "in all lanes, such as those of block and warp numbers",
        )
    )
    return Diagnostic(
        op.location,
        f"'{op.operation.name}' op is executed by {who}, but stands under a "
        f"'{control.operation.name}' that may send {which} different ways; legal: "
        f"conditions and bounds that are the same {legal}",
        notes=(Diagnostic(control.location, "the divergent control flow is here", "note"),),
    )

"""The pass pipelines, from a tile program to the LLVM dialect: data only."""

from __future__ import annotations

from typing import NamedTuple

from tilec.isa import Target


class Pipeline(NamedTuple):
    """The passes of a compilation, in two parts.

    Attributes:
        tile: from tiles to fragments; what `--emit tile` shows.
        nvvm: from fragments to the LLVM and NVVM dialects; what `--emit nvvm` shows.
    """

    tile: tuple[str, ...]
    nvvm: tuple[str, ...]

    def __str__(self) -> str:
        return f"builtin.module({','.join((*self.tile, *self.nvvm))})"


_TO_LLVM = (
    "convert-scf-to-cf",
    "gpu.module(convert-gpu-to-nvvm,convert-nvvm-to-llvm,reconcile-unrealized-casts)",
)

_MMA_SYNC = Pipeline(
    tile=(
        "tile-check-target",
        "tile-infer-vectors",
        "tile-select-mma",
        "tile-assign-layouts",
        "tile-remove-conversions",
        "tile-stage-shared",
        "tile-pipeline",
        "tile-unroll",
        "tile-check-divergence",
        "tile-remove-dead",
        "tile-stage-reductions",
        "tile-stage-conversions",
        "tile-to-fragments",
    ),
    nvvm=("tile-fragments-to-nvvm", "tile-lower-math", "tile-kernel-abi", *_TO_LLVM),
)


def pipeline(target: Target) -> Pipeline:
    """The passes for `target`: those of `mma.sync` for every generation so far."""
    del target
    return _MMA_SYNC

"""The pass pipelines, from a tile program to the LLVM dialect."""

from __future__ import annotations

import re
from typing import NamedTuple

from tilec.isa import Target, UnknownNameError
from tilec.isa.bulk_copies import copies_rows
from tilec.isa.wording import counted
from tilec.passes.base import Pass


class Pipeline(NamedTuple):
    """The passes of a compilation, in two parts.

    Attributes:
        tile: from tiles to fragments; what `--emit tile` shows.
        nvvm: from fragments to the LLVM and NVVM dialects; what `--emit nvvm` shows.

    Elements are as pipelines write them, or passes themselves.
    """

    tile: tuple[str | Pass, ...]
    nvvm: tuple[str | Pass, ...]

    def __str__(self) -> str:
        return f"builtin.module({','.join(map(str, (*self.tile, *self.nvvm)))})"

    def __repr__(self) -> str:
        """One line, for a prompt; `str` has the passes."""
        return (
            f"<pipeline of {counted(len(self.tile), 'pass', 'passes')} on tiles and "
            f"{len(self.nvvm)} on registers>"
        )

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the passes, without options."""
        return tuple(_name(one) for one in (*self.tile, *self.nvvm))

    def replaced(self, name: str, *passes: str | Pass) -> Pipeline:
        """The same with `passes`, or none, in place of the pass called `name`.

        Raises:
            TilecError: if it has no such pass.
        """
        return self._edited(name, passes, keep=False)

    def inserted(self, *passes: str | Pass, before: str) -> Pipeline:
        """The same with `passes` before the pass called `before`.

        Raises:
            TilecError: if it has no such pass.
        """
        return self._edited(before, passes, keep=True)

    def _edited(self, name: str, passes: tuple[str | Pass, ...], *, keep: bool) -> Pipeline:
        if name not in self.names:
            raise UnknownNameError("pass of the pipeline", name, self.names)

        def edited(part: tuple[str | Pass, ...]) -> tuple[str | Pass, ...]:
            found: list[str | Pass] = []
            for one in part:
                here = _name(one) == name
                found += passes if here else ()
                found += [one] if keep or not here else ()
            return tuple(found)

        return Pipeline(edited(self.tile), edited(self.nvvm))


def _name(one: str | Pass) -> str:
    """The name of an element: the pass, or what stands before its options or passes."""
    return re.split("[{(]", one)[0] if isinstance(one, str) else one.name


_TO_LLVM = (
    "convert-scf-to-cf",
    "gpu.module(convert-gpu-to-nvvm,convert-nvvm-to-llvm,reconcile-unrealized-casts)",
)

_MMA_SYNC = Pipeline(
    tile=(
        "tile-from-linalg",
        "tile-from-vector",
        "tile-check-program",
        "tile-rasterize",
        "tile-check-target",
        "tile-infer-vectors",
        "tile-promote-sums",
        "tile-select-mma",
        "tile-assign-layouts",
        "tile-remove-conversions",
        "tile-split-tiles",
        "tile-stage-shared",
        "tile-pipeline",
        "tile-unroll",
        "tile-coalesce-stores",
        "tile-check-divergence",
        "tile-remove-dead",
        "tile-stage-reductions",
        "tile-stage-conversions",
        "tile-reuse-shared",
        "tile-order-memory",
        "tile-to-fragments",
    ),
    nvvm=(
        "tile-fragments-to-nvvm",
        "cse",
        "loop-invariant-code-motion",
        "tile-lower-math",
        "tile-kernel-abi",
        "tile-cut-blocks",
        *_TO_LLVM,
    ),
)


_HOPPER = (
    Pipeline((*_MMA_SYNC.tile, "tile-defer-waits", "tile-check-wgmma"), _MMA_SYNC.nvvm)
    .inserted("tile-select-wgmma", before="tile-select-mma")
    .inserted("tile-stage-wgmma", before="tile-assign-layouts")
    .inserted(
        "tile-choose-pingpong",
        "tile-form-clusters",
        "tile-make-persistent",
        "tile-specialize-warps",
        "tile-overlap-products",
        before="tile-pipeline",
    )
    .inserted("tile-fetch-metadata", before="tile-unroll")
    .inserted("tile-store-boxes", before="tile-coalesce-stores")
    .inserted("tile-order-proxies", before="tile-to-fragments")
    .replaced("tile-rasterize")
    .inserted("tile-rasterize", before="tile-specialize-warps")
    .inserted("tile-split-roles", before="cse")
)

_ROWS = _MMA_SYNC.inserted("tile-copy-rows", before="tile-coalesce-stores")
_BLACKWELL = (
    _ROWS.inserted("tile-select-tcgen05", before="tile-select-mma")
    .inserted("tile-stage-tcgen05", before="tile-assign-layouts")
    .inserted(
        "tile-form-pairs", "tile-make-persistent", "tile-specialize-warps", before="tile-pipeline"
    )
    .replaced("tile-rasterize")
    .inserted("tile-rasterize", before="tile-specialize-warps")
    .inserted("tile-store-boxes", before="tile-coalesce-stores")
    .inserted("tile-take-over-tiles", "tile-split-roles", before="cse")
    .inserted(
        "tile-order-proxies",
        "tile-place-accumulators",
        "tile-allocate-tensor-memory",
        "tile-request-tiles",
        before="tile-check-divergence",
    )
)


def pipeline(target: Target) -> Pipeline:
    """The passes for `target`: those of `mma.sync`, and what newer instructions want."""
    if target.name == "sm_90a":
        return _HOPPER
    if target.has_tensor_memory:
        return _BLACKWELL
    return _ROWS if copies_rows(target) else _MMA_SYNC

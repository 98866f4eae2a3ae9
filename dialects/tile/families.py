"""Which op of the dialect is one instruction of which family."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from tilec.isa import Family

TILE_OPS: Mapping[str, str] = MappingProxyType(
    {
        Family.MMA: "tile.mma",
        Family.MMA_BLOCK_SCALE: "tile.mma_scaled",
        Family.MMA_SP: "tile.mma_sp",
        Family.MMA_SP_BLOCK_SCALE: "tile.mma_sp_scaled",
        Family.WMMA_LOAD: "tile.wmma_load",
        Family.WMMA_STORE: "tile.wmma_store",
        Family.WMMA_MMA: "tile.wmma_mma",
        Family.WGMMA: "tile.wgmma",
        Family.WGMMA_SP: "tile.wgmma_sp",
        Family.LDMATRIX: "tile.ldmatrix",
        Family.STMATRIX: "tile.stmatrix",
        Family.MOVMATRIX: "tile.movmatrix",
        Family.TCGEN05_LD: "tile.tcgen05_ld",
        Family.TCGEN05_LD_RED: "tile.tcgen05_ld_red",
        Family.TCGEN05_ST: "tile.tcgen05_st",
    }
)
"""The op of each family; its attribute `form` is the instruction's key."""

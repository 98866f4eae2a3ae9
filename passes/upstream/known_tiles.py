"""Tiles that were found best for products of some extents, as a pass's option names them."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tilec.isa import TilecError

_KNOWN = re.compile(
    r"(\w+):([1-9]\d{0,17})x([1-9]\d{0,17})x([1-9]\d{0,17})"
    r"=([1-9]\d{0,5})x([1-9]\d{0,5})x([1-9]\d{0,5})x([1-9]\d?)"
)


@dataclass(frozen=True, slots=True)
class KnownTiles:
    """Tiles of a product of matrices of 16-bit floats with sums in f32.

    Attributes:
        target: the GPU.
        extents: M, N and K of the product.
        tiles: rows, columns and depth of a tile.
        warps: warps of a CTA.
    """

    target: str
    extents: tuple[int, int, int]
    tiles: tuple[int, int, int]
    warps: int

    def __str__(self) -> str:
        of, tiles = ("x".join(map(str, one)) for one in (self.extents, self.tiles))
        return f"{self.target}:{of}={tiles}x{self.warps}"


def known_tiles(text: str) -> KnownTiles:
    """What `str` of known tiles says, such as `sm_90a:4096x4096x4096=128x256x64x8`.

    Raises:
        TilecError: for a text that says none.
    """
    found = _KNOWN.fullmatch(text)
    if found is None:
        raise TilecError(f"'{text}' is not TARGET:MxNxK=MxNxKxWARPS")
    target, *numbers = found.groups()
    m, n, k, tile_m, tile_n, tile_k, warps = map(int, numbers)
    for one in (tile_m, tile_n, tile_k, warps):
        if one & (one - 1):
            raise TilecError(f"'{text}': {one} is not a power of two, as tiles and warps are")
    return KnownTiles(target, (m, n, k), (tile_m, tile_n, tile_k), warps)

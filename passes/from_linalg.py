"""`tile-from-linalg`: products of matrices written in linalg, as programs on tiles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tilec.ir.mlir import ir

from .kernel_pass import Kernel, KernelPass
from .upstream.known_tiles import known_tiles
from .upstream.outline_functions import linalg_ops, outline_functions


@dataclass(frozen=True)
class FromLinalg(KernelPass):
    """Turn a product of matrices in memory into a loop over tiles: each CTA computes one.

    In: kernels with one `linalg.matmul`, `linalg.batch_matmul`, `linalg.contract`, or a
    `linalg.generic` that adds the product of its inputs to its result, on memrefs. There may be
    a `linalg.fill` of the result before it, arithmetic on scalars, and views of memrefs, which
    upstream's `expand-strided-metadata` resolves. A `func.func` with such a body becomes a
    kernel, in a `gpu.module` called `kernels` if there is none, and keeps its `tile.…`
    attributes. Out: level 1. Other kernels do not change.

    The last two dimensions of each memref are a matrix; A and B may be stored transposed. The
    dimensions before them number the matrices of a batch. Extents are arbitrary. If no
    instruction accumulates in the result's type, as for bf16, sums are computed in f32 and
    rounded once. f32 is multiplied as tf32 if the op has the unit attribute `tile.tf32`: the
    instruction uses the upper 19 bits.

    A launch has one CTA for each tile of the result: along x for the columns, along y for the
    rows, along z for the batch. A remark gives the number; if all extents are static, so does
    the attribute `known_grid_size`.

    Tiles that are not pinned are those of tilec's table of defaults, which the tuner's model found,
    for a product of f16 or bf16 with sums in f32, static extents, and a target and size that the
    table has or is near to; a remark says so. Otherwise extents and element types decide.

    Attributes:
        tile_m: rows of a tile of the result; chosen if None.
        tile_n: its columns.
        tile_k: what a slice has of the depth.
        warps: warps of a CTA, if the kernel's `known_block_size` does not say.
        known_tiles: what was found best, which counts before the table: for each of some products
            `TARGET:MxNxK=TILE_MxTILE_NxTILE_KxWARPS`. A product of these extents takes it.
    """

    name: ClassVar[str] = "tile-from-linalg"

    tile_m: int | None = None
    tile_n: int | None = None
    tile_k: int | None = None
    warps: int | None = None
    known_tiles: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse known tiles that are none."""
        for text in self.known_tiles:
            known_tiles(text)

    def apply(self, module: ir.Module) -> None:
        """Rewrite every function and kernel of `module` that holds such an op."""
        if linalg_ops(module.operation):
            from .upstream.upstream_views import expand_views  # noqa: PLC0415 (few programs need it)

            outline_functions(module)
            super().apply(module)
            expand_views(module)

    def run(self, kernel: Kernel) -> None:
        """Rewrite a kernel."""
        from .upstream.linalg_kernels import convert_kernel  # noqa: PLC0415 (few programs need it)
        from .upstream.product_tiles import Pins  # noqa: PLC0415

        if linalg_ops(kernel.function):
            known = tuple(map(known_tiles, self.known_tiles))
            pins = Pins(self.tile_m, self.tile_n, self.tile_k, self.warps, known)
            convert_kernel(kernel, pins)

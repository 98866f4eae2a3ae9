"""`tile-split-tiles`: tiles whose extents are not powers of two, as the units they are made of."""

from __future__ import annotations

from typing import ClassVar

from tilec.ir.mlir import ir
from tilec.layout.extents import is_one_unit

from .kernel_pass import Kernel, KernelPass


class SplitTiles(KernelPass):
    """Split tiles whose extents are not powers of two into tiles whose extents are.

    In and out: level 2. A 64x192 tile is three tiles of 64x64, with the same layout: every op
    on it becomes one op on each unit, and reductions and products along an axis with several
    units are combined in order. The accumulators of `tile.warpgroup_dot`, and A in registers,
    are assembled by `tile.concat` and split by `tile.slice`, since one instruction covers all
    columns. Programs without such tiles do not change.
    """

    name: ClassVar[str] = "tile-split-tiles"

    def run(self, kernel: Kernel) -> None:
        """Rewrite a kernel."""
        types = (result.type for op in kernel.walk() for result in op.results)
        tensors = (type_ for type_ in types if isinstance(type_, ir.RankedTensorType))
        if not all(is_one_unit(tensor.shape) for tensor in tensors):
            from .units.splitting import split_kernel  # noqa: PLC0415 (few programs need it)

            split_kernel(kernel)

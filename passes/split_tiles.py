"""`tile-split-tiles`: tiles whose extents are not powers of two, as the units they are made of."""

from __future__ import annotations

from typing import ClassVar

from tilec.ir.mlir import ir
from tilec.layout.extents import is_one_unit

from .kernel_pass import Kernel, KernelPass


class SplitTiles(KernelPass):
    """Split tiles whose extents are not powers of two into tiles whose extents are.

    In and out: level 2. A tile of 64x192 is three of 64x64, with the layout that it had: every op
    on it becomes one on each unit, with reductions and products along an axis of several combined
    in order. The accumulators of `tile.warpgroup_dot`, and A in registers, are put together by
    `tile.concat` and taken apart by `tile.slice`, since one instruction takes all its columns.
    Programs without such tiles stay as they are.
    """

    name: ClassVar[str] = "tile-split-tiles"

    def run(self, kernel: Kernel) -> None:
        """Rewrite a kernel."""
        types = (result.type for op in kernel.walk() for result in op.results)
        tensors = (type_ for type_ in types if isinstance(type_, ir.RankedTensorType))
        if not all(is_one_unit(tensor.shape) for tensor in tensors):
            from .units.splitting import split_kernel  # noqa: PLC0415 (few programs need it)

            split_kernel(kernel)

"""`tile-select-tcgen05`: products of tiles whose sums tensor memory holds, on sm_100a and kin."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

from tilec.dialects.tile.ops import AllocTensorOp, DotOp, LoadOp
from tilec.dialects.tile.ops.dots import is_of_tensor_memory
from tilec.dialects.tile.tensor import buffer_of
from tilec.ir.mlir import ir
from tilec.ir.types import memref_of
from tilec.isa import Target, TilecError
from tilec.isa.wording import counted

from .analysis.shared_space import BESIDE_TENSOR_MEMORY, SharedSpace, aligned
from .analysis.uniformity import Uniformity
from .blackwell.tcgen05_choice import TensorChoice, choose, dots_of
from .functions import known_target
from .kernel_pass import Kernel, KernelPass
from .layouts.tile_classes import has_plain_tiles
from .layouts.transposed_loads import fold_transposes


class TensorInstruction(StrEnum):
    """What multiplies tiles."""

    TCGEN05 = "tcgen05"
    MMA = "mma.sync"


@dataclass(frozen=True)
class SelectTcgen05(KernelPass):
    """Choose products of tiles without layouts that one thread issues to tensor memory.

    In: level 1. Out: the same; each `tile.dot` that becomes `tcgen05.mma` has its key as its
    `form`, and `warps`, which load the sums. tile-stage-tcgen05 follows them. This requires
    loaded operands, suitable extents and types, whole groups of four warps, columns of tensor
    memory and shared memory. Other products are left to tile-select-mma, with a remark that
    says why. A product that names a form keeps it.

    Attributes:
        instruction: `mma.sync` leaves all products that name no form to tile-select-mma.
    """

    name: ClassVar[str] = "tile-select-tcgen05"

    instruction: TensorInstruction = TensorInstruction.TCGEN05

    def run(self, kernel: Kernel) -> None:
        """Choose for a kernel."""
        if not kernel.is_entry or not has_plain_tiles(kernel.function):
            return
        dots = dots_of(kernel.named(DotOp))
        if self.instruction is TensorInstruction.MMA:
            dots = [dot for dot in dots if is_of_tensor_memory(dot)]
        if not dots:
            return
        with kernel.at(kernel.module):
            target = known_target(kernel.module)
            with kernel.at(kernel.function):
                fold_transposes(kernel.function)
                _Selection(kernel, target).run(dots)


class _Selection:
    """The choices of one kernel."""

    def __init__(self, kernel: Kernel, target: Target) -> None:
        self._kernel = kernel
        self._target = target
        self._uniformity = Uniformity(kernel.function)
        self._taken: dict[LoadOp, int] = {}
        buffers = [buffer_of(memref_of(op.results[0])) for op in kernel.named(AllocTensorOp)]
        self._columns = sum(buffer.columns for buffer in buffers)

    def run(self, dots: list[DotOp]) -> None:
        """Set the attributes of the products that tensor memory holds."""
        for dot in dots:
            with self._kernel.at(dot):
                try:
                    chosen = choose(dot, self._kernel.warps, self._target, self._uniformity)
                    self._take(dot, chosen)
                except TilecError as error:
                    if is_of_tensor_memory(dot):
                        raise
                    self._kernel.missed(dot, f"is not for tensor memory: {error}")
                    continue
                dot.attributes["form"] = ir.StringAttr.get(chosen.key.ptx)
                dot.attributes["warps"] = ir.DenseI64ArrayAttr.get(list(chosen.warps))
                self._kernel.remark(dot, _reason(dot, chosen))

    def _take(self, dot: DotOp, chosen: TensorChoice) -> None:
        """Take shared memory for the operands, and columns for the sums.

        Raises:
            TilecError: if there is not enough.
        """
        from tilec.isa.tensor_memory import COLUMNS  # noqa: PLC0415 (for Blackwell only)

        more = {load: aligned(buffer.bytes) for load, buffer in chosen.buffers.values()}
        wanted = sum((self._taken | more).values())
        space = SharedSpace(self._kernel.function, self._target)
        left = max(0, space.left(dot) - BESIDE_TENSOR_MEMORY)
        if wanted > left:
            raise TilecError(
                f"its operands take {counted(wanted, 'byte')} of shared memory, with those of "
                f"other products, and {left} are left"
            )
        columns = self._columns + chosen.columns
        if columns > COLUMNS:
            raise TilecError(
                f"its sums take {counted(columns, 'column')} of tensor memory, with those of other "
                f"products; an SM has {COLUMNS}"
            )
        self._taken |= more
        self._columns = columns


def _reason(dot: DotOp, chosen: TensorChoice) -> str:
    rows, cols = ir.RankedTensorType(dot.d.type).shape
    depth = ir.RankedTensorType(dot.operands[1].type).shape[0]
    d, step = chosen.product.operand("d"), chosen.product.operand("b").rows
    count = rows // d.rows * (cols // d.cols) * (depth // step)
    m, n = chosen.warps
    return (
        f"becomes {count} {chosen.key.mnemonic} of {chosen.product.shape}, issued by one thread; "
        f"its sums lie in {counted(chosen.columns, 'column')} of tensor memory, which {m}x{n} "
        "warps load"
    )

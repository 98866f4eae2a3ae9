"""`tile-select-tcgen05`: products of tiles whose sums tensor memory holds, on sm_100a and kin."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

from tilec.dialects.tile.dots import DOTS
from tilec.dialects.tile.ops import AllocTensorOp
from tilec.dialects.tile.ops.dots import is_of_tensor_memory
from tilec.dialects.tile.tensor import buffer_of
from tilec.ir.aliases import Op
from tilec.ir.mlir import ir
from tilec.ir.types import memref_of
from tilec.isa import Mma, Target, TilecError
from tilec.isa.table import current
from tilec.isa.wording import counted

from .analysis.shared_space import BESIDE_TENSOR_MEMORY
from .blackwell.tcgen05_choice import TensorChoice, TensorProductOfTiles, chooser, dots_of
from .functions import known_target
from .kernel_pass import Kernel, KernelPass
from .layouts.tile_classes import has_plain_tiles
from .layouts.transposed_loads import fold_transposes
from .staging.described_products import ProductSelection


class TensorInstruction(StrEnum):
    """What multiplies tiles."""

    TCGEN05 = "tcgen05"
    MMA = "mma.sync"


@dataclass(frozen=True)
class SelectTcgen05(KernelPass):
    """Choose products of tiles without layouts that one thread issues to tensor memory.

    In: level 1. Out: the same; each `tile.dot` and `tile.dot_scaled` that becomes `tcgen05.mma` has
    its key as its `form`, and `warps`, which load the sums. tile-stage-tcgen05 follows them. This
    requires a loaded B, an A that is loaded or has whole 128 rows, suitable extents and types,
    whole groups of four warps, columns of tensor memory and shared memory. Other products are left
    to tile-select-mma, with a remark that says why, or are errors where the target has no other
    instruction for them, as for those with scale factors. A product that names a form keeps it.

    Attributes:
        instruction: `mma.sync` leaves all products that name no form to tile-select-mma.
    """

    name: ClassVar[str] = "tile-select-tcgen05"

    instruction: TensorInstruction = TensorInstruction.TCGEN05

    def run(self, kernel: Kernel) -> None:
        """Choose for a kernel."""
        if not kernel.is_entry or not has_plain_tiles(kernel.function):
            return
        dots = dots_of(kernel)
        if self.instruction is TensorInstruction.MMA:
            dots = [dot for dot in dots if is_of_tensor_memory(dot)]
        if not dots:
            return
        with kernel.at(kernel.module):
            target = known_target(kernel.module)
            with kernel.at(kernel.function):
                fold_transposes(kernel.function)
                selection = ProductSelection(
                    kernel, chooser(kernel, target), _reason, BESIDE_TENSOR_MEMORY
                )
                selection.run(
                    dots,
                    "tensor memory",
                    lambda dot: is_of_tensor_memory(dot) or not _has_others(dot, target),
                    _Columns(kernel).take,
                )


def _has_others(dot: Op, target: Target) -> bool:
    """Whether a target has instructions of warps for such products."""
    family = DOTS[dot.operation.name].family
    return any(
        form.family is family and form.min_ptx(target) is not None for form in current().of(Mma)
    )


class _Columns:
    """The columns of tensor memory that a kernel's products take."""

    def __init__(self, kernel: Kernel) -> None:
        buffers = [buffer_of(memref_of(op.results[0])) for op in kernel.named(AllocTensorOp)]
        self._taken = sum(buffer.columns for buffer in buffers)

    def take(self, chosen: TensorChoice) -> None:
        """Take those of a product.

        Raises:
            TilecError: if there are not enough.
        """
        from tilec.isa.tensor_memory import COLUMNS  # noqa: PLC0415 (for Blackwell only)

        columns = self._taken + chosen.columns
        if columns > COLUMNS:
            what = "sums and scale factors take" if chosen.factor_columns else "sums take"
            raise TilecError(
                f"its {what} {counted(columns, 'column')} of tensor memory, with those of other "
                f"products; an SM has {COLUMNS}"
            )
        self._taken = columns


def _reason(dot: TensorProductOfTiles, chosen: TensorChoice) -> str:
    rows, cols = ir.RankedTensorType(dot.d.type).shape
    depth = ir.RankedTensorType(dot.operands[1].type).shape[0]
    d, step = chosen.product.operand("d"), chosen.product.operand("b").rows
    count = rows // d.rows * (cols // d.cols) * (depth // step)
    m, n = chosen.warps
    sums = counted(rows * cols // d.rows, "column")
    factors = ""
    if chosen.factor_columns:
        factors = f" and its scale factors in {chosen.factor_columns}"
    if "a" not in chosen.buffers:
        factors = ", and A, which is computed, is stored there, too"
    return (
        f"becomes {count} {chosen.key.mnemonic} of {chosen.product.shape}, issued by one thread; "
        f"its sums lie in {sums} of tensor memory, which {m}x{n} warps load{factors}"
    )

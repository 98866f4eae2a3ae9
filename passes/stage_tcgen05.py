"""`tile-stage-tcgen05`: operands of products in tensor memory come to lie in shared memory."""

from __future__ import annotations

from typing import ClassVar

from tilec.dialects.tile.emit import emit
from tilec.dialects.tile.ops import DotOp, TensorDotOp
from tilec.dialects.tile.ops.dots import is_of_tensor_memory
from tilec.ir.aliases import Attribute
from tilec.ir.mlir import ir
from tilec.isa import Target

from .analysis.uniformity import Uniformity
from .blackwell.tcgen05_choice import TensorChoice, choose, dots_of
from .emit import index_constant
from .functions import known_target
from .kernel_pass import Kernel, KernelPass
from .staging.operand_staging import OperandStaging


class StageTcgen05(KernelPass):
    """Turn products whose form is a `tcgen05.mma` into `tile.tensor_dot`s.

    In: level 1, as tile-select-tcgen05 leaves it. Out: the same, without such `tile.dot`s. A
    and B are copied to buffers by `tile.async_copy`, with a commit, a wait and barriers, which
    tile-pipeline rewrites. Each buffer consists of panels as wide as a line of its swizzle, as
    descriptors require. A load is kept if another op needs its tile.
    """

    name: ClassVar[str] = "tile-stage-tcgen05"

    def run(self, kernel: Kernel) -> None:
        """Rewrite a kernel."""
        dots = [dot for dot in dots_of(kernel.named(DotOp)) if is_of_tensor_memory(dot)]
        if dots:
            with kernel.at(kernel.module):
                target = known_target(kernel.module)
                with kernel.at(kernel.function):
                    _stage(kernel, target, dots)


def _stage(kernel: Kernel, target: Target, dots: list[DotOp]) -> None:
    """Stage the operands of all products, and rewrite these."""
    uniformity = Uniformity(kernel.function)
    chosen: list[tuple[DotOp, TensorChoice]] = []
    for dot in dots:
        with kernel.at(dot):
            chosen.append((dot, choose(dot, kernel.warps, target, uniformity)))
    staging = OperandStaging(kernel, target)
    staging.stage(choice.buffers for _, choice in chosen)
    for dot, choice in chosen:
        _rewrite(dot, choice, staging)
    staging.erase_loads()


def _rewrite(dot: DotOp, choice: TensorChoice, staging: OperandStaging) -> None:
    """The product of what the buffers hold."""
    operands, indices = [], []
    attributes: dict[str, Attribute] = {
        "form": ir.StringAttr.get(choice.key.ptx),
        "types": ir.StringAttr.get(choice.types),
        "warps": ir.DenseI64ArrayAttr.get(list(choice.warps)),
    }
    with ir.InsertionPoint(dot), dot.location:
        zero = index_constant(0)
        for name, (load, kind) in choice.buffers.items():
            operands.append(staging.buffer(load, kind))
            indices += [zero] * len(kind.shape)
            if kind.transposed:
                attributes[f"transpose_{name}"] = ir.UnitAttr.get()
        result = emit(TensorDotOp, [*operands, dot.c, *indices], dot.d.type, **attributes)
    dot.d.replace_all_uses_with(result)
    dot.operation.erase()

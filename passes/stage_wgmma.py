"""`tile-stage-wgmma`: the operands of warpgroups' products come to lie in shared memory."""

from __future__ import annotations

from functools import partial
from typing import ClassVar

from tilec.dialects.tile.emit import emit, i64
from tilec.dialects.tile.ops import DotSpOp, WarpgroupDotOp, WarpgroupDotSpOp
from tilec.dialects.tile.ops.dots import UnscaledDot, is_of_warpgroups
from tilec.ir.aliases import Attribute
from tilec.ir.mlir import ir

from .emit import index_constant
from .hopper.wgmma_choice import WgmmaChoice, chooser, dots_of
from .kernel_pass import Kernel, KernelPass
from .staging.described_products import stage_products
from .staging.operand_staging import OperandStaging


class StageWgmma(KernelPass):
    """Turn products whose form is a `wgmma` into `tile.warpgroup_dot`s, or their sparse kin.

    In: level 1, as tile-select-wgmma leaves it. Out: the same, without such `tile.dot`s. B, and
    A if the form says so, are copied to buffers by `tile.async_copy`, with a commit, a wait and
    barriers, which tile-pipeline and other passes rewrite. Each buffer consists of panels as
    wide as a line of its swizzle, as descriptors require. A load is kept if another op needs
    its tile.
    """

    name: ClassVar[str] = "tile-stage-wgmma"

    def run(self, kernel: Kernel) -> None:
        """Rewrite a kernel."""
        dots = [dot for dot in dots_of(kernel.named(UnscaledDot)) if is_of_warpgroups(dot)]
        stage_products(kernel, dots, partial(chooser, kernel), _rewrite)


def _rewrite(dot: UnscaledDot, choice: WgmmaChoice, staging: OperandStaging) -> None:
    """The product of what the buffers hold."""
    operands, indices = list(dot.operands), []
    attributes: dict[str, Attribute] = {
        "form": ir.StringAttr.get(choice.form.ptx),
        "warps": ir.DenseI64ArrayAttr.get(list(choice.warps)),
    }
    with ir.InsertionPoint(dot), dot.location:
        zero = index_constant(0)
        for name, (load, kind) in choice.buffers.items():
            operands["ab".index(name)] = staging.buffer(load, kind)
            indices += [zero] * len(kind.shape)
            if kind.transposed:
                attributes[f"imm_trans_{name}"] = i64(1)
        product = WarpgroupDotSpOp if isinstance(dot, DotSpOp) else WarpgroupDotOp
        result = emit(product, [*operands, *indices], dot.d.type, **attributes)
    dot.d.replace_all_uses_with(result)
    dot.operation.erase()

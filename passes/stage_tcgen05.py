"""`tile-stage-tcgen05`: operands of products in tensor memory come to lie in shared memory."""

from __future__ import annotations

from functools import partial
from typing import ClassVar

from tilec.dialects.tile.emit import emit
from tilec.dialects.tile.ops import DotScaledOp, TensorDotOp, TensorDotScaledOp
from tilec.dialects.tile.ops.dots import dot_values, is_of_tensor_memory
from tilec.ir.aliases import Attribute
from tilec.ir.mlir import ir

from .blackwell.tcgen05_choice import TensorChoice, TensorProductOfTiles, chooser, dots_of
from .emit import index_constant
from .kernel_pass import Kernel, KernelPass
from .staging.described_products import stage_products
from .staging.operand_staging import OperandStaging


class StageTcgen05(KernelPass):
    """Turn products whose form is a `tcgen05.mma` into `tile.tensor_dot`s, or their scaled kin.

    In: level 1, as tile-select-tcgen05 leaves it. Out: the same, without such `tile.dot`s and
    `tile.dot_scaled`s. A, B and scale factors are copied to buffers by `tile.async_copy`, with a
    commit, a wait and barriers, which tile-pipeline rewrites. Each buffer of A or B consists of
    panels as wide as a line of its swizzle, as descriptors require; scale factors lie in the order
    in which `tcgen05.cp` copies them; an A of tensor memory stays a tile. A load is kept if another
    op needs its tile.
    """

    name: ClassVar[str] = "tile-stage-tcgen05"

    def run(self, kernel: Kernel) -> None:
        """Rewrite a kernel."""
        dots = [dot for dot in dots_of(kernel) if is_of_tensor_memory(dot)]
        stage_products(kernel, dots, partial(chooser, kernel), _rewrite)


def _rewrite(dot: TensorProductOfTiles, choice: TensorChoice, staging: OperandStaging) -> None:
    """The product of what the buffers hold."""
    values, indices = dot_values(dot), []
    attributes: dict[str, Attribute] = {
        "form": ir.StringAttr.get(choice.key.ptx),
        "types": ir.StringAttr.get(choice.types),
        "warps": ir.DenseI64ArrayAttr.get(list(choice.warps)),
    }
    with ir.InsertionPoint(dot), dot.location:
        zero = index_constant(0)
        for name, (load, kind) in choice.buffers.items():
            values[name] = staging.buffer(load, kind)
            indices += [zero] * len(kind.shape)
            if kind.transposed:
                attributes[f"transpose_{name}"] = ir.UnitAttr.get()
        values.pop("d")
        product = TensorDotScaledOp if isinstance(dot, DotScaledOp) else TensorDotOp
        result = emit(product, [*values.values(), *indices], dot.d.type, **attributes)
    dot.d.replace_all_uses_with(result)
    dot.operation.erase()

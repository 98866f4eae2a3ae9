"""`tile-stage-wgmma`: the operands of warpgroups' products come to lie in shared memory."""

from __future__ import annotations

from typing import ClassVar

from tilec.dialects.tile.dialect import SharedAttr
from tilec.dialects.tile.emit import emit, i64
from tilec.dialects.tile.ops import (
    DotSpOp,
    LoadOp,
    WarpgroupDotOp,
    WarpgroupDotSpOp,
)
from tilec.dialects.tile.ops.dots import UnscaledDot, is_of_warpgroups
from tilec.ir.aliases import Attribute, Value
from tilec.ir.mlir import ir
from tilec.ir.types import element_of
from tilec.isa import Target
from tilec.isa.wording import counted

from .analysis.effects import Writers
from .analysis.uniformity import Uniformity
from .emit import index_constant
from .functions import known_target
from .hopper.operand_buffers import OperandBuffer
from .hopper.wgmma_choice import WgmmaChoice, choose, dots_of
from .kernel_pass import Kernel, KernelPass
from .staging.copy_frame import copy_frame, copy_of, new_buffer
from .staging.staging_groups import StagingGroup, grouped
from .staging.staging_vectors import copy_vector


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
        if dots:
            with kernel.at(kernel.module):
                target = known_target(kernel.module)
                with kernel.at(kernel.function):
                    _Stage(kernel, target).run(dots)


class _Stage:
    """The rewriting of one kernel."""

    def __init__(self, kernel: Kernel, target: Target) -> None:
        self._kernel = kernel
        self._target = target
        self._buffers: dict[tuple[ir.Operation, OperandBuffer], Value] = {}

    def run(self, dots: list[UnscaledDot]) -> None:
        """Stage the operands of all products, and rewrite these."""
        uniformity = Uniformity(self._kernel.function)
        chosen: list[tuple[UnscaledDot, WgmmaChoice]] = []
        for dot in dots:
            with self._kernel.at(dot):
                warps = self._kernel.warps
                chosen.append((dot, choose(dot, warps, self._target, uniformity)))
        wanted: dict[ir.Operation, list[OperandBuffer]] = {}
        for _, choice in chosen:
            for load, buffer in choice.buffers.values():
                kinds = wanted.setdefault(load.operation, [])
                kinds += [] if buffer in kinds else [buffer]
        loads = [load for load in self._kernel.named(LoadOp) if load.operation in wanted]
        for group in list(grouped(loads, Writers(self._kernel.function))):
            self._copy(group, wanted)
        for dot, choice in chosen:
            self._rewrite(dot, choice)
        for load in reversed(loads):
            if next(iter(load.results[0].uses), None) is None:
                load.operation.erase()

    def _copy(self, group: StagingGroup, wanted: dict[ir.Operation, list[OperandBuffer]]) -> None:
        """Copy what the loads of a group take, that of the same memory once."""
        same = list(group.by_memory())
        group.hoist([load for loads in same for load in loads])
        with ir.InsertionPoint(group.first), group.first.location:
            zero = index_constant(0)

            def copies() -> None:
                for loads in same:
                    kinds = dict.fromkeys(k for load in loads for k in wanted[load.operation])
                    for kind in kinds:
                        buffer = self._copied(loads[0], kind, zero)
                        self._buffers |= {(load.operation, kind): buffer for load in loads}

            copy_frame(group.first, copies)

    def _copied(self, load: LoadOp, kind: OperandBuffer, zero: Value) -> Value:
        """The buffer of a kind that holds what a load takes."""
        space = SharedAttr.get(ir.StringAttr.get(kind.swizzle))
        element = element_of(load.memref.type)
        type_ = ir.MemRefType.get(list(kind.shape), element, memory_space=space)
        buffer = new_buffer(self._kernel.function, load, type_)
        vector = min(copy_vector(load, self._target), kind.shape[-1])
        copy_of(load, buffer, kind.extents, vector, zero)
        panels, lines, width = kind.shape
        self._kernel.remark(
            load,
            f"goes through {counted(kind.bytes, 'byte')} of shared memory, in "
            f"{counted(panels, 'panel')} of {lines} "
            f"lines of {counted(width, 'element')}, swizzled as {kind.swizzle}",
        )
        return buffer

    def _rewrite(self, dot: UnscaledDot, choice: WgmmaChoice) -> None:
        """The product of what the buffers hold."""
        operands, indices = list(dot.operands), []
        attributes: dict[str, Attribute] = {
            "form": ir.StringAttr.get(choice.form.ptx),
            "warps": ir.DenseI64ArrayAttr.get(list(choice.warps)),
        }
        with ir.InsertionPoint(dot), dot.location:
            zero = index_constant(0)
            for name, (load, kind) in choice.buffers.items():
                operands["ab".index(name)] = self._buffers[load.operation, kind]
                indices += [zero] * len(kind.shape)
                if kind.transposed:
                    attributes[f"imm_trans_{name}"] = i64(1)
            product = WarpgroupDotSpOp if isinstance(dot, DotSpOp) else WarpgroupDotOp
            result = emit(product, [*operands, *indices], dot.d.type, **attributes)
        dot.d.replace_all_uses_with(result)
        dot.operation.erase()

"""Operands of products that instructions read from shared memory by descriptors, staged there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from tilec.dialects.tile.dialect import SharedAttr
from tilec.dialects.tile.ops import LoadOp
from tilec.ir.aliases import Value
from tilec.ir.mlir import ir
from tilec.ir.types import element_of
from tilec.isa import Target
from tilec.isa.wording import counted

from ..analysis.effects import Writers
from ..emit import index_constant
from ..hopper.operand_buffers import OperandBuffer
from ..kernel_pass import Kernel
from .copy_frame import copy_frame, copy_of, new_buffer
from .staging_groups import StagingGroup, grouped
from .staging_vectors import copy_vector

Staged = Mapping[str, tuple[LoadOp, OperandBuffer]]
"""Of each operand in shared memory the load that fills it, and how it lies there."""


class OperandStaging:
    """The copies of the operands of a kernel's products to shared memory.

    Args:
        kernel: the kernel.
        target: what it is for.
    """

    def __init__(self, kernel: Kernel, target: Target) -> None:
        self._kernel = kernel
        self._target = target
        self._buffers: dict[tuple[ir.Operation, OperandBuffer], Value] = {}
        self._loads: list[LoadOp] = []

    def stage(self, operands: Iterable[Staged]) -> None:
        """Copy the operands of all products, what several of them take once."""
        wanted: dict[ir.Operation, list[OperandBuffer]] = {}
        for buffers in operands:
            for load, buffer in buffers.values():
                kinds = wanted.setdefault(load.operation, [])
                kinds += [] if buffer in kinds else [buffer]
        self._loads = [load for load in self._kernel.named(LoadOp) if load.operation in wanted]
        for group in list(grouped(self._loads, Writers(self._kernel.function))):
            self._copy(group, wanted)

    def buffer(self, load: LoadOp, kind: OperandBuffer) -> Value:
        """The buffer that holds what a load takes."""
        return self._buffers[load.operation, kind]

    def erase_loads(self) -> None:
        """Drop the loads of which nothing needs the tile any more."""
        for load in reversed(self._loads):
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
        copy_of(load, buffer, kind.extents, vector, zero, masked=kind.wider)
        panels, lines, width = kind.shape
        self._kernel.remark(
            load,
            f"goes through {counted(kind.bytes, 'byte')} of shared memory, in "
            f"{counted(panels, 'panel')} of {lines} "
            f"lines of {counted(width, 'element')}, {kind.order}",
        )
        return buffer

"""`tile.wmma_*`: calls of the instructions, and elementwise ops on their registers."""

from __future__ import annotations

from collections.abc import Sequence

from tilec.dialects.tile.dialect import SharedAttr
from tilec.dialects.tile.ops import (
    WmmaElementwiseOp,
    WmmaFillOp,
    WmmaLoadOp,
    WmmaMmaOp,
    WmmaStoreOp,
)
from tilec.dialects.tile.shared import shared_buffer
from tilec.ir.aliases import Type, Value
from tilec.ir.creation import create
from tilec.ir.ops import llvm
from tilec.ir.ops.llvm import constant_i32
from tilec.ir.types import i32, memref_of
from tilec.isa import Form, WmmaMemory, form
from tilec.isa.llvm import call
from tilec.layout import LinearLayout

from ..fragments.expansion import Expansion, Values
from .addresses import in_global
from .elementwise import function
from .global_memory import GlobalAccess
from .lowering import Lowering
from .registers import bitcast, scalar, splat, wmma_packing
from .shared_memory import shared_access

_NOWHERE = LinearLayout.of({"lane": [(0, 0)] * 5}, {"row": 1, "col": 1})
"""All lanes give the matrix's own address."""


class Wmma:
    """Lowering of the wmma ops of one kernel."""

    def __init__(self, kernel: Lowering) -> None:
        self._kernel = kernel

    def mma(self, op: WmmaMmaOp, expansion: Expansion) -> list[Values]:
        """`tile.wmma_mma`."""
        arguments = expansion.all(op.operands)
        return [self._call(form(op.form.value), "", arguments, op.d.type)]

    def load(self, op: WmmaLoadOp, expansion: Expansion) -> list[Values]:
        """`tile.wmma_load`."""
        found, space, pointer, stride = self._memory(op, op.source, expansion)
        return [self._call(found, space, [pointer, stride], op.fragment.type)]

    def store(self, op: WmmaStoreOp, expansion: Expansion) -> list[Values]:
        """`tile.wmma_store`."""
        found, space, pointer, stride = self._memory(op, op.target, expansion)
        held = expansion.values(op.fragment)
        self._call(found, space, [pointer, *held, stride], None)
        return []

    def fill(self, op: WmmaFillOp, _: Expansion) -> list[Values]:
        """`tile.wmma_fill`."""
        packed = wmma_packing(op.fragment.type)
        return [[splat(scalar(op.value, packed), packed)] * packed.registers]

    def elementwise(self, op: WmmaElementwiseOp, expansion: Expansion) -> list[Values]:
        """`tile.wmma_elementwise`."""
        packed = wmma_packing(op.result.type)
        inputs = [expansion.values(v) for v in op.inputs]
        name, attributes = function(op)
        return [
            [
                create(name, list(parts), packed.type, **attributes)
                for parts in zip(*inputs, strict=True)
            ]
        ]

    def _call(
        self, found: Form, space: str, arguments: Sequence[Value], result: Type | None
    ) -> list[Value]:
        wanted = call(
            found,
            space=space,
            stride=found.takes_stride,
            target=self._kernel.target,
        )
        results = self._kernel.call(wanted, arguments)
        if result is None:
            return []
        type_ = wmma_packing(result).type
        return [bitcast(value, type_) for value in results]

    def _memory(
        self, op: WmmaLoadOp | WmmaStoreOp, memref: Value, expansion: Expansion
    ) -> tuple[WmmaMemory, str, Value, Value]:
        """Form, state space, address and stride in elements of a load or store."""
        found = form(op.form.value)
        assert isinstance(found, WmmaMemory)
        (inside,) = (*found.results, *found.operands)
        per_byte = max(1, 8 // inside.type.bits)
        type_ = memref_of(memref)
        if isinstance(type_.memory_space, SharedAttr):
            buffer = shared_buffer(type_)
            shape = tuple(type_.shape)
            base = expansion.one(memref)
            shared = shared_access(self._kernel, base, buffer, op.indices, shape, _NOWHERE, "lane")
            return found, "shared", shared.pointer((0, 0)), constant_i32(buffer.cols * per_byte)
        memory = GlobalAccess(self._kernel, memref, op.indices, _NOWHERE, "lane")
        pointer = in_global(memory.pointer((0, 0)))
        last = memory.descriptor.rank - 2
        stride = llvm.trunc(memory.descriptor.stride(last), i32())
        if per_byte > 1:
            stride = llvm.mul(stride, constant_i32(per_byte))
        return found, "global", pointer, stride

"""`tile.wmma_*`: calls of the instructions, and elementwise ops on their registers."""

from __future__ import annotations

from typing import Any

from tilec.dialects.tile.dialect import SharedAttr
from tilec.dialects.tile.shared import shared_buffer
from tilec.dialects.tile.tiles import element_name
from tilec.dialects.tile.wmma import wmma_operand
from tilec.ir.mlir import ir
from tilec.isa import WmmaMemory, form
from tilec.isa.llvm import call
from tilec.layout import LinearLayout

from ..emit import create
from ..fragments.expansion import Expansion, Values
from .addresses import in_global
from .elementwise import function
from .global_memory import GlobalAccess
from .kernel import Kernel
from .registers import Packing, bitcast, constant_i32, element_type, i32, scalar, splat
from .shared_memory import shared_access

_NOWHERE = LinearLayout.of({"lane": [(0, 0)] * 5}, {"row": 1, "col": 1})
"""All lanes give the matrix's own address."""


def wmma_packing(type_: Any) -> Packing:
    """How a `!tile.wmma` lies in registers; which element is where is not known."""
    operand = wmma_operand(type_)
    element = element_type(ir.Type.parse(element_name(operand)))
    return Packing(element, operand.per_register, operand.registers)


class Wmma:
    """Lowering of the wmma ops of one kernel."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel

    def mma(self, op: Any, expansion: Expansion) -> list[Values]:
        """`tile.wmma_mma`."""
        found = form(ir.StringAttr(op.attributes["form"]).value)
        arguments = [register for v in op.operands for register in expansion.values(v)]
        return [self._call(op, found, "", arguments)]

    def load(self, op: Any, expansion: Expansion) -> list[Values]:
        """`tile.wmma_load`."""
        found, space, pointer, stride = self._memory(op, op.operands[0], expansion)
        return [self._call(op, found, space, [pointer, stride])]

    def store(self, op: Any, expansion: Expansion) -> list[Values]:
        """`tile.wmma_store`."""
        found, space, pointer, stride = self._memory(op, op.operands[1], expansion)
        held = expansion.values(op.operands[0])
        self._call(op, found, space, [pointer, *held, stride])
        return []

    def fill(self, op: Any, _: Expansion) -> list[Values]:
        """`tile.wmma_fill`."""
        packed = wmma_packing(op.results[0].type)
        return [[splat(scalar(op.operands[0], packed), packed)] * packed.registers]

    def elementwise(self, op: Any, expansion: Expansion) -> list[Values]:
        """`tile.wmma_elementwise`."""
        packed = wmma_packing(op.results[0].type)
        inputs = [expansion.values(v) for v in op.operands]
        name, attributes = function(op)
        return [
            [
                create(name, list(parts), packed.type, **attributes)
                for parts in zip(*inputs, strict=True)
            ]
        ]

    def _call(self, op: Any, found: Any, space: str, arguments: list[Any]) -> list[Any]:
        wanted = call(
            found,
            space=space,
            stride=found.takes_stride,
            target=self._kernel.target,
        )
        results = self._kernel.call(wanted, arguments)
        if not results:
            return []
        type_ = wmma_packing(op.results[0].type).type
        return [bitcast(value, type_) for value in results]

    def _memory(
        self, op: Any, memref: Any, expansion: Expansion
    ) -> tuple[WmmaMemory, str, Any, Any]:
        """Form, state space, address and stride in elements of a load or store."""
        found = form(ir.StringAttr(op.attributes["form"]).value)
        assert isinstance(found, WmmaMemory)
        (inside,) = (*found.results, *found.operands)
        per_byte = max(1, 8 // inside.type.bits)
        indices = list(op.operands)[-memref.type.rank :]
        if isinstance(memref.type.memory_space, SharedAttr):
            buffer = shared_buffer(memref.type)
            shape = tuple(memref.type.shape)
            base = expansion.one(memref)
            shared = shared_access(self._kernel, base, buffer, indices, shape, _NOWHERE, "lane")
            return found, "shared", shared.pointer((0, 0)), constant_i32(buffer.cols * per_byte)
        memory = GlobalAccess(self._kernel, memref, indices, _NOWHERE, "lane")
        pointer = in_global(memory.pointer((0, 0)))
        last = memory.descriptor.rank - 2
        stride = create("llvm.trunc", [memory.descriptor.stride(last)], i32())
        if per_byte > 1:
            stride = create("llvm.mul", [stride, constant_i32(per_byte)], i32())
        return found, "global", pointer, stride

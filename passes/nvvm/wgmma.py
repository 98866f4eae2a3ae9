"""`tile.wgmma` and its kin: inline assembly, in which accumulators stay in their registers.

LLVM 22 has no intrinsic of `wgmma.mma_async`; D is written in assembly with operands tied to the
results. Nothing in LLVM's IR ties the use of an accumulator to the wait before it, so the wait's
assembly takes and gives all accumulators. PTX ISA 9.7.15.
"""

from __future__ import annotations

from tilec.dialects.tile.ops.wgmma import (
    AccumulatorOp,
    JoinWarpsOp,
    WarpPartOp,
    WgmmaCommitOp,
    WgmmaFenceOp,
    WgmmaProduct,
    WgmmaWaitOp,
)
from tilec.dialects.tile.tiles import tile_value
from tilec.dialects.tile.warpgroup import part_registers, warpgroup_tile
from tilec.ir.aliases import Value
from tilec.ir.mlir import ir
from tilec.ir.ops import llvm
from tilec.isa import Form

from ..fragments.expansion import Expansion, Values
from .instructions import written
from .lowering import Lowering, llvm_type
from .matrix_descriptors import descriptor_of
from .passing import passed
from .registers import warpgroup_packing


class Wgmmas:
    """Lowering of the products of warpgroups of one kernel."""

    def __init__(self, lowering: Lowering) -> None:
        self._lowering = lowering

    def product(self, op: WgmmaProduct, expansion: Expansion) -> list[Values]:
        """`tile.wgmma` and `tile.wgmma_sp`."""
        form = op.key
        call = self._lowering.call_of(form)
        values = {"scale_d": [op.operands[3]]}
        values |= {
            name: self._operand(op, form, name, at, expansion) for at, name in enumerate("abc")
        }
        if form.sparsity:
            values["e"] = list(expansion.values(op.operands[4]))
        arguments: list[Value] = []
        for wanted in call.arguments:
            if wanted.constant:
                number = op.selector_value(wanted.name)
                arguments.append(llvm.constant(llvm_type(wanted.type), number))
            else:
                arguments.append(values[wanted.name].pop(0))
        packed = warpgroup_packing(op.results[0].type)
        assert packed is not None
        return [self._lowering.call(call, arguments, packed.type)]

    def _operand(
        self, op: WgmmaProduct, form: Form, name: str, at: int, expansion: Expansion
    ) -> Values:
        """The registers of an operand, or its descriptor."""
        value = op.operands[at]
        if not isinstance(value.type, ir.MemRefType):
            return list(expansion.values(value))
        return [_descriptor(op, form, name, value, expansion.one(value))]

    def fence(self, op: WgmmaFenceOp, expansion: Expansion) -> list[Values]:
        """`tile.wgmma_fence`: what it orders goes through its assembly."""
        return passed(written(op.mnemonic), op, expansion)

    def commit(self, op: WgmmaCommitOp, _: Expansion) -> list[Values]:
        """`tile.wgmma_commit`."""
        llvm.inline_asm(written(op.mnemonic), "~{memory}", [], None)
        return []

    def wait(self, op: WgmmaWaitOp, expansion: Expansion) -> list[Values]:
        """`tile.wgmma_wait`: all accumulators go through its assembly."""
        pending = ir.IntegerAttr(op.attributes["pending"]).value
        return passed(written(op.mnemonic, n=pending), op, expansion)

    def accumulator(self, op: AccumulatorOp, _: Expansion) -> list[Values]:
        """`tile.accumulator`: zeros."""
        packed = warpgroup_packing(op.results[0].type)
        assert packed is not None
        return [[llvm.zero(packed.type)] * packed.registers]

    def part(self, op: WarpPartOp, expansion: Expansion) -> list[Values]:
        """`tile.warp_part`: a run of registers."""
        source, result = warpgroup_tile(op.operands[0].type), tile_value(op.results[0].type)
        packed = warpgroup_packing(op.operands[0].type)
        assert source is not None
        assert packed is not None
        assert result is not None
        first = ir.IntegerAttr(op.attributes["column"]).value
        elements = part_registers(source, first, result.shape[1])
        each = packed.per_register
        registers = expansion.values(op.operands[0])
        return [registers[elements.start // each : elements.stop // each]]

    def join(self, op: JoinWarpsOp, expansion: Expansion) -> list[Values]:
        """`tile.join_warps`: the same registers."""
        return [expansion.all(op.operands)]


def _descriptor(op: WgmmaProduct, form: Form, name: str, memref: Value, base: Value) -> Value:
    """The descriptor of an operand in shared memory.

    Raises:
        TilecError: if it is not known to begin where a descriptor can tell.
    """
    matrix = op.matrix(form, name, memref)
    fixed = matrix.described.descriptor.encode(0)
    return descriptor_of(matrix, fixed, memref, base, op.indices_of(name))

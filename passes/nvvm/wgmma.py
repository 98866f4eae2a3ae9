"""`tile.wgmma` and its kin: inline assembly, in which accumulators stay in their registers.

LLVM 22 has no intrinsic of `wgmma.mma_async`; D is written in assembly with operands tied to the
results. Nothing in LLVM's IR ties the use of an accumulator to the wait before it, so the wait's
assembly takes and gives all accumulators. What follows each other on one accumulator is one
assembly, emitted at its last product. PTX ISA 9.7.15.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tilec.dialects.tile.ops.wgmma import (
    AccumulatorOp,
    JoinWarpsOp,
    OrderingOp,
    WarpPartOp,
    WgmmaCommitOp,
    WgmmaFenceOp,
    WgmmaProduct,
    WgmmaWaitOp,
)
from tilec.dialects.tile.tiles import tile_value
from tilec.dialects.tile.warpgroup import part_registers, warpgroup_tile
from tilec.ir.aliases import Block, Op, Value
from tilec.ir.mlir import ir
from tilec.ir.ops import llvm
from tilec.isa import Form
from tilec.isa.llvm import Call

from ..fragments.expansion import Expansion, Values
from .instructions import written
from .lowering import Lowering, llvm_type
from .matrix_descriptors import descriptor_of
from .passing import passed
from .registers import warpgroup_packing
from .wgmma_runs import Run, Step, runs_of


class Wgmmas:
    """Lowering of the products of warpgroups of one kernel."""

    def __init__(self, lowering: Lowering) -> None:
        self._lowering = lowering
        self._runs: dict[Block, Mapping[Op, Run]] = {}

    def product(self, op: WgmmaProduct, expansion: Expansion) -> list[Values]:
        """`tile.wgmma` and `tile.wgmma_sp`."""
        call = self._lowering.call_of(op.key)
        run = self._run_of(op)
        sums = expansion.values(op.operands[2])
        arguments = self._arguments(op, call, sums, expansion)
        packed = warpgroup_packing(op.results[0].type)
        assert packed is not None
        if run is None:
            values = [
                llvm.constant(llvm_type(wanted.type), value) if isinstance(value, int) else value
                for wanted, value in zip(call.arguments, arguments, strict=True)
            ]
            return [self._lowering.call(call, values, packed.type)]
        run.steps.append(Step(call, arguments))
        if op != run.end:
            return [sums]
        run.steps += map(_alone, run.ending)
        whole, values = run.call(call.results)
        return [self._lowering.call(whole, [*values, *sums], packed.type)]

    def _run_of(self, op: Op) -> Run | None:
        """The run that an op is of, if any."""
        block = op.operation.block
        if block not in self._runs:
            self._runs[block] = runs_of(block)
        return self._runs[block].get(op)

    def _arguments(
        self, op: WgmmaProduct, call: Call, sums: Values, expansion: Expansion
    ) -> Sequence[Value | int]:
        """What a product takes: registers, descriptors, and numbers that stand in its text."""
        values = {"scale_d": [op.operands[3]], "c": list(sums)}
        values |= {
            name: self._operand(op, op.key, name, at, expansion) for at, name in enumerate("ab")
        }
        if op.key.sparsity:
            values["e"] = list(expansion.values(op.operands[4]))
        return [
            op.selector_value(wanted.name) if wanted.constant else values[wanted.name].pop(0)
            for wanted in call.arguments
        ]

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
        run = self._run_of(op)
        if run is None:
            return passed(_text(op), op, expansion)
        run.steps.append(_alone(op))
        return [expansion.values(op.operands[0])]

    def commit(self, op: WgmmaCommitOp, _: Expansion) -> list[Values]:
        """`tile.wgmma_commit`."""
        if self._run_of(op) is None:
            llvm.inline_asm(_text(op), "~{memory}", [], None)
        return []

    def wait(self, op: WgmmaWaitOp, expansion: Expansion) -> list[Values]:
        """`tile.wgmma_wait`: all accumulators go through its assembly."""
        if self._run_of(op) is None:
            return passed(_text(op), op, expansion)
        return [expansion.values(op.operands[0])]

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


def _text(op: OrderingOp) -> str:
    """An instruction that orders others."""
    if isinstance(op, WgmmaWaitOp):
        return written(op.mnemonic, n=ir.IntegerAttr(op.attributes["pending"]).value)
    return written(op.mnemonic)


def _alone(op: OrderingOp) -> Step:
    """The same as a step of a run, without registers of its own."""
    return Step(Call(None, _text(op), "", (), ()), ())


def _descriptor(op: WgmmaProduct, form: Form, name: str, memref: Value, base: Value) -> Value:
    """The descriptor of an operand in shared memory.

    Raises:
        TilecError: if it is not known to begin where a descriptor can tell.
    """
    matrix = op.matrix(form, name, memref)
    fixed = matrix.described.descriptor.encode(0)
    return descriptor_of(matrix, fixed, memref, base, op.indices_of(name))

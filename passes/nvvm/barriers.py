"""`tile.barrier_*` and `tile.warpgroup_id`. PTX ISA 9.7.13.15, "mbarrier"."""

from __future__ import annotations

from tilec.dialects.tile.ops.barrier import (
    BarrierArriveOp,
    BarrierExpectOp,
    BarrierInitOp,
    BarrierWaitOp,
    TurnOp,
    WarpgroupIdOp,
)
from tilec.ir.aliases import Value
from tilec.ir.attributes import attribute
from tilec.ir.mlir import ir
from tilec.ir.ops import arith, llvm, nvvm, scf
from tilec.ir.types import i1, i32, i64
from tilec.isa import LANES, WARPGROUP_THREADS

from ..emit import index_constant
from ..fragments.expansion import Expansion, Values
from ..hopper.turns import turns_of
from .addresses import advance
from .instructions import emit_instruction
from .lowering import Lowering

_WORD = 64
"""Bits of an mbarrier."""


def barrier_address(barriers: Value, index: Value) -> Value:
    """The address of an mbarrier in shared memory, an i32."""
    return address_in_shared(advance(barriers, arith.index_castui(index, i64()), _WORD))


def address_in_shared(pointer: Value) -> Value:
    """The address that a pointer to shared memory is, an i32."""
    return llvm.ptrtoint(pointer, i32())


class Barriers:
    """Lowering of the mbarriers of one kernel."""

    def __init__(self, lowering: Lowering) -> None:
        self._lowering = lowering

    def init(self, op: BarrierInitOp, expansion: Expansion) -> list[Values]:
        """`tile.barrier_init`."""
        count = attribute(op, "count", ir.IntegerAttr).value
        return _signal(op, expansion, count=llvm.constant_i32(count))

    def arrive(self, op: BarrierArriveOp, expansion: Expansion) -> list[Values]:
        """`tile.barrier_arrive`, in the own CTA or in another of the cluster."""
        address = barrier_address(expansion.one(op.barriers), op.index)
        ranks: list[Value] = list(op.rank)
        predicate: Value | None = None
        if "ctas" in op.attributes:
            lane = self._lowering.thread.lane
            ctas = llvm.constant_i32(attribute(op, "ctas", ir.IntegerAttr).value)
            # In 32 bits, since ptxas computes it anew in each round of a loop.
            thread = arith.index_cast(self._lowering.thread.thread, i32())
            low = arith.andi(thread, llvm.constant_i32(LANES - 1))
            predicate = arith.cmpi(arith.CmpI.ULT, low, ctas)
            ranks = [lane]
        elif "elected" in op.attributes:
            predicate = nvvm.elect_sync()
        for rank in ranks:
            operands = {"at": address, "rank": arith.index_cast(rank, i32())}
            there = emit_instruction("mapa.shared::cluster.u32", operands, ("d", i32()))
            assert there is not None
            address = there
        emit_instruction(op.mnemonic, {"bar": address}, predicate=predicate)
        return []

    def expect(self, op: BarrierExpectOp, expansion: Expansion) -> list[Values]:
        """`tile.barrier_expect`."""
        count = attribute(op, "bytes", ir.IntegerAttr).value
        return _signal(op, expansion, bytes=llvm.constant_i32(count))

    def wait(self, op: BarrierWaitOp, expansion: Expansion) -> list[Values]:
        """`tile.barrier_wait`: a try may give up early, so it is made again."""
        address = barrier_address(expansion.one(op.barriers), op.index)
        parity = llvm.zext(op.parity, i32())
        loop = scf.while_([], [])
        with ir.InsertionPoint(loop.regions[0].blocks.append()):
            operands = {"bar": address, "parity": parity}
            done = emit_instruction(op.mnemonic, operands, ("p", i1()))
            assert done is not None
            scf.condition(llvm.xor(done, llvm.constant(i1(), 1)), [])
        with ir.InsertionPoint(loop.regions[1].blocks.append()):
            scf.yield_()
        return []

    def warpgroup(self, op: WarpgroupIdOp, _: Expansion) -> list[Values]:
        """`tile.warpgroup_id`: lane 0's, so that ptxas sees one value a warp."""
        del op
        thread = self._lowering.thread.thread
        number = arith.divui(thread, index_constant(WARPGROUP_THREADS))
        word = arith.index_cast(number, i32())
        same = nvvm.shfl_sync(nvvm.Shuffle.IDX, word, llvm.constant_i32(0))
        return [[arith.index_castui(same, ir.IndexType.get())]]

    def turn(self, op: TurnOp, _: Expansion) -> list[Values]:
        """`tile.turn`: among as many warpgroups as the kernel says."""
        del op
        kernel = self._lowering
        return [[kernel.thread.turn], [index_constant(turns_of(kernel.function))]]


def _signal(
    op: BarrierInitOp | BarrierExpectOp, expansion: Expansion, **numbers: Value
) -> list[Values]:
    """Emit what has no result of an mbarrier."""
    address = barrier_address(expansion.one(op.barriers), op.index)
    emit_instruction(op.mnemonic, {"bar": address, **numbers})
    return []

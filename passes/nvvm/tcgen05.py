"""`tile.tcgen05_mma` and its kin: inline assembly, each with its descriptors.

LLVM 22's intrinsics of `tcgen05.mma` say that they touch only what their pointers point to, and a
matrix descriptor is an integer: what is stored to an operand in shared memory LLVM would delete
where it is overwritten later. Assembly with `~{memory}` is left where it stands. A form that a
target lacks aborts LLVM's process, where `tile-check-target` has said so before. PTX ISA 9.7.16.
"""

from __future__ import annotations

from tilec.dialects.semantics.upstream import constant_of
from tilec.dialects.tile.matrix_operands import MatrixOperand
from tilec.dialects.tile.ops.tcgen05 import TensorProductOp
from tilec.dialects.tile.ops.tcgen05_cp import Tcgen05CpOp
from tilec.dialects.tile.ops.tcgen05_ld_red import Tcgen05LdRedOp
from tilec.dialects.tile.ops.tcgen05_moves import (
    Tcgen05CommitOp,
    Tcgen05FenceOp,
    Tcgen05LdOp,
    Tcgen05StOp,
    Tcgen05WaitLdOp,
    Tcgen05WaitStOp,
)
from tilec.dialects.tile.ops.tcgen05_shift import Tcgen05ShiftOp
from tilec.dialects.tile.ops.tensor_memory import (
    Tcgen05AllocOp,
    Tcgen05DeallocOp,
    Tcgen05RelinquishOp,
    TensorBufferOp,
)
from tilec.dialects.tile.ops.tensor_sides import metadata_column
from tilec.ir.aliases import Value
from tilec.ir.attributes import attribute
from tilec.ir.mlir import ir
from tilec.ir.ops import arith, llvm
from tilec.ir.types import i32
from tilec.isa.matrix_descriptor import MatrixDescriptor
from tilec.isa.tensor_memory import LANE_BIT
from tilec.isa.tensor_moves import TensorMove
from tilec.layout.tensor_moves import half_width

from ..fragments.expansion import Expansion, Values
from .barriers import address_in_shared, barrier_address
from .instructions import emit_instruction, written
from .lowering import Lowering
from .matrix_descriptors import descriptor_of
from .passing import passed
from .registers import bitcast, packing_of
from .tensor_addresses import tensor_address


class Tcgen05:
    """Lowering of what one kernel does in tensor memory."""

    def __init__(self, lowering: Lowering) -> None:
        self._lowering = lowering

    # Columns

    def alloc(self, op: Tcgen05AllocOp, expansion: Expansion) -> list[Values]:
        """`tile.tcgen05_alloc`."""
        columns = attribute(op, "columns", ir.IntegerAttr).value
        place = address_in_shared(expansion.one(op.slot))
        emit_instruction(op.mnemonic, {"dst": place}, numbers={"n": columns})
        return []

    def dealloc(self, op: Tcgen05DeallocOp, expansion: Expansion) -> list[Values]:
        """`tile.tcgen05_dealloc`."""
        columns = attribute(op, "columns", ir.IntegerAttr).value
        address = llvm.load(expansion.one(op.slot), i32(), _WORD)
        emit_instruction(op.mnemonic, {"acc": address}, numbers={"n": columns})
        return []

    def buffer(self, op: TensorBufferOp, expansion: Expansion) -> list[Values]:
        """`tile.tensor_buffer`: the address of its first column."""
        first = attribute(op, "column", ir.IntegerAttr).value
        address = llvm.load(expansion.one(op.slot), i32(), _WORD)
        return [[llvm.add(address, llvm.constant_i32(first)) if first else address]]

    # Products and copies

    def product(self, op: TensorProductOp, expansion: Expansion) -> list[Values]:
        """`tile.tcgen05_mma` and its kin with scale factors, metadata, or both."""
        operands = {"acc": self._in_tensor(op, "d", expansion)}
        if op.key.a == "tensor":
            operands["a"] = self._in_tensor(op, "a", expansion)
        else:
            operands["adesc"] = _in_shared(op, "a", expansion)
        operands["bdesc"] = _in_shared(op, "b", expansion)
        for name in op.MATRICES[3:]:
            operands[_NAMES.get(name, name)] = self._in_tensor(op, name, expansion)
        operands["p"] = op.operands[3]
        options = op.options
        operands |= {name: llvm.constant_i32(word) for name, word in options.words.items()}
        numbers = {"idesc": op.descriptor.encode(), **options.numbers}
        emit_instruction(op.mnemonic, operands, numbers=numbers, written=options.operands(op.key))
        return []

    def _in_tensor(self, op: TensorProductOp, name: str, expansion: Expansion) -> Value:
        value = op.matrix_named(name)
        indices = op.indices_of(name)
        if name.startswith("sf"):
            indices = [*indices[:-1], arith.index(0)]  # the byte is the descriptor's to say
        if name == "e":  # an even column: the rest is the descriptor's, too
            indices = [*indices[:-1], arith.index(metadata_column(op) // 2 * 2)]
        return tensor_address(value, expansion.one(value), indices)

    def copy(self, op: Tcgen05CpOp, expansion: Expansion) -> list[Values]:
        """`tile.tcgen05_cp`."""
        source, target = list(op.operands)[:2]
        indices, ahead = op.source_indices, 0
        if op.is_image:
            ahead = op.piece * _PIECE
            indices = [*indices[:-2], arith.index(0), arith.index(0)]
        word = _descriptor(op.shared_operand(), source, expansion, indices)
        if ahead:
            word = llvm.add(word, llvm.constant_i64(ahead))
        *leading, row, col = op.target_indices
        first = constant_of(row)
        assert first is not None  # the op has checked that
        place = [*leading, arith.index(first - first % _LANES), col]
        address = tensor_address(target, expansion.one(target), place)
        if first % _LANES:  # of a buffer with a row for each lane
            address = llvm.add(address, llvm.constant_i32(first % _LANES << LANE_BIT))
        emit_instruction(op.mnemonic, {"acc": address, "adesc": word})
        return []

    def shift(self, op: Tcgen05ShiftOp, expansion: Expansion) -> list[Values]:
        """`tile.tcgen05_shift`."""
        place = tensor_address(op.buffer, expansion.one(op.buffer), list(op.operands)[1:])
        emit_instruction(op.mnemonic, {"acc": place})
        return []

    def commit(self, op: Tcgen05CommitOp, expansion: Expansion) -> list[Values]:
        """`tile.tcgen05_commit`."""
        operands = {"bar": barrier_address(expansion.one(op.barriers), op.index)}
        for mask in op.mask:
            operands["mask"] = arith.index_cast(mask, ir.IntegerType.get_signless(16))
        emit_instruction(op.mnemonic, operands)
        return []

    # Loads and stores

    def load(self, op: Tcgen05LdOp, expansion: Expansion) -> list[Values]:
        """`tile.tcgen05_ld`."""
        source = op.source
        address = tensor_address(source, expansion.one(source), op.place)
        call, given = self._lowering.call_of(op.key), [address, *_apart(op.key)]
        return [self._lowering.call(call, given, packing_of(op.fragment).type)]

    def load_reduced(self, op: Tcgen05LdRedOp, expansion: Expansion) -> list[Values]:
        """`tile.tcgen05_ld_red`."""
        address = tensor_address(op.source, expansion.one(op.source), op.place)
        call = self._lowering.call_of(op.key)
        *loaded, reduced = self._lowering.call(call, [address], packing_of(op.fragment).type)
        return [loaded, [reduced]]

    def store(self, op: Tcgen05StOp, expansion: Expansion) -> list[Values]:
        """`tile.tcgen05_st`."""
        target = op.target
        address = tensor_address(target, expansion.one(target), op.place)
        words = [bitcast(word, i32()) for word in expansion.values(op.fragment)]
        given = [address, *_apart(op.key), *words]
        self._lowering.call(self._lowering.call_of(op.key), given)
        return []

    def wait_load(self, op: Tcgen05WaitLdOp, expansion: Expansion) -> list[Values]:
        """`tile.tcgen05_wait_ld`: what it waits for goes through its assembly."""
        return passed(written(op.mnemonic), op, expansion)

    def bare(
        self, op: Tcgen05FenceOp | Tcgen05WaitStOp | Tcgen05RelinquishOp, _: Expansion
    ) -> list[Values]:
        """An instruction without operands: a fence, a wait for stores, no more allocations."""
        emit_instruction(op.mnemonic, {})
        return []


_NAMES = {"e": "meta"}
"""Operands as the table of instructions calls them, where the op has another name."""
_LANES = 32
"""Rows between those whose addresses are asked for."""
_WORD = 4
"""Bytes of the word that holds an address."""
_PIECE = 32
"""What the factors of 128 rows take, four of each, as descriptors count: 16 bytes."""


def _apart(form: TensorMove) -> list[Value]:
    """How far apart a load or store is told that its halves lie, where it has any."""
    return [llvm.constant_i32(half_width(form))] if form.move.halves > 1 else []


def _in_shared(op: TensorProductOp, name: str, expansion: Expansion) -> Value:
    value = op.matrix_named(name)
    return _descriptor(op.shared_operand(name), value, expansion, op.indices_of(name))


def _descriptor(
    matrix: MatrixOperand, memref: Value, expansion: Expansion, indices: Values
) -> Value:
    """The matrix descriptor of an operand in shared memory."""
    found = matrix.described.descriptor
    fixed = MatrixDescriptor(0, found.leading, found.stride, str(found.swizzle)).encode()
    return descriptor_of(matrix, fixed, memref, expansion.one(memref), indices)

"""`tile.wgmma` and its kin: inline assembly, in which accumulators stay in their registers.

LLVM 22 has no intrinsic of `wgmma.mma_async`; D is written in assembly with operands tied to the
results. Nothing in LLVM's IR ties the use of an accumulator to the wait before it, so the wait's
assembly takes and gives all accumulators. PTX ISA 9.7.15.
"""

from __future__ import annotations

from functools import reduce

from tilec.dialects.tile.ops.wgmma import (
    AccumulatorOp,
    JoinWarpsOp,
    PassingOp,
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
from tilec.ir.ops import arith, llvm
from tilec.ir.types import i32, i64
from tilec.isa import Form, TilecError

from ..fragments.expansion import Expansion, Values
from .indices import Index, split
from .instructions import written
from .lowering import Lowering, llvm_type
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
            values["e"] = expansion.values(op.operands[4])
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
        return _passed(written(op.mnemonic), op, expansion)

    def commit(self, op: WgmmaCommitOp, _: Expansion) -> list[Values]:
        """`tile.wgmma_commit`."""
        llvm.inline_asm(written(op.mnemonic), "~{memory}", [], None)
        return []

    def wait(self, op: WgmmaWaitOp, expansion: Expansion) -> list[Values]:
        """`tile.wgmma_wait`: all accumulators go through its assembly."""
        pending = ir.IntegerAttr(op.attributes["pending"]).value
        return _passed(written(op.mnemonic, n=pending), op, expansion)

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


def _passed(code: str, op: PassingOp, expansion: Expansion) -> list[Values]:
    """What an op gives back of the fragments that it takes, through the assembly of both."""
    groups = [expansion.values(value) for value in op.operands]
    left = iter(_through(code, [register for group in groups for register in group]))
    return [[next(left) for _ in group] for group in groups]


def _through(code: str, registers: Values) -> Values:
    """The registers as an instruction leaves them that LLVM shall take to change all of them."""
    if not registers:
        llvm.inline_asm(code, "~{memory}", [], None)
        return []
    types = [register.type for register in registers]
    words = [r if isinstance(r.type, ir.F32Type) else _word(r) for r in registers]
    letters = ["f" if isinstance(word.type, ir.F32Type) else "r" for word in words]
    constraints = [f"={letter}" for letter in letters]
    constraints += [str(number) for number in range(len(words))]
    constraints.append("~{memory}")
    kinds = [word.type for word in words]
    if len(kinds) == 1:
        found: Values = [llvm.inline_asm(code, ",".join(constraints), words, kinds[0])]
    else:
        whole = llvm.inline_asm(code, ",".join(constraints), words, llvm.struct(kinds))
        places = [ir.DenseI64ArrayAttr.get([at]) for at in range(len(kinds))]
        found = list(llvm.extract_fields(whole, places, kinds))
    return [
        value if value.type == type_ else llvm.bitcast(value, type_)
        for value, type_ in zip(found, types, strict=True)
    ]


def _word(register: Value) -> Value:
    """A register as an i32."""
    return register if register.type == i32() else llvm.bitcast(register, i32())


def _descriptor(op: WgmmaProduct, form: Form, name: str, memref: Value, base: Value) -> Value:
    """The descriptor of an operand in shared memory.

    Raises:
        TilecError: if it is not known to begin where a descriptor can tell.
    """
    from tilec.layout.descriptors import ADDRESSES  # noqa: PLC0415 (for Hopper only)
    from tilec.layout.swizzle import CHUNK_BYTES  # noqa: PLC0415

    matrix = op.matrix(form, name, memref)
    buffer = matrix.buffer
    *leading, row, col = (split(index) for index in op.indices_of(name))
    line = buffer.cols * buffer.element_bytes
    chunk = CHUNK_BYTES // buffer.element_bytes
    _check_multiple(name, "row", row, 8)
    _check_multiple(name, "column", col, chunk)
    shape = ir.MemRefType(memref.type).shape
    terms = [(row, line // CHUNK_BYTES)]
    stride = buffer.matrix_bytes // CHUNK_BYTES
    for number, extent in zip(reversed(leading), reversed(shape[:-2]), strict=True):
        terms.append((number, stride))
        stride *= extent
    # What varies is in the low word, and never leaves it: starts have fourteen bits.
    address = llvm.and_(llvm.ptrtoint(base, i32()), llvm.constant_i32(ADDRESSES - 1))
    parts = [llvm.lshr(address, llvm.constant_i32(CHUNK_BYTES.bit_length() - 1))]
    constant = col.constant // chunk
    for index, scale in terms:
        constant += index.constant * scale
        if index.value is not None:
            word = arith.index_castui(index.value, i32())
            parts.append(llvm.mul(word, llvm.constant_i32(scale)))
    if col.value is not None:
        word = arith.index_castui(col.value, i32())
        parts.append(llvm.lshr(word, llvm.constant_i32(chunk.bit_length() - 1)))
    fixed = matrix.described.descriptor.encode(0)
    start = llvm.or_(llvm.zext(reduce(llvm.add, parts), i64()), llvm.constant_i64(fixed))
    # Of bits that it knows LLVM would make words of further constants, each of its own registers.
    start = llvm.opaque_i64(start)
    return llvm.add(start, llvm.constant_i64(constant)) if constant else start


def _check_multiple(name: str, what: str, index: Index, wanted: int) -> None:
    if index.constant % wanted or (index.value is not None and index.multiple % wanted):
        raise TilecError(
            f"the {what} where operand {name} starts is not known to be a multiple of {wanted}"
        )

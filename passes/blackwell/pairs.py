"""Products that two CTAs may compute together, each with its rows and half of B's columns."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from tilec.dialects.tile.attributes import IN_PAIRS
from tilec.dialects.tile.dialect import SharedAttr
from tilec.dialects.tile.emit import emit, emit_effect
from tilec.dialects.tile.ops import AllocSharedOp, AsyncCopyOp, TensorDotOp, TensorDotScaledOp
from tilec.dialects.tile.ops.tcgen05 import tensor_product
from tilec.dialects.tile.ops.warpgroup_dot import AwaitedProduct
from tilec.dialects.tile.shared import shared_buffer
from tilec.dialects.tile.tensor_dots import described_dot
from tilec.dialects.tile.tiles import bits_of
from tilec.ir.aliases import Value
from tilec.ir.mlir import ir, scf
from tilec.ir.ops import arith, nvvm
from tilec.ir.types import memref_of
from tilec.isa import TilecError
from tilec.isa.wording import counted

from ..analysis.costs import CLUSTER_CTAS, Product
from ..emit import add, index_constant
from ..hopper.operand_buffers import OperandBuffer, operand_buffer
from ..kernel_pass import Kernel
from ..search import defining_op
from .carried import carried

_ONE, _TWO = "cta_group::1", "cta_group::2"
_TURNING = (8, 16)
"""Bits of elements that descriptors tell along M and N."""

PairDot: TypeAlias = TensorDotOp | TensorDotScaledOp
"""What pairs may compute."""


class PairProduct(NamedTuple):
    """A product of a loop that two CTAs may compute together.

    Attributes:
        dot: the product, still of one CTA.
        copies: of A, of B, and of scale factors, of which each CTA has those of its rows of A and
            those of all columns of B.
        half: how half of B lies in shared memory.
    """

    dot: PairDot
    copies: dict[str, AsyncCopyOp]
    half: OperandBuffer

    def loaded(self, ctas: int) -> int:
        """Bytes that a CTA loads a round where so many share B; each has all its scale factors."""
        each = {name: _bytes(copy) for name, copy in self.copies.items()}
        return sum(each.values()) - each["b"] + each["b"] // ctas

    def product(self, ctas: int) -> Product:
        """What a CTA multiplies a round where so many share B."""
        m, n = ir.RankedTensorType(self.dot.d.type).shape
        bits = bits_of(memref_of(self.dot.b).element_type)
        return Product(m, n, self.dot.depth(), bits, in_tensor_memory=True, ctas=ctas)

    def rewrite(self) -> None:
        """Let two CTAs compute it."""
        copy = self.copies["b"]
        alloc = defining_op(copy.operands[1], AllocSharedOp)
        assert alloc is not None
        space = SharedAttr.get(ir.StringAttr.get(self.half.swizzle))
        element = memref_of(copy.operands[1]).element_type
        type_ = ir.MemRefType.get(list(self.half.shape), element, memory_space=space)
        with ir.InsertionPoint(alloc), alloc.location:
            buffer = emit(AllocSharedOp, [], type_)
        self._copy(copy, buffer)
        attributes = {name: self.dot.attributes[name] for name in self.dot.attributes}
        attributes.pop(IN_PAIRS, None)
        attributes["form"] = ir.StringAttr.get(_form_of(self.dot))
        operands = [buffer if one == alloc.result else one for one in self.dot.operands]
        with ir.InsertionPoint(self.dot), self.dot.location:
            found = emit(type(self.dot), operands, self.dot.d.type, **attributes)
        self.dot.d.replace_all_uses_with(found)
        self.dot.operation.erase()
        alloc.operation.erase()

    def _copy(self, copy: AsyncCopyOp, buffer: Value) -> None:
        """Copy the CTA's half: the first in that of rank 0."""
        along = -1 if self.half.transposed else -2
        source = copy.source_indices
        loop = copy.operation.block.owner
        lines, width = self.half.extents
        with ir.InsertionPoint(loop), copy.location:
            rank = arith.index_castui(nvvm.cluster_rank(), ir.IndexType.get())
            columns = width if self.half.transposed else lines
            begin = arith.muli(rank, index_constant(columns))
        shape = ir.DenseI64ArrayAttr.get([lines, width])
        others = {name: copy.attributes[name] for name in copy.attributes if name != "shape"}
        with ir.InsertionPoint(copy), copy.location:
            source[along] = add(source[along], begin)
            given = [copy.operands[0], buffer, *source, *copy.target_indices]
            emit_effect(AsyncCopyOp, given, copy.location, shape=shape, **others)
        copy.operation.erase()


def pair_product(loop: scf.ForOp) -> PairProduct:
    """The product of a loop that two CTAs may compute together, if their columns of B are the same.

    Raises:
        TilecError: if there is none, saying why.
    """
    ops = list(loop.regions[0].blocks[0].operations)
    dots = [op for op in ops if isinstance(op, AwaitedProduct)]
    dot = dots[0]
    if len(dots) > 1 or not isinstance(dot, PairDot):
        raise TilecError(f"its loop has {len(dots)} products; pairs compute a single one")
    if "a" in dot.tiles():
        raise TilecError("its product has A in tensor memory")
    if dot.group > 1 or carried(dot) is None:
        raise TilecError("its loop does more with its sums than add to them")
    copies = {name: _copy_of(dot, name, number, ops) for name, number in dot.memories().items()}
    return PairProduct(dot, copies, _half(dot, copies["b"]))


def marked(kernel: Kernel) -> list[PairDot]:
    """The products that `tile-form-pairs` wants pairs to compute."""
    dots: list[PairDot] = [*kernel.named(TensorDotOp), *kernel.named(TensorDotScaledOp)]
    return [dot for dot in dots if IN_PAIRS in dot.attributes]


def _form_of(dot: PairDot) -> str:
    """The key of the instruction by which a pair computes a product."""
    return ir.StringAttr(dot.attributes["form"]).value.replace(_ONE, _TWO)


def _copy_of(dot: PairDot, name: str, number: int, ops: list[ir.OpView]) -> AsyncCopyOp:
    """The copy that fills an operand's buffer for the product alone."""
    buffer = dot.operands[number]
    alloc = defining_op(buffer, AllocSharedOp)
    users = [] if alloc is None else [use.owner.operation for use in buffer.uses]
    copies = [op for op in ops if isinstance(op, AsyncCopyOp) and op.operands[1] == buffer]
    if len(copies) != 1 or len(users) != CLUSTER_CTAS or dot.operation not in users:
        what = name.upper() if len(name) == 1 else name
        raise TilecError(f"its {what} is not copied in each iteration for it alone")
    return copies[0]


def _half(dot: PairDot, copy: AsyncCopyOp) -> OperandBuffer:
    """How half of B lies in shared memory.

    Raises:
        TilecError: if pairs have no such product, or no descriptor tells such a half.
    """
    rows, cols = ir.RankedTensorType(dot.d.type).shape
    types = ir.StringAttr(dot.attributes["types"]).value
    flags = tuple(name for name in dot.UNITS if name in dot.attributes)
    described_dot(tensor_product(_form_of(dot), scaled=dot.SCALED), types, (rows, cols), flags)
    if cols % CLUSTER_CTAS:
        raise TilecError(f"{counted(cols, 'column')} of B have no halves")
    turned = not dot.is_transposed("b")
    lines, width = copy.shape
    shape = (width, lines // 2) if turned else (lines, width // 2)
    bits = bits_of(memref_of(dot.b).element_type)
    return operand_buffer("b", shape, bits, turned, _TURNING)


def _bytes(copy: AsyncCopyOp) -> int:
    return shared_buffer(memref_of(copy.operands[1])).bytes

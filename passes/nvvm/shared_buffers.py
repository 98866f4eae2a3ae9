"""`tile.alloc_shared`: all buffers of a kernel in one array of shared memory."""

from __future__ import annotations

from tilec.dialects.semantics.effects import is_shared_array
from tilec.dialects.tile.attributes import DYNAMIC_SHARED
from tilec.dialects.tile.ops import AllocSharedOp
from tilec.dialects.tile.shared import ALIGNMENT, allocated_bytes
from tilec.ir.aliases import Value
from tilec.ir.attributes import attribute, i64_attribute
from tilec.ir.mlir import ir
from tilec.ir.ops import arith, builtin, llvm
from tilec.ir.types import i64, memref_of, strides_and_offset
from tilec.isa import TARGETS, TilecError
from tilec.isa.wording import counted

from ..fragments.expansion import Expansion, Values
from ..hopper.turns import turns_of
from .addresses import advance, step
from .descriptor import descriptor_type
from .lowering import Lowering

SHARED = 3
"""Shared memory's address space."""


class SharedBuffers:
    """Places of the buffers of one kernel."""

    def __init__(self, kernel: Lowering) -> None:
        self._kernel = kernel
        self._bytes = 0
        self._said: bool | None = None
        name = attribute(kernel.function, "sym_name", ir.StringAttr).value
        self._symbol = f"{name}_shared"

    def alloc(self, op: AllocSharedOp, _: Expansion) -> list[Values]:
        """`tile.alloc_shared`: the array's address and the buffer's place in it."""
        size = allocated_bytes(memref_of(op.buffer))
        at = self._place(op)
        turns, apart = self._turns(op)
        end = at + apart * (turns - 1) + -(-size // ALIGNMENT) * ALIGNMENT
        self._bytes = max(self._bytes, end)
        target = self._kernel.target
        limit = max(t.shared_per_cta for t in ([target] if target else TARGETS.values()))
        if self._bytes > limit:
            raise TilecError(
                f"brings the kernel's shared memory to {counted(self._bytes, 'byte')}; "
                f"{target or 'no target'} has {'' if target else 'more than '}{limit} per CTA"
            )
        start = step(llvm.addressof(self._symbol, llvm.pointer(SHARED)), at)
        if apart:
            number = arith.index_castui(self._kernel.thread.turn, i64())
            start = advance(start, arith.muli(number, llvm.constant_i64(apart)))
        type_ = memref_of(op.buffer)
        return [[_array(start, type_) if is_shared_array(type_) else start]]

    def _turns(self, op: AllocSharedOp) -> tuple[int, int]:
        """How many warpgroups have such a buffer of their own, and the bytes between them."""
        turns = turns_of(self._kernel.function)
        if turns > 1 and "offset" not in op.attributes:
            raise TilecError(
                f"has no offset, and {turns} warpgroups that take tiles in turn may each need such "
                "a buffer: run tile-reuse-shared first"
            )
        if turns == 1 or "apart" not in op.attributes:
            return 1, 0
        return turns, attribute(op, "apart", ir.IntegerAttr).value

    def _place(self, op: AllocSharedOp) -> int:
        """Where a buffer begins, in bytes."""
        says = "offset" in op.attributes
        if self._said not in (None, says):
            raise TilecError("either all buffers of a kernel have an offset or none")
        self._said = says
        if not says:
            return self._bytes
        at = attribute(op, "offset", ir.IntegerAttr).value
        if at % ALIGNMENT:
            raise TilecError(f"offset {at} is not a multiple of {ALIGNMENT}, as swizzles need")
        return at

    def finish(self) -> None:
        """Declare the array: static up to what a kernel has without asking, else dynamic."""
        if not self._bytes:
            return
        static = next(iter(TARGETS.values())).static_shared
        dynamic = self._bytes > static
        if dynamic:
            attributes = self._kernel.function.operation.attributes
            attributes[DYNAMIC_SHARED] = i64_attribute(self._bytes)
        llvm.global_bytes(
            self._kernel.module.regions[0].blocks[0],
            self._symbol,
            0 if dynamic else self._bytes,
            space=SHARED,
            alignment=ALIGNMENT,
            external=dynamic,
        )


def _array(start: Value, type_: ir.MemRefType) -> Value:
    """A memref of an array that begins at a pointer, as upstream's conversions describe it."""
    found: Value = llvm.poison(descriptor_type(type_))
    for number in (0, 1):
        found = llvm.insertvalue(found, start, [number])
    found = llvm.insertvalue(found, llvm.constant_i64(0), [2])
    strides, _ = strides_and_offset(type_)
    for field, counts in ((3, type_.shape), (4, strides)):
        for dim, count in enumerate(counts):
            found = llvm.insertvalue(found, llvm.constant_i64(count), [field, dim])
    return builtin.unrealized_conversion_cast(found, type_)

"""What is known at run time of a memref that upstream lowers: pointer, sizes, strides."""

from __future__ import annotations

from tilec.dialects.semantics import root_memory
from tilec.dialects.semantics.effects import address_space
from tilec.ir.aliases import Type, Value
from tilec.ir.attributes import signature
from tilec.ir.mlir import ir
from tilec.ir.ops import builtin, llvm
from tilec.ir.types import i64, memref_of, strides_and_offset, width_of
from tilec.isa.lazy import cached_property

from ..functions import is_kernel
from .addresses import advance, in_global
from .cached import cached_method
from .lowering import Lowering


def descriptor_type(type_: ir.MemRefType) -> Type:
    """The struct that upstream's conversions make of a memref."""
    pointer = llvm.pointer(address_space(type_))
    array = ir.Type.parse(f"!llvm.array<{type_.rank} x i64>")
    return llvm.struct([pointer, pointer, i64(), array, array])


class Descriptor:
    """Pointer, sizes and strides of a memref value.

    The memref is cast to the struct that upstream's conversion makes of it, with which the
    cast cancels out; what its type says statically is taken from there.

    Attributes:
        rank: dimensions of the memref.
        element_bits: bits from one element to the next.
        static_strides: in elements, None for those that the type does not say.
    """

    def __init__(self, kernel: Lowering, memref: Value) -> None:
        self._kernel = kernel
        self._memref = memref
        self._type = memref_of(memref)
        dynamic = ir.ShapedType.get_dynamic_stride_or_offset()
        strides, offset = strides_and_offset(self._type)
        self._offset: int | None = None if offset == dynamic else offset
        self.rank = self._type.rank
        self.element_bits = max(8, width_of(self._type.element_type))
        self.static_strides: list[int | None] = [None if s == dynamic else s for s in strides]

    @cached_property
    def _pointer(self) -> Type:
        return llvm.pointer(address_space(self._type))

    @cached_property
    def _struct(self) -> Type:
        return descriptor_type(self._type)

    @cached_method
    def _field(self, type_: Type, *position: int) -> Value:
        with self._kernel.interned:
            struct = builtin.unrealized_conversion_cast(self._memref, self._struct)
            return llvm.extractvalue(struct, position, type_)

    @cached_method
    def base(self) -> Value:
        """The aligned pointer, moved by the memref's offset; in the global state space if known."""
        pointer = self._field(self._pointer, 1)
        with self._kernel.interned:
            if _is_argument(self._memref):
                pointer = in_global(pointer)
            if self._offset == 0:
                return pointer
            known = self._offset
            offset = self._field(i64(), 2) if known is None else llvm.constant_i64(known)
            return self.advance(pointer, offset)

    def size(self, dim: int) -> Value:
        """Extent of a dimension, i64."""
        if self._type.is_dynamic_dim(dim):
            return self._field(i64(), 3, dim)
        return llvm.constant_i64(self._type.get_dim_size(dim))

    def stride(self, dim: int) -> Value:
        """Stride of a dimension in elements, i64."""
        stride = self.static_strides[dim]
        return self._field(i64(), 4, dim) if stride is None else llvm.constant_i64(stride)

    def times_stride(self, value: Value, dim: int) -> Value:
        """`value` (i64) times the stride of a dimension."""
        if self.static_strides[dim] == 1:
            return value
        return llvm.mul(value, self.stride(dim))

    def advance(self, pointer: Value, offset: Value) -> Value:
        """The pointer `offset` (i64) elements further."""
        return advance(pointer, offset, self.element_bits)


def _is_argument(memref: Value) -> bool:
    """Whether a memref is, or is a view of, what a kernel is passed, which is global memory."""
    root = root_memory(memref)
    owner = root.owner
    if not isinstance(owner, ir.Block):
        return False
    function = owner.owner.operation
    if function.name != "gpu.func" or not is_kernel(function):
        return False
    return ir.BlockArgument(root).arg_number < len(signature(function).inputs)

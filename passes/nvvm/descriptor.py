"""What is known at run time of a memref that upstream lowers: pointer, sizes, strides."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from tilec.ir.attributes import signature
from tilec.ir.mlir import ir

from ..emit import create
from ..functions import is_kernel
from .addresses import in_global, moved
from .kernel import Kernel
from .registers import constant_i64, i64

_VIEWS = frozenset(
    f"memref.{name}"
    for name in (
        "assume_alignment",
        "cast",
        "collapse_shape",
        "expand_shape",
        "reinterpret_cast",
        "subview",
        "transpose",
        "view",
    )
)


class Descriptor:
    """Pointer, sizes and strides of a memref value.

    The memref is cast to the struct that upstream's conversion makes of it, with which the
    cast cancels out; what its type says statically is taken from there.

    Attributes:
        rank: dimensions of the memref.
        element_bits: bits from one element to the next.
        static_strides: in elements, None for those that the type does not say.
    """

    def __init__(self, kernel: Kernel, memref: Any) -> None:
        self._kernel = kernel
        self._memref = memref
        self._type = memref.type
        dynamic = ir.ShapedType.get_dynamic_stride_or_offset()
        strides, offset = self._type.get_strides_and_offset()
        self._offset: int | None = None if offset == dynamic else offset
        self.rank = int(self._type.rank)
        self.element_bits = max(8, int(self._type.element_type.width))
        self.static_strides: list[int | None] = [None if s == dynamic else s for s in strides]

    @cached_property
    def _pointer(self) -> str:
        space = self._type.memory_space
        number = int(space.value) if isinstance(space, ir.IntegerAttr) else 0
        return f"ptr<{number}>" if number else "ptr"

    def _whole(self) -> Any:
        array = f"array<{self.rank} x i64>"
        struct = f"!llvm.struct<({self._pointer}, {self._pointer}, i64, {array}, {array})>"
        return create("builtin.unrealized_conversion_cast", [self._memref], ir.Type.parse(struct))

    def _field(self, type_: Any, *position: int) -> Any:
        def field() -> Any:
            struct = self._kernel.once("descriptor", [self._memref], self._whole)
            at = ir.DenseI64ArrayAttr.get(position)
            return create("llvm.extractvalue", [struct], type_, position=at)

        return self._kernel.once(("field", position), [self._memref], field)

    def base(self) -> Any:
        """The aligned pointer, moved by the memref's offset; in the global state space if known."""
        return self._kernel.once("base", [self._memref], self._emit_base)

    def _emit_base(self) -> Any:
        pointer = self._field(ir.Type.parse(f"!llvm.{self._pointer}"), 1)
        if _is_argument(self._memref):
            pointer = in_global(pointer)
        if self._offset == 0:
            return pointer
        offset = self._field(i64(), 2) if self._offset is None else constant_i64(self._offset)
        return self.moved(pointer, offset)

    def size(self, dim: int) -> Any:
        """Extent of a dimension, i64."""
        if self._type.is_dynamic_dim(dim):
            return self._field(i64(), 3, dim)
        return constant_i64(self._type.get_dim_size(dim))

    def stride(self, dim: int) -> Any:
        """Stride of a dimension in elements, i64."""
        stride = self.static_strides[dim]
        return self._field(i64(), 4, dim) if stride is None else constant_i64(stride)

    def times_stride(self, value: Any, dim: int) -> Any:
        """`value` (i64) times the stride of a dimension."""
        if self.static_strides[dim] == 1:
            return value
        return create("llvm.mul", [value, self.stride(dim)], i64())

    def moved(self, pointer: Any, offset: Any) -> Any:
        """The pointer `offset` (i64) elements further."""
        return moved(pointer, offset, self.element_bits)


def _is_argument(memref: Any) -> bool:
    """Whether a memref is, or is a view of, what a kernel is passed, which is global memory."""
    owner = memref.owner
    while not isinstance(owner, ir.Block):
        if owner.name not in _VIEWS:
            return False
        memref = owner.operands[0]
        owner = memref.owner
    function = owner.owner.operation
    if function.name != "gpu.func" or not is_kernel(function):
        return False
    return int(memref.arg_number) < len(signature(function).inputs)

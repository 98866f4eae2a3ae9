"""What a kernel is promised about the memory of its arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from tilec.dialects.tile.attributes import ALIGNED, SIZES, STRIDES
from tilec.dialects.tile.ops import AllocSharedOp
from tilec.dialects.tile.shared import ALIGNMENT
from tilec.dialects.tile.tiles import bits_of
from tilec.ir.aliases import Type, Value
from tilec.ir.attributes import attribute
from tilec.ir.mlir import gpu, ir
from tilec.ir.state import per_context
from tilec.ir.types import strides_and_offset
from tilec.isa import TilecError

ANY = 1 << 30
"""Zero is a multiple of every power of two; more than any extent."""


class MemoryFacts(NamedTuple):
    """What is known of a memref, in powers of two.

    Attributes:
        aligned: bytes of which its first element's address is a multiple.
        sizes: what divides each extent.
        strides: what divides each stride, in elements.
    """

    aligned: int
    sizes: tuple[int, ...]
    strides: tuple[int, ...]


def memory_facts(memref: Value) -> MemoryFacts:
    """What is known of a memref value.

    Its type says what is static. Of a kernel's argument the attributes `tile.aligned` (i64, bytes),
    `tile.sizes` and `tile.strides` (array<i64>, what divides each size and stride) say more;
    `memref.assume_alignment` speaks of the address; what `tile.alloc_shared` sets aside is aligned.
    Of a memref that `arith.select` chooses holds
    what holds of both, and what is said of it after that.

    Raises:
        TilecError: for attributes that are none of these, not of the memref's rank, or against
            its type.
    """
    type_, assumed, root = ir.MemRefType(memref.type), 1, memref
    while not isinstance(maker := root.owner, ir.Block):
        if maker.name == "arith.select":
            either = _merged(min, *map(memory_facts, list(maker.operands)[1:]))
            return _merged(max, either, _facts(type_, argument_attributes(root), assumed))
        if maker.name == "memref.assume_alignment":
            assumed = max(assumed, _power(attribute(maker, "alignment", ir.IntegerAttr).value))
        elif isinstance(maker.opview, AllocSharedOp):
            assumed = max(assumed, ALIGNMENT)
            break
        elif maker.name != "memref.cast":
            break
        root = maker.operands[0]
    return _facts(type_, argument_attributes(root), assumed)


def _merged(take: Callable[[int, int], int], one: MemoryFacts, other: MemoryFacts) -> MemoryFacts:
    """What is known of a memref that may be either of two, `min`, or is both, `max`."""
    return MemoryFacts(
        take(one.aligned, other.aligned),
        tuple(map(take, one.sizes, other.sizes)),
        tuple(map(take, one.strides, other.strides)),
    )


@per_context()
def _facts(type_: ir.MemRefType, promised: ir.DictAttr, assumed: int) -> MemoryFacts:
    """What is known of a memref of a type, of which an argument's attributes may say more.

    Args:
        type_: the memref's.
        promised: the attributes.
        assumed: bytes of which its address is known to be a multiple.
    """
    strides, offset = strides_and_offset(type_)
    dynamic_stride = ir.ShapedType.get_dynamic_stride_or_offset()
    sizes = [
        1 if type_.is_dynamic_dim(dim) else _power(type_.get_dim_size(dim))
        for dim in range(type_.rank)
    ]
    known = [1 if stride == dynamic_stride else _power(stride) for stride in strides]
    element = _bytes_of(type_.element_type)
    aligned = max(element, assumed)
    if ALIGNED in promised:
        aligned = max(aligned, _integer(promised, ALIGNED))
    for name, values, static in (
        (SIZES, sizes, [not type_.is_dynamic_dim(dim) for dim in range(type_.rank)]),
        (STRIDES, known, [stride != dynamic_stride for stride in strides]),
    ):
        for dim, multiple in enumerate(_integers(promised, name, type_.rank)):
            if static[dim] and values[dim] < multiple:
                raise TilecError(
                    f"{name} guarantees a multiple of {multiple} for dimension {dim} of {type_}, "
                    "which contradicts it"
                )
            values[dim] = max(values[dim], multiple)
    first = 1 if offset == dynamic_stride else _power(offset)
    return MemoryFacts(min(aligned, first * element), tuple(sizes), tuple(known))


def argument_attributes(value: Value) -> ir.DictAttr:
    """The attributes of a kernel's argument; none of another value."""
    if isinstance(value, ir.BlockArgument):
        function = value.owner.owner
        if isinstance(function, gpu.GPUFuncOp) and "arg_attrs" in function.attributes:
            return ir.DictAttr(attribute(function, "arg_attrs", ir.ArrayAttr)[value.arg_number])
    return ir.DictAttr.get({}, value.context)


def _bytes_of(element: Type) -> int:
    """Bytes of which the address of any element is a multiple; 1 of what is not a number."""
    try:
        return max(1, bits_of(element) // 8)
    except TilecError:
        return 1


def _power(number: int) -> int:
    """The largest power of two, up to `ANY`, that divides a number."""
    return min(number & -number, ANY) if number else ANY


def _integer(promised: ir.DictAttr, name: str) -> int:
    given = promised[name]
    if not isinstance(given, ir.IntegerAttr) or given.value < 1:
        raise TilecError(f"{name} must be a positive integer, not {given}")
    return _power(given.value)


def _integers(promised: ir.DictAttr, name: str, rank: int) -> list[int]:
    if name not in promised:
        return []
    given = promised[name]
    if not isinstance(given, ir.DenseI64ArrayAttr):
        raise TilecError(f"{name} must be array<i64: …>, not {given}")
    numbers = list(given)
    if len(numbers) != rank or min(numbers, default=1) < 1:
        raise TilecError(f"{name} must be {rank} positive numbers, one per dimension: {given}")
    return [_power(number) for number in numbers]

"""What a kernel is promised about the memory of its arguments."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from tilec.dialects.tile.attributes import ALIGNED, SIZES, STRIDES
from tilec.dialects.tile.tiles import KNOWN_TYPES, bits_of
from tilec.ir.mlir import ir
from tilec.isa import TilecError

ANY = 1 << 30
"""Zero is a multiple of every power of two; more than any extent."""


@dataclass(frozen=True, slots=True)
class MemoryFacts:
    """What is known of a memref, in powers of two.

    Attributes:
        aligned: bytes of which its first element's address is a multiple.
        sizes: what divides each extent.
        strides: what divides each stride, in elements.
    """

    aligned: int
    sizes: tuple[int, ...]
    strides: tuple[int, ...]


def memory_facts(memref: Any) -> MemoryFacts:
    """What is known of a memref value.

    Its type says what is static. Of a kernel's argument the attributes `tile.aligned` (i64, bytes),
    `tile.sizes` and `tile.strides` (array<i64>, what divides each size and stride) say more;
    `memref.assume_alignment` speaks of the address.

    Raises:
        TilecError: for attributes that are none of these, not of the memref's rank, or against
            its type.
    """
    assumed, root = 1, memref
    while not isinstance(root.owner, ir.Block):
        if root.owner.name == "memref.assume_alignment":
            assumed = max(assumed, _power(int(root.owner.attributes["alignment"].value)))
        elif root.owner.name != "memref.cast":
            break
        root = root.owner.operands[0]
    return _facts(memref.type, argument_attributes(root) or None, assumed)


@lru_cache(maxsize=KNOWN_TYPES)
def _facts(type_: Any, attributes: Any, assumed: int) -> MemoryFacts:
    """What is known of a memref of a type, of which an argument's attributes may say more.

    Args:
        type_: the memref's.
        attributes: a dictionary of them, or None.
        assumed: bytes of which its address is known to be a multiple.
    """
    promised = attributes or {}
    strides, offset = type_.get_strides_and_offset()
    dynamic_stride = ir.ShapedType.get_dynamic_stride_or_offset()
    sizes = [
        1 if type_.is_dynamic_dim(dim) else _power(type_.get_dim_size(dim))
        for dim in range(type_.rank)
    ]
    known = [1 if stride == dynamic_stride else _power(stride) for stride in strides]
    element = max(1, bits_of(type_.element_type) // 8)
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
                    f"{name} promises a multiple of {multiple} for dimension {dim} of {type_}, "
                    "which says otherwise"
                )
            values[dim] = max(values[dim], multiple)
    first = 1 if offset == dynamic_stride else _power(offset)
    return MemoryFacts(min(aligned, first * element), tuple(sizes), tuple(known))


def argument_attributes(value: Any) -> Any:
    """The attributes of a kernel's argument, a mapping; empty for another value."""
    block = value.owner
    if not isinstance(block, ir.Block) or block.owner.operation.name != "gpu.func":
        return {}
    attributes = block.owner.operation.attributes
    if "arg_attrs" not in attributes:
        return {}
    return ir.ArrayAttr(attributes["arg_attrs"])[value.arg_number]


def _power(number: int) -> int:
    """The largest power of two, up to `ANY`, that divides a number."""
    return min(number & -number, ANY) if number else ANY


def _integer(attributes: Any, name: str) -> int:
    attribute = attributes[name]
    if not isinstance(attribute, ir.IntegerAttr) or int(attribute.value) < 1:
        raise TilecError(f"{name} must be a positive integer, not {attribute}")
    return _power(int(attribute.value))


def _integers(attributes: Any, name: str, rank: int) -> list[int]:
    if name not in attributes:
        return []
    attribute = attributes[name]
    if not isinstance(attribute, ir.DenseI64ArrayAttr):
        raise TilecError(f"{name} must be array<i64: …>, not {attribute}")
    numbers = list(attribute)
    if len(numbers) != rank or min(numbers, default=1) < 1:
        raise TilecError(f"{name} must be {rank} positive numbers, one a dimension: {attribute}")
    return [_power(number) for number in numbers]

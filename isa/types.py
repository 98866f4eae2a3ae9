"""Element types of matrix operands, under the names that PTX gives them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from .errors import UnknownNameError


class Kind(StrEnum):
    """What the bits of an element mean."""

    FLOAT = "float"
    SIGNED = "signed"
    UNSIGNED = "unsigned"
    BITS = "bits"


@dataclass(frozen=True, slots=True)
class ElementType:
    """A PTX element type.

    Attributes:
        name: as PTX writes it, without the dot.
        bits: bits that carry information; a container may be wider (see `Operand.container`).
        kind: how the bits are read.
        exponent: exponent bits of a float, else 0.
        mantissa: stored mantissa bits of a float, else 0.
    """

    name: str
    bits: int
    kind: Kind
    exponent: int = 0
    mantissa: int = 0

    def __str__(self) -> str:
        return self.name

    @property
    def is_float(self) -> bool:
        """Whether the bits are a floating-point number."""
        return self.kind is Kind.FLOAT

    @property
    def bias(self) -> int:
        """What a float's exponent field exceeds the exponent by."""
        return (1 << (self.exponent - 1)) - 1

    @property
    def largest(self) -> int:
        """The code of the largest finite number of a signed float.

        Above it e4m3 has one NaN, types of less than 8 bits nothing, the others infinity.
        """
        end = (1 << (self.exponent + self.mantissa)) - 1
        if self.bits < 8:
            return end
        return end - (1 if self.name == "e4m3" else 1 << self.mantissa)

    @property
    def is_integer(self) -> bool:
        """Whether the bits are an integer of more than one bit."""
        return self.kind in (Kind.SIGNED, Kind.UNSIGNED)


def _types() -> tuple[ElementType, ...]:
    floats = (
        # PTX ISA, "Fundamental Types" and "Alternate Floating-Point Data Formats"
        ("f16", 16, 5, 10),
        ("bf16", 16, 8, 7),
        ("tf32", 32, 8, 10),  # 19 bits of meaning in a 32-bit register
        ("f32", 32, 8, 23),
        ("f64", 64, 11, 52),
        ("e4m3", 8, 4, 3),
        ("e5m2", 8, 5, 2),
        ("e3m2", 6, 3, 2),
        ("e2m3", 6, 2, 3),
        ("e2m1", 4, 2, 1),
        ("ue8m0", 8, 8, 0),
        ("ue4m3", 8, 4, 3),  # 7 bits of meaning, the top bit zero
    )
    integers = (
        ("s4", 4, Kind.SIGNED),
        ("u4", 4, Kind.UNSIGNED),
        ("s8", 8, Kind.SIGNED),
        ("u8", 8, Kind.UNSIGNED),
        ("s32", 32, Kind.SIGNED),
        ("b1", 1, Kind.BITS),
        ("b4", 4, Kind.BITS),  # a code of sparsity metadata, which PTX does not name
        ("b8", 8, Kind.BITS),
        ("b16", 16, Kind.BITS),
        ("b32", 32, Kind.BITS),
    )
    return tuple(ElementType(n, b, Kind.FLOAT, e, m) for n, b, e, m in floats) + tuple(
        ElementType(n, b, k) for n, b, k in integers
    )


ELEMENT_TYPES = MappingProxyType({t.name: t for t in _types()})
"""Every element type, by name."""


def element_type(name: str) -> ElementType:
    """The element type that PTX calls `name`.

    Raises:
        UnknownNameError: if there is none.
    """
    try:
        return ELEMENT_TYPES[name]
    except KeyError:
        raise UnknownNameError("element type", name, ELEMENT_TYPES) from None


TYPE_BITS = MappingProxyType(
    {
        "pred": 1,
        **{f"{k}{n}": n for k in "bsu" for n in (8, 16, 32, 64)},
        "b128": 128,
        "f16": 16,
        "bf16": 16,
        "f16x2": 32,
        "bf16x2": 32,
        "tf32": 32,
        "f32": 32,
        "f64": 64,
        "e4m3": 8,
        "e5m2": 8,
        "e4m3x2": 16,
        "e5m2x2": 16,
        "u16x2": 32,
        "s16x2": 32,
    }
)
"""Width in bits of every fundamental type that a declaration may name."""

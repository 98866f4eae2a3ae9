"""Element types, under the names that PTX gives them: one table of all that is known of each."""

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
        bits: bits that it takes, packed; a container may be wider (see `Operand.container`).
        kind: how the bits are read.
        mlir: MLIR's type; integers have no sign there, nor bits a type of their own.
        numpy: the type of numpy, or of ml_dtypes, that holds one value.
        exponent: exponent bits of a float, else 0.
        mantissa: stored mantissa bits of a float, else 0.
    """

    name: str
    bits: int
    kind: Kind
    mlir: str
    numpy: str
    exponent: int = 0
    mantissa: int = 0

    def __str__(self) -> str:
        return self.name

    @property
    def is_float(self) -> bool:
        """Whether the bits are a floating-point number."""
        return self.kind is Kind.FLOAT

    @property
    def is_integer(self) -> bool:
        """Whether the bits are an integer of more than one bit."""
        return self.kind in (Kind.SIGNED, Kind.UNSIGNED)

    @property
    def is_signed(self) -> bool:
        """Whether there are numbers below zero."""
        return self.kind is Kind.SIGNED or (self.is_float and not self.name.startswith("u"))

    @property
    def value_bits(self) -> int:
        """Bits that count: the low 13 of tf32 do not, nor does the top one of ue4m3."""
        return self.is_signed + self.exponent + self.mantissa if self.is_float else self.bits

    @property
    def stored(self) -> str:
        """MLIR's type of what memory holds: bytes of narrower elements, f32 of tf32."""
        return "i8" if self.bits < 8 else "f32" if self.name == "tf32" else self.mlir

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


def _types() -> tuple[ElementType, ...]:
    floats = (
        # PTX ISA, "Fundamental Types" and "Alternate Floating-Point Data Formats"
        ("f16", 16, "f16", "float16", 5, 10),
        ("bf16", 16, "bf16", "bfloat16", 8, 7),
        ("tf32", 32, "tf32", "float32", 8, 10),
        ("f32", 32, "f32", "float32", 8, 23),
        ("f64", 64, "f64", "float64", 11, 52),
        ("e4m3", 8, "f8E4M3FN", "float8_e4m3fn", 4, 3),
        ("e5m2", 8, "f8E5M2", "float8_e5m2", 5, 2),
        ("e3m2", 6, "f6E3M2FN", "float6_e3m2fn", 3, 2),
        ("e2m3", 6, "f6E2M3FN", "float6_e2m3fn", 2, 3),
        ("e2m1", 4, "f4E2M1FN", "float4_e2m1fn", 2, 1),
        ("ue8m0", 8, "f8E8M0FNU", "float8_e8m0fnu", 8, 0),
        ("ue4m3", 8, "f8E4M3FN", "float8_e4m3fn", 4, 3),
    )
    integers = (
        ("s2", 2, Kind.SIGNED, "int2"),
        ("u2", 2, Kind.UNSIGNED, "uint2"),
        ("s4", 4, Kind.SIGNED, "int4"),
        ("u4", 4, Kind.UNSIGNED, "uint4"),
        ("s8", 8, Kind.SIGNED, "int8"),
        ("u8", 8, Kind.UNSIGNED, "uint8"),
        ("s16", 16, Kind.SIGNED, "int16"),
        ("u16", 16, Kind.UNSIGNED, "uint16"),
        ("s32", 32, Kind.SIGNED, "int32"),
        ("u32", 32, Kind.UNSIGNED, "uint32"),
        ("s64", 64, Kind.SIGNED, "int64"),
        ("u64", 64, Kind.UNSIGNED, "uint64"),
        ("b1", 1, Kind.BITS, "uint8"),
        ("b4", 4, Kind.BITS, "uint8"),  # a code of sparsity metadata, which PTX does not name
        ("b8", 8, Kind.BITS, "uint8"),
        ("b16", 16, Kind.BITS, "uint16"),
        ("b32", 32, Kind.BITS, "uint32"),
        ("b64", 64, Kind.BITS, "uint64"),
    )
    return (
        *(ElementType(n, b, Kind.FLOAT, mlir, np, e, m) for n, b, mlir, np, e, m in floats),
        *(ElementType(n, b, kind, f"i{b}", np) for n, b, kind, np in integers),
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


_NO_ELEMENTS = MappingProxyType({"pred": 1, "b128": 128})
"""Types of registers that hold no elements."""


def is_type(name: str) -> bool:
    """Whether PTX has a type of this name, be it a packed one such as `e4m3x2`."""
    element, x, count = name.partition("x")
    return name in _NO_ELEMENTS or (element in ELEMENT_TYPES and (count in ("2", "4") or not x))


def register_bits(name: str) -> int:
    """Width in bits of what holds a PTX type, such as `f16`, or a packed one, such as `e4m3x2`.

    Pairs of 4-bit floats share a byte; floats of 6 bits take one each, as those of 8 do.

    Raises:
        UnknownNameError: if there is no such type.
    """
    if name in _NO_ELEMENTS:
        return _NO_ELEMENTS[name]
    element, _, count = name.partition("x")
    bits = element_type(element).bits
    return (8 if bits == 6 else bits) * int(count or 1)


TYPE_BITS = MappingProxyType(
    {
        name: register_bits(name)
        for name in (
            "pred",
            *(f"{kind}{bits}" for kind in "bsu" for bits in (8, 16, 32, 64)),
            *("b128", "f16", "bf16", "f16x2", "bf16x2", "tf32", "f32", "f64"),
            *("e4m3", "e5m2", "e4m3x2", "e5m2x2", "u16x2", "s16x2"),
        )
    }
)
"""Width in bits of every fundamental type that a declaration may name."""

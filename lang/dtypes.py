"""Element types under numpy's names, and ml_dtypes' where numpy has none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from tilec.isa import TilecError, UnknownNameError

if TYPE_CHECKING:
    from .tile import Tile


class _Named(type):
    """Shows an element type by its name."""

    def __repr__(cls) -> str:
        return cls.__name__.rstrip("_")


class DType(metaclass=_Named):
    """An element type: a class, as numpy's are, so that it also stands in annotations.

    Class attributes:
        mlir: MLIR's type.
        kind: `float`, `int`, `uint`, `bool`, or `index`, which sizes and places in arrays have.
        bits: its width.
    """

    mlir: ClassVar[str]
    kind: ClassVar[str]
    bits: ClassVar[int]

    def __new__(cls, value: Any) -> Tile:  # type: ignore[misc] # as numpy's, a conversion
        """A number or scalar of the kernel as one of this type."""
        from .shapes import full  # noqa: PLC0415 (it imports this file)

        return full((), value, cls)


class float64(DType):  # noqa: N801 (numpy's name, as those below)
    """IEEE double precision."""

    mlir, kind, bits = "f64", "float", 64


class float32(DType):  # noqa: N801
    """IEEE single precision."""

    mlir, kind, bits = "f32", "float", 32


class tfloat32(DType):  # noqa: N801
    """What `dot` multiplies in place of float32: 8 bits of exponent, 10 of mantissa."""

    mlir, kind, bits = "tf32", "float", 19


class float16(DType):  # noqa: N801
    """IEEE half precision."""

    mlir, kind, bits = "f16", "float", 16


class bfloat16(DType):  # noqa: N801
    """8 bits of exponent, 7 of mantissa."""

    mlir, kind, bits = "bf16", "float", 16


class float8_e4m3fn(DType):  # noqa: N801
    """4 bits of exponent, 3 of mantissa, no infinity."""

    mlir, kind, bits = "f8E4M3FN", "float", 8


class float8_e5m2(DType):  # noqa: N801
    """5 bits of exponent, 2 of mantissa."""

    mlir, kind, bits = "f8E5M2", "float", 8


class float8_e8m0fnu(DType):  # noqa: N801
    """8 bits of exponent, a power of two: the scale factor of a block."""

    mlir, kind, bits = "f8E8M0FNU", "float", 8


class float4_e2m1fn(DType):  # noqa: N801
    """2 bits of exponent, 1 of mantissa; two lie in a byte."""

    mlir, kind, bits = "f4E2M1FN", "float", 4


class int64(DType):  # noqa: N801
    """64 bits, signed."""

    mlir, kind, bits = "i64", "int", 64


class int32(DType):  # noqa: N801
    """32 bits, signed."""

    mlir, kind, bits = "i32", "int", 32


class int16(DType):  # noqa: N801
    """16 bits, signed."""

    mlir, kind, bits = "i16", "int", 16


class int8(DType):  # noqa: N801
    """8 bits, signed."""

    mlir, kind, bits = "i8", "int", 8


class int4(DType):  # noqa: N801
    """4 bits, signed; two lie in a byte, the first in its low bits."""

    mlir, kind, bits = "i4", "int", 4


class uint64(DType):  # noqa: N801
    """64 bits, unsigned."""

    mlir, kind, bits = "i64", "uint", 64


class uint32(DType):  # noqa: N801
    """32 bits, unsigned."""

    mlir, kind, bits = "i32", "uint", 32


class uint16(DType):  # noqa: N801
    """16 bits, unsigned."""

    mlir, kind, bits = "i16", "uint", 16


class uint8(DType):  # noqa: N801
    """8 bits, unsigned."""

    mlir, kind, bits = "i8", "uint", 8


class uint4(DType):  # noqa: N801
    """4 bits, unsigned; two lie in a byte, the first in its low bits."""

    mlir, kind, bits = "i4", "uint", 4


class bool_(DType):  # noqa: N801
    """True or false; a byte in memory."""

    mlir, kind, bits = "i1", "bool", 1


class intp(DType):  # noqa: N801
    """A size, or a place in an array: MLIR's index."""

    mlir, kind, bits = "index", "index", 64


DTYPES: dict[str, type[DType]] = {repr(found): found for found in DType.__subclasses__()}
"""The element types by name."""


def dtype_of(given: Any) -> type[DType]:
    """The element type that `given` is or names: one of these, or of numpy's or ml_dtypes'.

    Raises:
        TilecError: if it is none.
    """
    if isinstance(given, type) and issubclass(given, DType) and given is not DType:
        return given
    name = given if isinstance(given, str) else getattr(given, "name", None)
    if not isinstance(name, str):
        name = getattr(given, "__name__", None)
    if not isinstance(name, str):
        raise TilecError(f"{given!r} is no element type")
    if name.rstrip("_") not in DTYPES:
        raise UnknownNameError("element type", name, DTYPES)
    return DTYPES[name.rstrip("_")]


def per_byte(dtype: type[DType]) -> int:
    """How many elements share a byte of memory; 1 of wider ones."""
    return 1 if dtype.kind == "bool" else max(1, 8 // dtype.bits)


def stored(dtype: type[DType]) -> str:
    """MLIR's type of the elements of an array of `dtype` in memory."""
    if dtype.kind == "bool" or dtype.bits < 8:
        return "i8"
    return "f32" if dtype is tfloat32 else dtype.mlir


def limits(dtype: type[DType]) -> tuple[int, int]:
    """The least and the largest integer of an integer type, or of truth values."""
    if dtype.kind in ("int", "index"):
        return -(1 << (dtype.bits - 1)), (1 << (dtype.bits - 1)) - 1
    return 0, (1 << dtype.bits) - 1

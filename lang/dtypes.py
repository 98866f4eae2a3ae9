"""Element types under numpy's names, and ml_dtypes' where numpy has none."""

from __future__ import annotations

from typing import Any

from tilec.isa import TilecError, UnknownNameError

from .tile import DType as DType  # noqa: PLC0414 (the base of those here)


class float64(DType, element="f64"):  # noqa: N801 (numpy's name, as those below)
    """IEEE double precision."""


class float32(DType, element="f32"):  # noqa: N801
    """IEEE single precision."""


class tfloat32(DType, element="tf32"):  # noqa: N801
    """What `dot` multiplies in place of float32: 8 bits of exponent, 10 of mantissa."""


class float16(DType, element="f16"):  # noqa: N801
    """IEEE half precision."""


class bfloat16(DType, element="bf16"):  # noqa: N801
    """8 bits of exponent, 7 of mantissa."""


class float8_e4m3fn(DType, element="e4m3"):  # noqa: N801
    """4 bits of exponent, 3 of mantissa, no infinity."""


class float8_e5m2(DType, element="e5m2"):  # noqa: N801
    """5 bits of exponent, 2 of mantissa."""


class float8_e8m0fnu(DType, element="ue8m0"):  # noqa: N801
    """8 bits of exponent, a power of two: the scale factor of a block."""


class float6_e2m3fn(DType, element="e2m3"):  # noqa: N801
    """2 bits of exponent, 3 of mantissa; in the low bits of a byte."""


class float6_e3m2fn(DType, element="e3m2"):  # noqa: N801
    """3 bits of exponent, 2 of mantissa; in the low bits of a byte."""


class float4_e2m1fn(DType, element="e2m1"):  # noqa: N801
    """2 bits of exponent, 1 of mantissa; two lie in a byte."""


class int64(DType, element="s64"):  # noqa: N801
    """64 bits, signed."""


class int32(DType, element="s32"):  # noqa: N801
    """32 bits, signed."""


class int16(DType, element="s16"):  # noqa: N801
    """16 bits, signed."""


class int8(DType, element="s8"):  # noqa: N801
    """8 bits, signed."""


class int4(DType, element="s4"):  # noqa: N801
    """4 bits, signed; two lie in a byte, the first in its low bits."""


class uint64(DType, element="u64"):  # noqa: N801
    """64 bits, unsigned."""


class uint32(DType, element="u32"):  # noqa: N801
    """32 bits, unsigned."""


class uint16(DType, element="u16"):  # noqa: N801
    """16 bits, unsigned."""


class uint8(DType, element="u8"):  # noqa: N801
    """8 bits, unsigned."""


class uint4(DType, element="u4"):  # noqa: N801
    """4 bits, unsigned; two lie in a byte, the first in its low bits."""


class bool_(DType):  # noqa: N801
    """True or false; a byte in memory."""

    mlir, kind, bits, value_bits, stored = "i1", "bool", 1, 1, "i8"


class intp(DType):  # noqa: N801
    """A size, or a place in an array: MLIR's index."""

    mlir, kind, bits, value_bits, stored = "index", "index", 64, 64, "index"


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
        raise TilecError(f"{given!r} is not an element type")
    if name.rstrip("_") not in DTYPES:
        raise UnknownNameError("element type", name, DTYPES)
    return DTYPES[name.rstrip("_")]


def per_byte(dtype: type[DType]) -> int:
    """How many elements share a byte of memory; 1 of wider ones."""
    return 1 if dtype.kind == "bool" else max(1, 8 // dtype.bits)


def stored(dtype: type[DType]) -> str:
    """MLIR's type of the elements of an array of `dtype` in memory."""
    return dtype.stored


def is_in_byte(dtype: type[DType]) -> bool:
    """Whether an element has a byte of which it leaves bits unused; tile ops alone know it."""
    return dtype.value_bits < dtype.bits


def limits(dtype: type[DType]) -> tuple[int, int]:
    """The least and the largest integer of an integer type, or of truth values."""
    if dtype.kind in ("int", "index"):
        return -(1 << (dtype.bits - 1)), (1 << (dtype.bits - 1)) - 1
    return 0, (1 << dtype.bits) - 1

"""`cvt` between scalar types (PTX ISA, "Data Movement and Conversion Instructions: cvt")."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from typing import cast

import numpy as np

from .bits import FLOAT, SIGNED, UNSIGNED, Array, Operation, number_dtype, register_dtype, width
from .formats import decode, encode, number_format
from .registry import Moves, form, moving
from .rounding import ROUNDINGS, narrowed, step, to_odd, two_sum
from .special import NAN, SIGN, canonical, flushed, quiet, saturated
from .syntax import Builder, Qualifiers

_INTEGERS = ("u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64")
_FLOATS = ("f16", "bf16", "f32", "f64")
_WHOLE = {"rni": np.rint, "rzi": np.trunc, "rmi": np.floor, "rpi": np.ceil}
_WHOLES = tuple(_WHOLE)
_F32, _F64 = FLOAT[32], FLOAT[64]
_U32 = UNSIGNED[32]
_SIXTEEN = np.uint32(16)


def _holds(target: str, source: str) -> bool:
    wide, narrow = np.iinfo(number_dtype(target)), np.iinfo(number_dtype(source))
    return bool(wide.min <= narrow.min and narrow.max <= wide.max)


def _declare_integers(build: Builder) -> Builder:
    for source in _INTEGERS:
        for target in _INTEGERS:
            sat = "" if _holds(target, source) else "{.sat}"
            form(f"cvt{sat}.dtype.atype", "dtype = atype", dtype=(target,), atype=(source,))(build)
    return build


@_declare_integers
@moving(Moves.EVENLY)
def _integer_to_integer(q: Qualifiers) -> Operation:
    source, target = number_dtype(q["atype"]), number_dtype(q["dtype"])
    register = register_dtype(q["dtype"])
    if "sat" in q:
        limits, own = np.iinfo(target), np.iinfo(source)
        low, high = max(limits.min, own.min), min(limits.max, own.max)
        return lambda a: np.clip(a.view(source), low, high).astype(register)
    if source.kind == "u" or source.itemsize >= target.itemsize:
        return lambda a: a.astype(register)
    return lambda a: a.view(source).astype(target).view(register)


def _declare(rounding: str, pairs: Iterable[tuple[str, str]]) -> Callable[[Builder], Builder]:
    """Declares the conversions of (target, source) types that involve a float.

    Args:
        rounding: the qualifier's syntax.
        pairs: the types.
    """

    def declare(build: Builder) -> Builder:
        for target, source in pairs:
            ftz = "{.ftz}" if "f32" in (target, source) else ""
            sat = "" if "bf16" in (target, source) else "{.sat}"
            form(
                f"cvt{rounding}{ftz}{sat}.dtype.atype",
                "dtype = atype",
                rnd=ROUNDINGS,
                irnd=_WHOLES,
                dtype=(target,),
                atype=(source,),
            )(build)
        return build

    return declare


def _float_to_integer(atype: str, dtype: str, rounding: str, *, ftz: bool) -> Operation:
    """Rounded to whole numbers and clamped to the type's range."""
    whole, register, bits = _WHOLE[rounding], register_dtype(dtype), width(dtype)
    limits = np.iinfo(number_dtype(dtype))
    low, high = np.float64(limits.min), np.float64(limits.max)
    largest = register.type(limits.max)
    # NaN gives zero, or the top bit alone if either type has 64 bits
    of_nan = register.type(1 << (bits - 1) if "64" in atype + dtype else 0)
    carrier = UNSIGNED[64] if dtype == "u64" else SIGNED[64]

    @np.errstate(all="ignore")
    def run(a: Array) -> Array:
        values = whole(decode(flushed(a) if ftz else a, atype))
        # in 64 bits the largest integer's float is one more, and out of the cast's range
        above = values >= high
        if not np.count_nonzero(above | ~(values >= low)):
            return values.astype(carrier).astype(register)
        inside = np.where(above, 0, np.fmax(values, low))
        result = np.where(above, largest, inside.astype(carrier).astype(register))
        return np.where(np.isnan(values), of_nan, result)

    return run


@_declare(".irnd", itertools.product(_INTEGERS, _FLOATS))
def _to_integer(q: Qualifiers) -> Operation:
    return _float_to_integer(q["atype"], q["dtype"], q["irnd"], ftz="ftz" in q)


def _finished(result: Array, *, ftz: bool, sat: bool) -> Array:
    """f32 results as bits."""
    bits = canonical(saturated(result) if sat else result)
    return flushed(bits) if ftz else bits


def _to_float(dtype: str, rounding: str, *, sat: bool) -> Operation:
    """From f64 values, exact or rounded to odd, to bits of a float type."""
    if dtype == "f32":
        return lambda x: _finished(narrowed(x, rounding), ftz=False, sat=sat)
    target = number_format(dtype)
    return lambda x: encode(saturated(x) if sat else x, target, rounding)


def _exact(atype: str) -> Operation:
    """Integers of a type as a sum of two f64: the nearest, and what it lacks."""
    number = number_dtype(atype)
    if number.itemsize < 8:
        return lambda a: (a.view(number).astype(_F64), np.float64(0))
    low, half = np.uint64(0xFFFFFFFF), number.type(32)

    def run(a: Array) -> tuple[Array, Array]:
        upper = np.right_shift(a.view(number), half).astype(_F64) * 2.0**32
        return two_sum(upper, (a & low).astype(_F64))

    return run


@_declare(".rnd", itertools.product(_FLOATS, _INTEGERS))
def _from_integer(q: Qualifiers) -> Operation:
    exact, rounding, sat = _exact(q["atype"]), q["rnd"], "sat" in q
    if q["dtype"] == "f64":

        def double(a: Array) -> Array:
            result, error = exact(a)
            if rounding != "rn":
                result = step(result, error, rounding)
            return cast(Array, (saturated(result) if sat else result).view(UNSIGNED[64]))

        return quiet(double)
    if q["dtype"] == "f32" and width(q["atype"]) <= 32 and rounding == "rn":
        number = number_dtype(q["atype"])
        if not sat:
            return lambda a: a.view(number).astype(_F32).view(_U32)
    convert = _to_float(q["dtype"], rounding, sat=sat)
    return quiet(lambda a: convert(to_odd(*exact(a))))


_WIDER = (("f32", "f16"), ("f64", "f16"), ("f64", "f32"))
_FROM_BF16 = (("f32", "bf16"), ("f64", "bf16"))
_NARROWER = (
    ("bf16", "f16"),
    ("f16", "bf16"),
    ("f16", "f32"),
    ("bf16", "f32"),
    ("f16", "f64"),
    ("bf16", "f64"),
    ("f32", "f64"),
)


@_declare("", _WIDER)
@_declare("{.rnd}", _FROM_BF16)  # ptxas takes a rounding there, though none is needed
@_declare(".rnd", _NARROWER)
@_declare("{.irnd}", zip(_FLOATS, _FLOATS, strict=True))
def _float_to_float(q: Qualifiers) -> Operation:
    source, target = q["atype"], q["dtype"]
    sat, ftz = "sat" in q, "ftz" in q
    rounding = q.get("rnd", "rn")
    if (
        "irnd" not in q
        and not sat
        and not ftz
        and (fast := _COMMON.get((target, source, rounding)))
    ):
        return fast
    whole = _WHOLE[q["irnd"]] if "irnd" in q else None
    write = _to_float(target, rounding, sat=sat) if target != "f64" else _write_double(sat)
    flush_in, flush_out = ftz and source == "f32", ftz and target == "f32"

    def run(a: Array) -> Array:
        values = decode(flushed(a) if flush_in else a, source)
        bits = write(values if whole is None else whole(values))
        return flushed(bits) if flush_out else cast(Array, bits)

    return quiet(run)


def _write_double(sat: bool) -> Operation:
    return lambda x: (saturated(x) if sat else x).view(UNSIGNED[64])


def round_bf16(bits: Array) -> Array:
    """f32 bits rounded to nearest bf16, left in the upper half; the lower half is not cleared."""
    rounded = bits + (((bits >> _SIXTEEN) & np.uint32(1)) + np.uint32(0x7FFF))
    is_nan = np.greater(bits & ~SIGN[32], np.uint32(0x7F800000))
    return np.where(is_nan, NAN[32], rounded) if np.count_nonzero(is_nan) else rounded


@np.errstate(all="ignore")
def round_f16(bits: Array) -> Array:
    """f32 bits rounded to nearest f16."""
    values = bits.view(_F32)
    is_nan = np.not_equal(values, values)
    halves = values.astype(FLOAT[16]).view(UNSIGNED[16])
    return np.where(is_nan, NAN[16], halves) if np.count_nonzero(is_nan) else halves


@np.errstate(all="ignore")
def widen_f16(bits: Array) -> Array:
    """f16 bits as f32 bits."""
    return canonical(bits.view(FLOAT[16]).astype(_F32))


_COMMON: dict[tuple[str, str, str], Operation] = {
    ("f16", "f32", "rn"): round_f16,
    ("f32", "f16", "rn"): widen_f16,
    ("bf16", "f32", "rn"): lambda a: (round_bf16(a) >> _SIXTEEN).astype(UNSIGNED[16]),
    # the move of bits that the hardware does, NaN and all
    ("f32", "bf16", "rn"): lambda a: np.left_shift(a.astype(_U32), _SIXTEEN),
}

"""`cvt` to and from packed and narrow floats, and `cvt.pack` (PTX ISA, cvt and cvt.pack).

Of two sources the first becomes the upper element.
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from .bits import FLOAT, SIGNED, UNSIGNED, Array, Operation, join, register_dtype, split
from .conversion import round_bf16, round_f16
from .formats import decode, encode, number_format
from .registry import form
from .syntax import Qualifiers

_F32 = FLOAT[32]
_U8, _U16, _U32 = UNSIGNED[8], UNSIGNED[16], UNSIGNED[32]
_SIXTEEN = np.uint32(16)
_UPPER = np.uint32(0xFFFF0000)
_DIRECTIONS = ("rn", "rz")
_BYTE_PAIRS = ("e4m3x2", "e5m2x2", "e2m3x2", "e3m2x2")
_NARROW_PAIRS = (*_BYTE_PAIRS, "e2m1x2")


def _encoder(target: str, q: Qualifiers, rounding: str) -> Operation:
    """f64 values to codes of a format, as the qualifiers say."""
    number, relu, satfinite = number_format(target), "relu" in q, "satfinite" in q
    return lambda x: encode(x, number, rounding, relu=relu, satfinite=satfinite)


def _concatenated(a: Array, b: Array, bits: int, register: np.dtype[Any]) -> Array:
    """`a` above `b`, elements of `bits` bits."""
    upper = np.left_shift(a.astype(register), register.type(bits))
    return cast(Array, np.bitwise_or(upper, b.astype(register)))


@form("cvt.rnd.relu{.satfinite}.dtype.f32", "dtype = f32", rnd=_DIRECTIONS, dtype=("f16", "bf16"))
@form("cvt.rnd.satfinite.dtype.f32", "dtype = f32", rnd=_DIRECTIONS, dtype=("f16", "bf16"))
@form("cvt.rnd{.satfinite}{.relu}.dtype.f32", "dtype = f32", rnd=_DIRECTIONS, dtype=("tf32",))
def _clamped(q: Qualifiers) -> Operation:
    write = _encoder(q["dtype"], q, q["rnd"])
    return lambda a: write(decode(a, "f32"))


@form("cvt.rna{.satfinite}.tf32.f32", "tf32 = f32")
def _tf32(q: Qualifiers) -> Operation:
    write = _encoder("tf32", q, "rna")
    return lambda a: write(decode(a, "f32"))


@form(
    "cvt.rnd{.relu}{.satfinite}.dtype.f32",
    "dtype = f32 f32",
    rnd=_DIRECTIONS,
    dtype=("f16x2", "bf16x2"),
)
def _pair(q: Qualifiers) -> Operation:
    element = q["dtype"].removesuffix("x2")
    if q["rnd"] == "rn" and "relu" not in q and "satfinite" not in q:
        return _pair_f16 if element == "f16" else _pair_bf16
    write = _encoder(element, q, q["rnd"])
    return lambda a, b: _concatenated(write(decode(a, "f32")), write(decode(b, "f32")), 16, _U32)


def _pair_f16(a: Array, b: Array) -> Array:
    return _concatenated(round_f16(a), round_f16(b), 16, _U32)


def _pair_bf16(a: Array, b: Array) -> Array:
    return cast(Array, (round_bf16(a) & _UPPER) | (round_bf16(b) >> _SIXTEEN))


@form(
    "cvt.rs{.relu}{.satfinite}.dtype.f32",
    "dtype = f32 f32 b32",
    dtype=("f16x2", "bf16x2"),
)
def _pair_stochastic(q: Qualifiers) -> Operation:
    element = q["dtype"].removesuffix("x2")
    target, relu, satfinite = number_format(element), "relu" in q, "satfinite" in q
    # as many random bits as f32 has mantissa bits more
    bits = 23 - target.mantissa
    mask = np.uint32(2**bits - 1)

    def one(a: Array, random: Array) -> Array:
        fraction = (random & mask) * 2.0**-bits
        values = decode(a, "f32")
        return encode(values, target, "rs", relu=relu, satfinite=satfinite, random=fraction)

    return lambda a, b, random: _concatenated(one(a, random >> _SIXTEEN), one(b, random), 16, _U32)


def _pack(codes_upper: Array, codes_lower: Array, type_: str) -> Array:
    bits = 4 if type_ == "e2m1x2" else 8
    return _concatenated(codes_upper, codes_lower, bits, register_dtype(type_))


@form("cvt.rn.satfinite{.relu}.dtype.f32", "dtype = f32 f32", dtype=_NARROW_PAIRS)
def _to_narrow(q: Qualifiers) -> Operation:
    dtype = q["dtype"]
    write = _encoder(dtype.removesuffix("x2"), q, "rn")
    return lambda a, b: _pack(write(decode(a, "f32")), write(decode(b, "f32")), dtype)


@form(
    "cvt.rn.satfinite{.relu}.dtype.atype",
    "dtype = atype",
    dtype=_NARROW_PAIRS,
    atype=("f16x2", "bf16x2"),
)
def _pair_to_narrow(q: Qualifiers) -> Operation:
    dtype, source = q["dtype"], q["atype"].removesuffix("x2")
    write = _encoder(dtype.removesuffix("x2"), q, "rn")

    def run(a: Array) -> Array:
        codes = write(decode(split(a, _U16), source))
        return _pack(codes[..., 1], codes[..., 0], dtype)

    return run


@form(
    "cvt.rn{.relu}.dtype.atype",
    "dtype = atype",
    dtype=("f16x2", "bf16x2"),
    atype=_NARROW_PAIRS,
)
def _from_narrow(q: Qualifiers) -> Operation:
    source = q["atype"].removesuffix("x2")
    write = _encoder(q["dtype"].removesuffix("x2"), q, "rn")
    table = write(decode(np.arange(256, dtype=_U8), source))
    nibbles = source == "e2m1"
    four = np.uint8(4)

    def run(a: Array) -> Array:
        codes = np.stack([a, a >> four], axis=-1) if nibbles else split(a, _U8)
        return join(table[codes], _U32)

    return run


def _scale(values: Array, rounding: str, satfinite: bool) -> Array:
    """Magnitudes as powers of two, biased by 127: the exponent of f32 values, rounded up or down.

    Zero and all below gives the least power, 2**-127; the sign does not count.
    """
    bits = np.abs(values).astype(_F32).view(_U32)
    exponent, mantissa = bits >> np.uint32(23), bits & np.uint32(0x7FFFFF)
    if rounding == "rp":
        # 2**-127 itself is subnormal in f32
        above = np.where(exponent == 0, mantissa > 0x400000, mantissa > 0)
        exponent = exponent + (above & (exponent < 255))
    if satfinite:
        exponent = np.where(np.isnan(values), 255, np.minimum(exponent, np.uint32(254)))
    return exponent.astype(_U8)


@form("cvt.rnd{.satfinite}.ue8m0x2.f32", "ue8m0x2 = f32 f32", rnd=("rz", "rp"))
def _to_scale(q: Qualifiers) -> Operation:
    rounding, satfinite = q["rnd"], "satfinite" in q

    def one(a: Array) -> Array:
        return _scale(a.view(_F32), rounding, satfinite)

    return cast(
        Operation, np.errstate(all="ignore")(lambda a, b: _concatenated(one(a), one(b), 8, _U16))
    )


@form("cvt.rnd{.satfinite}.ue8m0x2.bf16x2", "ue8m0x2 = bf16x2", rnd=("rz", "rp"))
def _pair_to_scale(q: Qualifiers) -> Operation:
    rounding, satfinite = q["rnd"], "satfinite" in q

    @np.errstate(all="ignore")
    def run(a: Array) -> Array:
        return join(_scale(decode(split(a, _U16), "bf16"), rounding, satfinite), _U16)

    return run


@form("cvt.rn.bf16x2.ue8m0x2", "bf16x2 = ue8m0x2")
def _from_scale(_: Qualifiers) -> Operation:
    codes = np.arange(256, dtype=_U16)
    table = codes << np.uint16(7)
    table[0], table[255] = 0x0040, 0x7FFF  # 2**-127, NaN
    return lambda a: join(table[split(a, _U8)], _U32)


_PACKED_BITS = {"s16": 16, "u16": 16, "u8": 8, "s8": 8, "u4": 4, "s4": 4, "u2": 2, "s2": 2}


def _saturated(dtype: str) -> Operation:
    """s32 clamped to a type's range, in the low bits of a word."""
    bits = _PACKED_BITS[dtype]
    low, high = (0, 2**bits - 1) if dtype[0] == "u" else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    mask = np.uint32(2**bits - 1)
    return lambda a: np.clip(a.view(SIGNED[32]), low, high).astype(_U32) & mask


@form("cvt.pack.sat.dtype.s32", "b32 = s32 s32", dtype=("u16", "s16"))
def _pack_halves(q: Qualifiers) -> Operation:
    clamp = _saturated(q["dtype"])
    return lambda a, b: _concatenated(clamp(a), clamp(b), 16, _U32)


@form(
    "cvt.pack.sat.dtype.s32.b32",
    "b32 = s32 s32 b32",
    dtype=("u8", "s8", "u4", "s4", "u2", "s2"),
)
def _pack_below(q: Qualifiers) -> Operation:
    clamp, bits = _saturated(q["dtype"]), _PACKED_BITS[q["dtype"]]
    above = np.uint32(2 * bits)
    return lambda a, b, c: _concatenated(clamp(a), clamp(b), bits, _U32) | np.left_shift(c, above)

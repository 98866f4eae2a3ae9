"""Counting, finding, reversing and moving bits (PTX ISA, "Integer Arithmetic Instructions")."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from .bits import SIGNED, UNSIGNED, Array, Operation, join, register_dtype, split
from .registry import form
from .syntax import Qualifiers

_BITS = ("b32", "b64")
_TYPES = ("u32", "s32", "u64", "s64")
_U32 = UNSIGNED[32]
_NOT_FOUND = np.uint32(0xFFFFFFFF)

_BYTE = np.arange(256, dtype=np.uint8)
_BYTE_BITS = np.unpackbits(_BYTE[:, None], axis=1)
_BYTE_COUNT = _BYTE_BITS.sum(axis=1, dtype=np.uint32)
_BYTE_REVERSED = np.packbits(_BYTE_BITS[:, ::-1], axis=1)[:, 0]


def bit_length(a: Array) -> Array:
    """The position of the highest one bit plus one, 0 for zero, as uint32."""
    if a.dtype == _U32:
        return np.frexp(a.astype(np.float64))[1].astype(_U32)
    words = split(a, _U32)
    low, high = bit_length(words[..., 0]), bit_length(words[..., 1])
    return np.where(high > 0, high + np.uint32(32), low)


@form("popc.type", "u32 = type", type=_BITS)
def _popc(_: Qualifiers) -> Operation:
    return lambda a: _BYTE_COUNT[split(a, UNSIGNED[8])].sum(axis=-1, dtype=_U32)


@form("clz.type", "u32 = type", type=_BITS)
def _clz(q: Qualifiers) -> Operation:
    width = np.uint32(int(q["type"][1:]))
    return lambda a: np.subtract(width, bit_length(a))


@form("bfind{.shiftamt}.type", "u32 = type", type=_TYPES)
def _bfind(q: Qualifiers) -> Operation:
    width = int(q["type"][1:])
    signed = SIGNED[width] if q["type"][0] == "s" else None

    def run(a: Array) -> Array:
        if signed is not None:
            a = np.where(a.view(signed) < 0, ~a, a)
        position = np.subtract(bit_length(a), np.uint32(1))
        if "shiftamt" not in q:
            return position
        shift = np.subtract(np.uint32(width - 1), position)
        return np.where(position == _NOT_FOUND, position, shift)

    return run


@form("brev.type", "type = type", type=_BITS)
def _brev(q: Qualifiers) -> Operation:
    register = register_dtype(q["type"])
    return lambda a: join(_BYTE_REVERSED[split(a, UNSIGNED[8])[..., ::-1]], register)


def low_bits(count: Array, register: np.dtype[Any]) -> Array:
    """Masks of the lowest `count` bits, all ones from the register's width on."""
    one = register.type(1)
    return cast(Array, np.subtract(np.left_shift(one, count.astype(register)), one))


_FIELD = np.uint32(0xFF)


@form("bfe.type", "type = type u32 u32", type=_TYPES)
def _bfe(q: Qualifiers) -> Operation:
    register = register_dtype(q["type"])
    top = np.uint32(register.itemsize * 8 - 1)
    signed = q["type"][0] == "s"

    def run(a: Array, b: Array, c: Array) -> Array:
        position, length = b & _FIELD, c & _FIELD
        mask = low_bits(length, register)
        field = np.right_shift(a, position.astype(register)) & mask
        if not signed:
            return cast(Array, field)
        last = np.minimum(np.subtract(position + length, np.uint32(1)), top)
        negative = (np.right_shift(a, last.astype(register)) & register.type(1)) != 0
        # bits that lie above the register are copies of the sign, too
        kept = mask & low_bits(top + np.uint32(1) - np.minimum(position, top + 1), register)
        return cast(Array, np.where(negative & (length != 0), field | ~kept, field))

    return run


@form("bfi.type", "type = type type u32 u32", type=_BITS)
def _bfi(q: Qualifiers) -> Operation:
    register = register_dtype(q["type"])

    def run(a: Array, b: Array, c: Array, d: Array) -> Array:
        position = (c & _FIELD).astype(register)
        mask = np.left_shift(low_bits(d & _FIELD, register), position)
        return cast(Array, (np.left_shift(a, position) & mask) | (b & ~mask))

    return run


_ALL = np.uint32(0xFFFFFFFF)
_FIVE = np.uint32(31)
_MODES = ("clamp", "wrap")


@form("bmsk.mode.b32", "b32 = u32 u32", mode=_MODES)
def _bmsk(q: Qualifiers) -> Operation:
    if q["mode"] == "wrap":
        return lambda a, b: np.left_shift(low_bits(b & _FIVE, _U32), a & _FIVE)
    return lambda a, b: np.left_shift(low_bits(b, _U32), a)


@form("szext.mode.type", "type = type u32", mode=_MODES, type=("u32", "s32"))
def _szext(q: Qualifiers) -> Operation:
    clamp, signed = q["mode"] == "clamp", q["type"] == "s32"

    def run(a: Array, b: Array) -> Array:
        count = b if clamp else b & _FIVE
        mask = low_bits(count, _U32)
        if not signed:
            return cast(Array, a & mask)
        sign = np.left_shift(np.uint32(1), np.subtract(count, np.uint32(1)))
        return np.where((a & sign & mask) != 0, a | ~mask, a & mask)

    return run


@form("fns.b32", "b32 = b32 u32 s32")
def _fns(_: Qualifiers) -> Operation:
    positions = np.arange(32, dtype=np.int64)

    def run(mask: Array, base: Array, offset: Array) -> Array:
        mask, base, offset = (np.asarray(x)[..., None] for x in (mask, base, offset))
        is_set = (mask >> positions.astype(_U32)) & np.uint32(1) != 0
        start, n = base.astype(np.int64), offset.view(SIGNED[32]).astype(np.int64)
        upward = is_set & (positions >= start)
        downward = is_set & (positions <= start)
        counted = np.where(
            n > 0,
            np.cumsum(upward, axis=-1) * upward,
            np.cumsum(downward[..., ::-1], axis=-1)[..., ::-1] * downward,
        )
        found = np.where(n == 0, is_set & (positions == start), counted == np.abs(n))
        return np.where(found.any(axis=-1), found.argmax(axis=-1).astype(_U32), _NOT_FOUND)

    return run

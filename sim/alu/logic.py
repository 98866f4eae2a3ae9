"""Moves, bitwise logic, shifts and byte permutation (PTX ISA, "Logic and Shift Instructions")."""

from __future__ import annotations

import functools
from typing import cast

import numpy as np

from .bits import UNSIGNED, Array, Operation, number_dtype, register_dtype
from .lookup3 import lop3
from .registry import Moves, form, moving
from .syntax import Qualifiers

_BITS = ("b16", "b32", "b64")
_LOGIC = ("pred", *_BITS)
_ANY = ("pred", *_BITS, "u16", "u32", "u64", "s16", "s32", "s64", "f32", "f64")


@form("mov.type", "type = type", type=_ANY)
@moving(Moves.EVENLY)
def _mov(_: Qualifiers) -> Operation:
    return lambda a: a


@form("and.type", "type = type type", type=_LOGIC)
def _and(_: Qualifiers) -> Operation:
    return np.bitwise_and


@form("or.type", "type = type type", type=_LOGIC)
def _or(_: Qualifiers) -> Operation:
    return np.bitwise_or


@form("xor.type", "type = type type", type=_LOGIC)
def _xor(_: Qualifiers) -> Operation:
    return np.bitwise_xor


@form("not.type", "type = type", type=_LOGIC)
def _not(_: Qualifiers) -> Operation:
    return np.bitwise_not


@form("cnot.type", "type = type", type=_BITS)
def _cnot(q: Qualifiers) -> Operation:
    register = register_dtype(q["type"])
    return lambda a: np.equal(a, 0).astype(register)


@form("lop3.b32", "b32 = b32 b32 b32 b32")
def _lop3(_: Qualifiers) -> Operation:
    return lop3


@form("lop3.boolop.b32", "b32 pred = b32 b32 b32 b32 pred", boolop=("or", "and"))
def _lop3_predicate(q: Qualifiers) -> Operation:
    combine = np.logical_or if q["boolop"] == "or" else np.logical_and

    def run(a: Array, b: Array, c: Array, table: Array, p: Array) -> tuple[Array, Array]:
        d = lop3(a, b, c, table)
        return d, combine(d != 0, p)

    return run


@form("shl.type", "type = type u32", type=_BITS)
@moving(Moves.EVENLY)
def _shl(q: Qualifiers) -> Operation:
    # numpy's shifts, unlike C's, clamp the amount as PTX does
    return _short(np.left_shift) if q["type"] == "b16" else np.left_shift


@form("shr.type", "type = type u32", type=(*_BITS, "u16", "u32", "u64", "s16", "s32", "s64"))
def _shr(q: Qualifiers) -> Operation:
    register, number = register_dtype(q["type"]), number_dtype(q["type"])
    if q["type"][0] != "s":
        return _short(np.right_shift) if register == UNSIGNED[16] else np.right_shift
    top = np.uint32(register.itemsize * 8 - 1)
    return lambda a, b: np.right_shift(a.view(number), np.minimum(b, top).astype(number)).view(
        register
    )


def _short(shift: np.ufunc) -> Operation:
    sixteen = np.uint32(16)
    return lambda a, b: shift(a, np.minimum(b, sixteen).astype(UNSIGNED[16]))


@form("shf.side.mode.b32", "b32 = b32 b32 u32", side=("l", "r"), mode=("clamp", "wrap"))
def _shf(q: Qualifiers) -> Operation:
    wrap = q["mode"] == "wrap"
    word = np.uint32(32)

    def amount(c: Array) -> Array:
        return cast(Array, c & np.uint32(31) if wrap else np.minimum(c, word))

    def left(a: Array, b: Array, c: Array) -> Array:
        n = amount(c)
        return np.bitwise_or(np.left_shift(b, n), np.right_shift(a, word - n))

    def right(a: Array, b: Array, c: Array) -> Array:
        n = amount(c)
        return np.bitwise_or(np.left_shift(b, word - n), np.right_shift(a, n))

    return left if q["side"] == "l" else right


_U64 = UNSIGNED[64]
_WORD = np.uint64(32)


@form("prmt.b32", "b32 = b32 b32 b32")
def _prmt(_: Qualifiers) -> Operation:
    def run(a: Array, b: Array, c: Array) -> Array:
        if np.size(c) == 1:
            return cast(Array, _fixed_permutation(int(np.ravel(c)[0]) & 0xFFFF)(a, b))
        return _permuted(a, b, [(c >> np.uint32(4 * i)) & np.uint32(15) for i in range(4)])

    return run


_MODES = {
    # PTX ISA, prmt: the source bytes of each mode, lowest first, by the low bits of c
    "f4e": ((0, 1, 2, 3), (1, 2, 3, 4), (2, 3, 4, 5), (3, 4, 5, 6)),
    "b4e": ((0, 7, 6, 5), (1, 0, 7, 6), (2, 1, 0, 7), (3, 2, 1, 0)),
    "rc8": ((0,) * 4, (1,) * 4, (2,) * 4, (3,) * 4),
    "ecl": ((0, 1, 2, 3), (1, 1, 2, 3), (2, 2, 2, 3), (3, 3, 3, 3)),
    "ecr": ((0, 0, 0, 0), (0, 1, 1, 1), (0, 1, 2, 2), (0, 1, 2, 3)),
    "rc16": ((0, 1, 0, 1), (2, 3, 2, 3), (0, 1, 0, 1), (2, 3, 2, 3)),
}


@form("prmt.b32.mode", "b32 = b32 b32 b32", mode=tuple(_MODES))
def _prmt_mode(q: Qualifiers) -> Operation:
    sources = np.array(_MODES[q["mode"]], dtype=np.uint32)

    def run(a: Array, b: Array, c: Array) -> Array:
        chosen = sources[c & np.uint32(3)]
        return _permuted(a, b, [chosen[..., i] for i in range(4)])

    return run


def _permuted(a: Array, b: Array, selectors: list[Array]) -> Array:
    """The word whose byte i is the source byte that selectors[i] names; bit 3 spreads its sign."""
    source = a.astype(_U64) | (b.astype(_U64) << _WORD)
    result = np.zeros((), dtype=np.uint32)
    for i, selector in enumerate(selectors):
        shift = ((selector & np.uint32(7)) << np.uint32(3)).astype(_U64)
        byte = ((source >> shift) & np.uint64(0xFF)).astype(np.uint32)
        sign = (byte >> np.uint32(7)) * np.uint32(0xFF)
        byte = np.where(selector & np.uint32(8) != 0, sign, byte)
        result = result | (byte << np.uint32(8 * i))
    return result


@functools.cache
def _fixed_permutation(selector: int) -> Operation:
    """A permutation with a constant selector: a shift and a mask per run of adjacent bytes."""
    selectors = [(selector >> (4 * i)) & 15 for i in range(4)]
    if any(s & 8 for s in selectors):
        fixed = [np.array(s, dtype=np.uint32) for s in selectors]
        return lambda a, b: _permuted(a, b, fixed)
    # of one source word, the masks of destination bytes by how far they move up
    moves: dict[tuple[int, int], int] = {}
    for i, source in enumerate(selectors):
        key = (source // 4, i - source % 4)
        moves[key] = moves.get(key, 0) | (0xFF << (8 * i))
    steps = [
        (word, np.left_shift if up > 0 else np.right_shift, np.uint32(8 * abs(up)), np.uint32(mask))
        for (word, up), mask in moves.items()
    ]

    def run(*words: Array) -> Array:
        result = None
        for word, shift, amount, mask in steps:
            part = shift(words[word], amount) if amount else words[word]
            part = part & mask
            result = part if result is None else result | part
        return cast(Array, result)

    return run

"""Dot products of bytes and halves (PTX ISA, dp4a and dp2a)."""

from __future__ import annotations

from typing import cast

import numpy as np

from .bits import SIGNED, UNSIGNED, Array, Operation
from .registry import form
from .syntax import Qualifiers


def _bytes(type_: str, first: int, count: int) -> Operation:
    """`count` bytes of a register from byte `first` on, as 32-bit numbers along the last axis."""
    number = SIGNED[8] if type_ == "s32" else UNSIGNED[8]
    return lambda a: (
        (a[..., None] >> np.arange(8 * first, 8 * (first + count), 8, dtype=np.uint32))
        .astype(UNSIGNED[8])
        .view(number)
        .astype(SIGNED[32])
    )


def _halves(type_: str) -> Operation:
    number = SIGNED[16] if type_ == "s32" else UNSIGNED[16]
    return lambda a: (
        (a[..., None] >> np.arange(0, 32, 16, dtype=np.uint32))
        .astype(UNSIGNED[16])
        .view(number)
        .astype(SIGNED[32])
    )


def _dot(left: Operation, right: Operation) -> Operation:
    def run(a: Array, b: Array, c: Array) -> Array:
        products = left(np.asarray(a)) * right(np.asarray(b))
        total = products.sum(axis=-1, dtype=SIGNED[32]).view(UNSIGNED[32])
        return cast(Array, np.add(total, c))

    return run


_WORDS = ("u32", "s32")


@form("dp4a.atype.btype", "u32 = atype btype u32", atype=_WORDS, btype=_WORDS)
def _dp4a(q: Qualifiers) -> Operation:
    return _dot(_bytes(q["atype"], 0, 4), _bytes(q["btype"], 0, 4))


@form(
    "dp2a.half.atype.btype", "u32 = atype btype u32", half=("lo", "hi"), atype=_WORDS, btype=_WORDS
)
def _dp2a(q: Qualifiers) -> Operation:
    return _dot(_halves(q["atype"]), _bytes(q["btype"], 2 if q["half"] == "hi" else 0, 2))

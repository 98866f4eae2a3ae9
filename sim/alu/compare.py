"""`setp` and `set` (PTX ISA, "Comparison and Selection Instructions")."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import numpy as np

from .bits import (
    BOOLEAN,
    FLOAT,
    ORDERED,
    UNSIGNED,
    Array,
    Operation,
    join,
    number_dtype,
    register_dtype,
    split,
    width,
)
from .formats import widen_bf16
from .registry import Moves, form, moving
from .special import flushed, flushed_f16, quiet
from .syntax import Builder, Qualifiers

_UNSIGNED = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}
# an unordered comparison is the complement of the ordered one of the opposite sense
_UNORDERED = {"equ": "ne", "neu": "eq", "ltu": "ge", "leu": "gt", "gtu": "le", "geu": "lt"}

_BITS = ("b16", "b32", "b64")
_U = ("u16", "u32", "u64")
_S = ("s16", "s32", "s64")
_SINGLE = ("f32",)
_DOUBLE = ("f64",)
_F16 = ("f16",)
_BF16 = ("bf16",)
_EQUALITY = ("eq", "ne")
_ORDER = tuple(ORDERED)
_UNSIGNED_ORDER = (*_ORDER, *_UNSIGNED)
_FLOAT_ORDER = (*_ORDER, *_UNORDERED, "num", "nan")
_BOOLOPS = tuple(BOOLEAN)


def _numbers(type_: str) -> Operation:
    """What makes bits of a float type comparable, subnormals flushed, or bf16."""
    if type_ == "bf16":
        return widen_bf16
    dtype = FLOAT[width(type_)]
    flush = flushed if type_ == "f32" else flushed_f16
    return lambda a: flush(a).view(dtype)


def comparison(cmp: str, type_: str, *, ftz: bool = False) -> Operation:
    """The comparison of two operands of a type, as bool."""
    if type_[0] in "us" or (type_[0] == "b" and type_ != "bf16"):
        ufunc = ORDERED[_UNSIGNED.get(cmp, cmp)]
        if type_[0] != "s" or cmp in _EQUALITY:
            return ufunc
        signed = number_dtype(type_)
        return lambda a, b: ufunc(a.view(signed), b.view(signed))

    compare = _float_comparison(cmp)
    if not ftz and type_ != "bf16":
        dtype = FLOAT[width(type_)]
        return quiet(lambda a, b: compare(a.view(dtype), b.view(dtype)))
    numbers = _numbers(type_)
    return quiet(lambda a, b: compare(numbers(a), numbers(b)))


def _float_comparison(cmp: str) -> Operation:
    if cmp in ORDERED:
        return ORDERED[cmp] if cmp != "ne" else _ordered_unequal
    if cmp == "num":
        return lambda a, b: ~(np.isnan(a) | np.isnan(b))
    if cmp == "nan":
        return lambda a, b: np.isnan(a) | np.isnan(b)
    opposite = _float_comparison(_UNORDERED[cmp])
    return lambda a, b: np.logical_not(opposite(a, b))


def _ordered_unequal(a: Array, b: Array) -> Array:
    return cast(Array, np.less(a, b) | np.greater(a, b))


def _compared(q: Qualifiers) -> Operation:
    return comparison(q["cmp"], q["type"].removesuffix("x2"), ftz="ftz" in q)


_KINDS: tuple[tuple[tuple[str, ...], tuple[str, ...], str], ...] = (
    # comparisons, source types, qualifier
    (_EQUALITY, _BITS, ""),
    (_UNSIGNED_ORDER, _U, ""),
    (_ORDER, _S, ""),
    (_FLOAT_ORDER, _SINGLE, "{.ftz}"),
    (_FLOAT_ORDER, _DOUBLE, ""),
)
_HALF_KINDS = ((_FLOAT_ORDER, _F16, "{.ftz}"), (_FLOAT_ORDER, _BF16, ""))


def _forms(syntax: str, types: str) -> Callable[[Builder], Builder]:
    """Declares a comparing instruction for each kind of source type and its comparisons."""

    def declare(build: Builder) -> Builder:
        # the halves have no second destination
        halves = () if types.startswith("pred pred") else _HALF_KINDS
        for cmp, group, ftz in (*_KINDS, *halves):
            spelled = syntax.replace("{.ftz}", ftz)
            form(spelled, types, cmp=cmp, boolop=_BOOLOPS, type=group)(build)
        return build

    return declare


@_forms("setp.cmp{.ftz}.type", "pred = type type")
@moving(Moves.BY_COMPARISON)
def _setp(q: Qualifiers) -> Operation:
    return _compared(q)


@_forms("setp.cmp{.ftz}.type", "pred pred = type type")
@moving(Moves.BY_COMPARISON)
def _setp_both(q: Qualifiers) -> Operation:
    compare = _compared(q)

    def run(a: Array, b: Array) -> tuple[Array, Array]:
        p = compare(a, b)
        return p, np.logical_not(p)

    return run


@_forms("setp.cmp.boolop{.ftz}.type", "pred = type type pred")
@moving(Moves.BY_COMPARISON)
def _setp_combined(q: Qualifiers) -> Operation:
    compare, combine = _compared(q), BOOLEAN[q["boolop"]]
    return lambda a, b, c: combine(compare(a, b), c)


@_forms("setp.cmp.boolop{.ftz}.type", "pred pred = type type pred")
@moving(Moves.BY_COMPARISON)
def _setp_combined_both(q: Qualifiers) -> Operation:
    compare, combine = _compared(q), BOOLEAN[q["boolop"]]

    def run(a: Array, b: Array, c: Array) -> tuple[Array, Array]:
        p = compare(a, b)
        return combine(p, c), combine(np.logical_not(p), c)

    return run


@form("setp.cmp{.ftz}.type", "pred pred = type type", cmp=_FLOAT_ORDER, type=("f16x2",))
@form("setp.cmp.type", "pred pred = type type", cmp=_FLOAT_ORDER, type=("bf16x2",))
def _setp_pair(q: Qualifiers) -> Operation:
    compare = _compared(q)

    def run(a: Array, b: Array) -> tuple[Array, Array]:
        p = compare(split(a, UNSIGNED[16]), split(b, UNSIGNED[16]))
        return p[..., 0], p[..., 1]

    return run


@form(
    "setp.cmp.boolop{.ftz}.type",
    "pred pred = type type pred",
    cmp=_FLOAT_ORDER,
    boolop=_BOOLOPS,
    type=("f16x2",),
)
@form(
    "setp.cmp.boolop.type",
    "pred pred = type type pred",
    cmp=_FLOAT_ORDER,
    boolop=_BOOLOPS,
    type=("bf16x2",),
)
def _setp_pair_combined(q: Qualifiers) -> Operation:
    compare, combine = _setp_pair(q), BOOLEAN[q["boolop"]]

    def run(a: Array, b: Array, c: Array) -> tuple[Array, Array]:
        low, high = compare(a, b)
        return combine(low, c), combine(high, c)

    return run


def _true(dtype: str) -> np.generic:
    """What `set` writes for true: one in float types, all ones in integer types."""
    ones = {"f32": 0x3F800000, "f16": 0x3C00, "bf16": 0x3F80}
    register = register_dtype(dtype)
    true: np.generic = register.type(ones.get(dtype, 2 ** (register.itemsize * 8) - 1))
    return true


def _written(q: Qualifiers) -> Operation:
    true = _true(q["dtype"])
    false = true.dtype.type(0)
    return lambda t: np.where(t, true, false)


_SET_TYPES = ("u32", "s32", "f32")
_HALF_SET_TYPES = ("u16", "s16", "u32", "s32")


def _set_forms(boolop: str, operands: str) -> Callable[[Builder], Builder]:
    def declare(build: Builder) -> Builder:
        def add(
            ftz: str, cmp: tuple[str, ...], dtype: tuple[str, ...], group: tuple[str, ...]
        ) -> None:
            syntax = f"set.cmp{boolop}{ftz}.dtype.type"
            form(syntax, f"dtype = {operands}", cmp=cmp, boolop=_BOOLOPS, dtype=dtype, type=group)(
                build
            )

        for cmp, group, ftz in _KINDS:
            add(ftz, cmp, (*_SET_TYPES, "f16"), group)
            add("", cmp, _BF16, group)
        add("{.ftz}", _FLOAT_ORDER, ("f16", *_HALF_SET_TYPES), _F16)
        add("", _FLOAT_ORDER, ("bf16", *_HALF_SET_TYPES), _BF16)
        return build

    return declare


@_set_forms("", "type type")
def _set(q: Qualifiers) -> Operation:
    compare, write = _compared(q), _written(q)
    return lambda a, b: write(compare(a, b))


@_set_forms(".boolop", "type type pred")
def _set_combined(q: Qualifiers) -> Operation:
    compare, combine, write = _compared(q), BOOLEAN[q["boolop"]], _written(q)
    return lambda a, b, c: write(combine(compare(a, b), c))


@form(
    "set.cmp{.ftz}.dtype.type",
    "dtype = type type",
    cmp=_FLOAT_ORDER,
    dtype=("f16x2",),
    type=("f16x2",),
)
@form(
    "set.cmp.dtype.type", "dtype = type type", cmp=_FLOAT_ORDER, dtype=("bf16x2",), type=("bf16x2",)
)
def _set_pair(q: Qualifiers) -> Operation:
    element = q["type"].removesuffix("x2")
    compare, write = _compared(q), _written({"dtype": element})
    return lambda a, b: join(
        write(compare(split(a, UNSIGNED[16]), split(b, UNSIGNED[16]))), UNSIGNED[32]
    )


@form(
    "set.cmp.boolop{.ftz}.dtype.type",
    "dtype = type type pred",
    cmp=_FLOAT_ORDER,
    boolop=_BOOLOPS,
    dtype=("f16x2",),
    type=("f16x2",),
)
@form(
    "set.cmp.boolop.dtype.type",
    "dtype = type type pred",
    cmp=_FLOAT_ORDER,
    boolop=_BOOLOPS,
    dtype=("bf16x2",),
    type=("bf16x2",),
)
def _set_pair_combined(q: Qualifiers) -> Operation:
    element = q["type"].removesuffix("x2")
    compare, write, combine = _compared(q), _written({"dtype": element}), BOOLEAN[q["boolop"]]
    return lambda a, b, c: join(
        write(combine(compare(split(a, UNSIGNED[16]), split(b, UNSIGNED[16])), c[..., None])),
        UNSIGNED[32],
    )

"""Instructions on floats that are integers modulo 2^w: `tilec.isa.algebra` on registers.

A register holds the bits of the numbers that stand for its elements. Roundings, `.ftz` and
`.approx` say nothing here; `.sat` and `.relu` keep a number in bounds.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import cast

import numpy as np
from tilec.isa import algebra
from tilec.isa.types import element_type, is_type, register_bits

from . import registry
from .bits import BOOLEAN, ORDERED, UNSIGNED, Array, Operation, register_dtype
from .registry import Unsupported

_FUNCTIONS: Mapping[str, str] = MappingProxyType(
    {
        **{name: name for name in ("add", "sub", "mul", "fma", "div", "neg", "abs", "min", "max")},
        **{name: name for name in ("sqrt", "rsqrt", "sin", "cos", "tanh")},
        "mad": "fma",
        "ex2": "exp2",
        "lg2": "log2",
    }
)
"""What the algebra calls opcodes."""
MOVES: Mapping[str, int] = MappingProxyType({"mov": 2, "selp": 3})
"""Opcodes that only hand bits on, and how many of their operands those are."""


def is_float(type_: str) -> bool:
    """Whether elements of a PTX type, such as `f16x2`, are floats."""
    if not is_type(type_) or type_ == "pred":
        return False
    return type_ != "b128" and element_type(type_.partition("x")[0]).is_float


def lanes(type_: str) -> int:
    """Elements of a register of a PTX type."""
    return int(type_.partition("x")[2] or 1)


def numbers(bits: Array, type_: str) -> Array:
    """The signed numbers in registers, their lanes along a new last axis, lowest first."""
    count = lanes(type_)
    width = register_bits(type_) // count
    words = np.asarray(bits).astype(np.int64)[..., None]
    if type_[0] in "ub" and not is_float(type_):
        return words if width == 64 else words & ((1 << width) - 1)
    return algebra.modulo(words >> (width * np.arange(count)), width)


def registers(values: Array, type_: str) -> Array:
    """Registers of numbers, of which each lane keeps its own bits: the inverse of `numbers`."""
    count = lanes(type_)
    width = register_bits(type_) // count
    kept = values if width == 64 else values & ((1 << width) - 1)
    words = np.bitwise_or.reduce(kept << (width * np.arange(count)), axis=-1)
    dtype = register_dtype(type_)
    return cast(Array, words.view(UNSIGNED[64]).astype(dtype))


@functools.cache
def resolve(
    opcode: str,
    modifiers: tuple[str, ...],
    results: int | None = None,
    operands: int | None = None,
) -> Operation:
    """What `alu.resolve` gives, of floats as the algebra has them.

    Raises:
        Unsupported: for a spelling that no form has, and where floats are asked for what the
            algebra has not, such as their class.
    """
    plain = registry.resolve(opcode, modifiers, results, operands)
    types = registry.signature(opcode, modifiers, results, operands)
    floats = [t for t in (*types.results, *types.operands) if is_float(t)]
    if not floats or opcode in MOVES:
        return plain
    if opcode == "cvt":
        return _convert(modifiers, types.results[0], types.operands)
    if opcode == "setp":
        return _compare(modifiers, types.operands, len(types.results))
    if opcode == "copysign":
        return _apply("copysign", types.results[0], types.operands[::-1], _reversed)
    if opcode == "rcp":
        return _apply("div", types.results[0], types.operands, lambda a: (np.ones_like(a), a))
    if opcode not in _FUNCTIONS:
        spelled = ".".join((opcode, *modifiers))
        raise Unsupported(f"'{spelled}' has no meaning in algebraic numerics")
    return _limited(modifiers, _FUNCTIONS[opcode], types.results[0], types.operands)


Given = Callable[..., Sequence[Array]]


def _same(*values: Array) -> Sequence[Array]:
    return values


def _reversed(*values: Array) -> Sequence[Array]:
    return values[::-1]


def _apply(name: str, result: str, operands: Sequence[str], given: Given = _same) -> Operation:
    """A function of the algebra on registers, of the operands that `given` makes of the text's."""
    width = register_bits(result) // lanes(result)
    types = operands[::-1] if given is _reversed else operands

    def run(*values: Array) -> Array:
        held = given(*(numbers(v, t) for v, t in zip(values, types, strict=True)))
        return registers(algebra.apply(name, held, width), result)

    return run


def _limited(
    modifiers: tuple[str, ...], name: str, result: str, operands: Sequence[str]
) -> Operation:
    """A function, of magnitudes if it says `.abs`, then within what `.sat` and `.relu` say."""
    width = register_bits(result) // lanes(result)
    magnitudes = name in ("min", "max") and "abs" in modifiers
    if "xorsign" in modifiers:
        raise Unsupported(f"'{name}.xorsign' has no meaning in algebraic numerics")
    bound = _bound(modifiers)

    def run(*values: Array) -> Array:
        held = [numbers(v, t) for v, t in zip(values, operands, strict=True)]
        held = [np.abs(v) for v in held] if magnitudes else held
        found = held[0] if name in ("min", "max") else algebra.apply(name, held, width)
        for other in held[1:] if name in ("min", "max") else ():
            found = algebra.apply(name, (found, other), width)
        return registers(bound(found), result)

    return run


def _bound(modifiers: tuple[str, ...]) -> Operation:
    if "sat" in modifiers:
        return lambda values: np.clip(values, 0, 1)
    if "relu" in modifiers:
        return lambda values: np.maximum(values, 0)
    return lambda values: values


def _convert(modifiers: tuple[str, ...], result: str, operands: Sequence[str]) -> Operation:
    """Of several operands the first lies highest."""
    if "rs" in modifiers or "scaled" in modifiers or lanes(result) % len(operands):
        raise Unsupported(f"'cvt.{'.'.join(modifiers)}' has no meaning in algebraic numerics")
    bound, source = _bound(modifiers), operands[0]
    width = register_bits(result)
    signed = result[0] == "s"

    def run(*values: Array) -> Array:
        parts = np.broadcast_arrays(*(numbers(v, source) for v in values[::-1]))
        held = np.concatenate(parts, axis=-1)
        if not is_float(result):
            held = algebra.to_integer(held, width, signed=signed)
        return registers(bound(held), result)

    return run


def _compare(modifiers: tuple[str, ...], operands: Sequence[str], results: int) -> Operation:
    """As signed numbers; none is NaN."""
    word = next(m for m in modifiers if m in ("num", "nan") or m.removesuffix("u") in ORDERED)
    boolean = next((BOOLEAN[m] for m in modifiers if m in BOOLEAN), None)
    type_ = operands[0]

    def run(*values: Array) -> Array | tuple[Array, Array]:
        a, b = (numbers(v, type_) for v in values[:2])
        if word in ("num", "nan"):
            found = np.broadcast_to(
                np.asarray(word == "num"), np.broadcast_shapes(a.shape, b.shape)
            )
        else:
            found = ORDERED[word.removesuffix("u")](a, b)
        every = [found[..., at] for at in range(lanes(type_))]
        if results == 2 and len(every) == 1:
            every.append(~every[0])
        if boolean is not None:
            every = [boolean(one, values[2]) for one in every]
        return every[0] if results == 1 else (every[0], every[1])

    return run

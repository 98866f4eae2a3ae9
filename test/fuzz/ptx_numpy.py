"""Straight lines of PTX as numpy computes them, for 32 lanes: what the simulator must give.

Each function is written from the instruction's description in the PTX ISA, section 9.7, with
numpy's own arithmetic, which is IEEE's. An array holds what a register has in each lane.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

Lanes = Any  # a numpy array of 32 elements
TYPES: dict[str, Any] = {
    "b32": np.uint32, "u32": np.uint32, "s32": np.int32,
    "b64": np.uint64, "u64": np.uint64, "s64": np.int64,
    "f32": np.float32, "f64": np.float64,
}  # fmt: skip
HELD = {"r": "u32", "l": "u64", "f": "f32", "d": "f64"}
"""The type that an array has for a register, by the first letter of the register's name."""
LINE = re.compile(r"(?:@(!?)(%p\d+) )?([\w.]+) (%\w+), (.+);")


def execute(line: str, held: dict[str, Lanes]) -> None:
    """Do what an instruction says.

    Args:
        line: the instruction.
        held: registers by name, which change.

    Raises:
        KeyError: if a register holds nothing, or the instruction is none of these.
    """
    found = LINE.fullmatch(line)
    if not found:
        raise KeyError(line)
    negated, guard, words, target, sources = found.groups()
    name, *rest = words.split(".")
    operands = [one.strip() for one in sources.split(",")]
    with np.errstate(all="ignore"):
        made = _OPS[name](rest, [_operand(one, held, _type(rest)) for one in operands])
    made = made if made.dtype == bool else made.view(TYPES[HELD[target[1]]])
    if guard:
        made = np.where(held[guard] ^ bool(negated), made, held[target])
    held[target] = made


def _type(words: list[str]) -> str:
    """The type of what an instruction reads: the last that it names."""
    return words[-1] if words[-1] in TYPES else "b32"


def _operand(text: str, held: dict[str, Lanes], type_: str) -> Lanes:
    if text.startswith("%"):
        return held[text]
    size = np.dtype(TYPES[type_]).itemsize
    return np.full(32, int(text, 0) & (1 << 8 * size) - 1, f"u{size}")


def _typed(function: Callable[..., Lanes]) -> Callable[[list[str], list[Lanes]], Lanes]:
    """What computes with elements of the instruction's type."""
    return lambda words, of: function(*(_as(one, words[-1]) for one in of))


def _as(value: Lanes, type_: str) -> Lanes:
    """A register's bits as a type of its width."""
    if value.dtype.itemsize != np.dtype(TYPES[type_]).itemsize:
        return value  # a shift's amount
    return value.view(TYPES[type_])


def _mul(words: list[str], of: list[Lanes]) -> Lanes:
    a, b = (_as(one, words[-1]) for one in of[:2])
    if words[0] not in ("hi", "wide"):
        return a * b
    exact = [int(x) * int(y) for x, y in zip(a, b, strict=True)]
    bits = 8 * a.dtype.itemsize
    if words[0] == "wide":
        return np.array([one & (1 << 2 * bits) - 1 for one in exact], np.uint64)
    return np.array([one >> bits & (1 << bits) - 1 for one in exact], f"u{bits // 8}")


def _mad(words: list[str], of: list[Lanes]) -> Lanes:
    product = _mul(words, of)
    return product.view(f"u{product.itemsize}") + of[2].view(f"u{product.itemsize}")


def _shift(words: list[str], of: list[Lanes], *, left: bool) -> Lanes:
    """Amounts are clamped to the width: what is shifted out is lost, the sign is copied."""
    value, bits = _as(of[0], words[-1]), 8 * of[0].itemsize
    mask = (1 << bits) - 1
    moved = (
        (int(v) << min(int(n), bits) if left else int(v) >> min(int(n), bits)) & mask
        for v, n in zip(value, of[1].astype(np.uint32), strict=True)
    )
    return np.array(list(moved), f"u{bits // 8}")


def _extreme(words: list[str], of: list[Lanes], *, most: bool) -> Lanes:
    """Of floats, a NaN loses to a number, and -0 is less than +0."""
    a, b = (_as(one, words[-1]) for one in of)
    if words[-1][0] != "f":
        return np.maximum(a, b) if most else np.minimum(a, b)
    made = np.fmax(a, b) if most else np.fmin(a, b)
    zeros = (a == 0) & (b == 0)
    negative = (np.signbit(a) & np.signbit(b)) if most else (np.signbit(a) | np.signbit(b))
    return np.where(zeros, np.where(negative, -0.0, 0.0).astype(a.dtype), made)


def _compared(words: list[str], of: list[Lanes]) -> Lanes:
    """Predicates: an order of which a NaN is not a part is false, with `u` in its name true."""
    a, b = (_as(one, words[-1]) for one in of)
    relation = words[0]
    nan = np.isnan(a) | np.isnan(b) if words[-1][0] == "f" else np.zeros(32, bool)
    if relation in ("nan", "num"):
        return nan if relation == "nan" else ~nan
    plain = relation[:2]
    unordered = relation.endswith("u")
    made = {"eq": a == b, "ne": a != b, "lt": a < b, "le": a <= b, "gt": a > b, "ge": a >= b}[plain]
    return np.where(nan, unordered, made)


def _count(function: Callable[[str], int]) -> Callable[[list[str], list[Lanes]], Lanes]:
    """A number made of a register's bits, first the highest."""
    return lambda words, of: np.array(
        [function(f"{int(one):0{8 * one.itemsize}b}") for one in of[0]], np.uint32
    )


def _reversed(words: list[str], of: list[Lanes]) -> Lanes:
    bits = 8 * of[0].itemsize
    return np.array([int(f"{int(one):0{bits}b}"[::-1], 2) for one in of[0]], f"u{bits // 8}")


def _lop3(words: list[str], of: list[Lanes]) -> Lanes:
    """The table's bit for the three bits, of which `a` is the highest."""
    a, b, c, table = of
    made = np.zeros(32, np.uint32)
    for bit in range(8):
        if int(table[0]) >> bit & 1:
            terms = (one if bit >> at & 1 else ~one for one, at in ((a, 2), (b, 1), (c, 0)))
            x, y, z = terms
            made |= x & y & z
    return made


def _prmt(words: list[str], of: list[Lanes]) -> Lanes:
    """Each byte is one of eight, or the sign of it eight times."""
    made = np.zeros(32, np.uint32)
    both = of[0].astype(np.uint64) | of[1].astype(np.uint64) << np.uint64(32)
    for at in range(4):
        choice = of[2] >> np.uint32(4 * at) & np.uint32(15)
        byte = both >> (choice & np.uint32(7)).astype(np.uint64) * np.uint64(8) & np.uint64(255)
        sign = np.where(byte & np.uint64(128), 255, 0).astype(np.uint64)
        byte = np.where(choice & np.uint32(8), sign, byte)
        made |= byte.astype(np.uint32) << np.uint32(8 * at)
    return made


def _bfe(words: list[str], of: list[Lanes]) -> Lanes:
    """A field of bits, filled with its own highest bit if signed."""
    value, made = _as(of[0], words[-1]), []
    for one, start, length in zip(value, *(part & np.uint32(255) for part in of[1:]), strict=True):
        number, at, many = int(one), int(start), int(length)
        if words[-1] == "u32":
            made.append(number >> at & (1 << many) - 1 if many else 0)
            continue
        bits = [(number >> min(at + k, 31)) & 1 for k in range(min(many, 32))]
        last = (number >> min(at + many - 1, 31)) & 1 if many else 0
        made.append(sum((bits[k] if k < len(bits) else last) << k for k in range(32)))
    return np.array([one & 0xFFFFFFFF for one in made], np.uint32)


def _convert(words: list[str], of: list[Lanes]) -> Lanes:
    """To nearest even from integers to floats; to integers toward zero, and at most as far.

    A NaN becomes 0, or where one of the types has 64 bits the integer's highest bit.
    """
    to, source = words[-2], words[-1]
    value = _as(of[0], source)
    if source[0] != "f" and to[0] != "f":
        return value.astype(TYPES[to])
    if to[0] == "f":
        return value.astype(TYPES[to])
    limits = np.iinfo(TYPES[to])
    wide = 8 in (value.itemsize, np.dtype(TYPES[to]).itemsize)
    nan = int(limits.min) if wide else 0
    exact = (nan if np.isnan(one) else _whole(one, limits) for one in value)
    return np.array(list(exact), TYPES[to])


def _whole(value: Lanes, limits: Any) -> int:
    if np.isinf(value):
        return int(limits.max if value > 0 else limits.min)
    return min(max(int(value), int(limits.min)), int(limits.max))


def _selected(words: list[str], of: list[Lanes]) -> Lanes:
    return np.where(of[2], of[0], of[1])


_OPS: dict[str, Callable[[list[str], list[Lanes]], Lanes]] = {
    "add": _typed(np.add), "sub": _typed(np.subtract), "mul": _mul, "mad": _mad,
    "and": _typed(np.bitwise_and), "or": _typed(np.bitwise_or), "xor": _typed(np.bitwise_xor),
    "not": _typed(np.invert), "neg": _typed(np.negative), "abs": _typed(np.abs),
    "div": _typed(np.divide), "rcp": _typed(lambda a: np.divide(a.dtype.type(1), a)),
    "sqrt": _typed(np.sqrt),
    "shl": lambda words, of: _shift(words, of, left=True),
    "shr": lambda words, of: _shift(words, of, left=False),
    "min": lambda words, of: _extreme(words, of, most=False),
    "max": lambda words, of: _extreme(words, of, most=True),
    "setp": _compared, "selp": _selected, "cvt": _convert, "lop3": _lop3, "prmt": _prmt,
    "bfe": _bfe, "mov": _typed(lambda a: a),
    "popc": _count(lambda bits: bits.count("1")),
    "clz": _count(lambda bits: len(bits) - len(bits.lstrip("0"))),
    "brev": _reversed,
}  # fmt: skip

"""Random memory that is the same on every machine.

Each pool is a run of elements as they lie in memory, made once from a seed by integer arithmetic
and IEEE operations alone; an operand is a piece of a pool, wherever its own seed says. Pools have a
prime number of elements, so that pieces of two operands do not keep step.

- `bits`: bytes, uniformly random: NaNs, infinities, subnormals and both zeros among them.
- `normal:TYPE`: sums of twelve uniform numbers less six, which have the normal distribution's
  mean and deviation, rounded to the type.
- `edges:TYPE`: three in ten zero, the rest so small that products of two are at the edge of what
  accumulators hold.
- `codes:CHUNK`: metadata of sparse operands, two legal codes a byte.

A type is as `tilec.isa` names it, with `/8` behind where each element has a byte of its own.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from functools import cache

import numpy as np
from tilec.isa import ElementType, element_type
from tilec.runtime import from_bits, pack

ELEMENTS = 1_000_003
SEED = 20_261_121

_EDGES = {"bf16": 54, "tf32": 54}
"""Lowest exponent fields of the edges; of the other types it is the subnormals'."""

_CODES = {"2": (0b0100, 0b1110), "4": (4, 8, 9, 12, 13, 14), "8": (4, 8, 9, 12, 13, 14)}


@cache
def pool(name: str) -> np.ndarray:
    """The bytes of a pool; they cannot be written to."""
    made = _pool(name)
    made.flags.writeable = False
    return made


def _pool(name: str) -> np.ndarray:
    kind, _, of = name.partition(":")
    stream = np.random.PCG64(SEED + zlib.crc32(name.encode()))
    if kind == "bits":
        return stream.random_raw(ELEMENTS).view(np.uint8)
    if kind == "codes":
        legal = np.array(_CODES[of], np.uint8)
        codes = legal[_below(stream, 2 * ELEMENTS, len(legal))]
        return codes[::2] | codes[1::2] << 4
    type_name, _, byte = of.partition("/")
    type_ = element_type(type_name)
    numbers = {"normal": _normal, "edges": _edges}[kind](stream, type_)
    count = len(numbers) // 8 * 8 if type_.bits < 8 and not byte else len(numbers)
    return pack(numbers[:count], type_, "f8f6f4" if byte else "packed")


def piece(name: str, seed: int, count: int) -> np.ndarray:
    """So many bytes of a pool, round and round, from an element that the seed picks."""
    whole = pool(name)
    first = np.random.PCG64(seed).random_raw() % ELEMENTS * max(len(whole) // ELEMENTS, 1)
    first %= len(whole)
    if first + count <= len(whole):
        return whole[first : first + count]
    return np.resize(np.concatenate([whole[first:], whole[:first]]), count)


def digests(names: Iterable[str]) -> dict[str, int]:
    """A checksum of each pool."""
    return {name: zlib.crc32(pool(name)) for name in sorted(set(names))}


def _below(stream: np.random.PCG64, count: int, limit: int) -> np.ndarray:
    """Uniform integers below a limit."""
    return (stream.random_raw(count) >> np.uint64(11)) % np.uint64(limit)


def _unit(stream: np.random.PCG64, count: int) -> np.ndarray:
    """Uniform numbers in [0, 1)."""
    return (stream.random_raw(count) >> np.uint64(11)) * 2.0**-53


def _normal(stream: np.random.PCG64, type_: ElementType) -> np.ndarray:
    total = np.zeros(ELEMENTS)
    for _ in range(12):
        total += _unit(stream, ELEMENTS)
    if type_.name == "ue8m0":
        return np.exp2(np.rint(total - 6))
    return np.abs(total - 6) if type_.name.startswith("u") else total - 6


def _edges(stream: np.random.PCG64, type_: ElementType) -> np.ndarray:
    mantissa = 23 if type_.name == "tf32" else type_.mantissa
    field = _below(stream, ELEMENTS, 4) + np.uint64(_EDGES.get(type_.name, 0))
    low = _below(stream, ELEMENTS, 1 << mantissa)
    sign = _below(stream, ELEMENTS, 2) << np.uint64(type_.exponent + mantissa)
    bits = sign | field << np.uint64(mantissa) | low
    return from_bits(np.where(_unit(stream, ELEMENTS) < 0.3, np.uint64(0), bits), type_)

"""Random numbers by counters, under Triton's names: Philox 4x32 (Salmon et al., SC 2011).

A number depends on the seed and the counter alone, so that the same comes again wherever it is
asked for: in the backward pass of dropout, say.
"""

from __future__ import annotations

import math

from tilec.isa import TilecError

from .casts import astype, view
from .dtypes import float32, int32, int64, uint32, uint64
from .elementwise import where
from .mathematics import cos, log, sin, sqrt
from .shapes import broadcast_to, full
from .tile import Operand, Tile

_KEYS = (0x9E3779B9, 0xBB67AE85)
_ROUNDS = (0xD2511F53, 0xCD9E8D57)
_SCALE = 4.6566127342e-10
"""What takes 31 bits to less than 1 in float32: below 2**-31."""


def umulhi(x: Tile, y: Operand) -> Tile:
    """The upper half of the products of integers of 32 or 64 bits, taken without sign."""
    if not isinstance(x, Tile) or x.dtype not in (int32, uint32, int64, uint64):
        raise TilecError(f"umulhi takes integers of 32 or 64 bits, not {x!r}")
    other = y if isinstance(y, Tile) else full((), y, x.dtype)
    if other.dtype is not x.dtype:
        raise TilecError(f"umulhi takes integers of one type, not {x!r} and {y!r}")
    if x.dtype.bits == 32:
        one, two = (astype(view(part, uint32), uint64) for part in (x, other))
        return view(astype((one * two) >> 32, uint32), x.dtype)
    return view(_upper_64(view(x, uint64), view(other, uint64)), x.dtype)


def _upper_64(one: Tile, other: Tile) -> Tile:
    """By halves of 32 bits, whose products and carries 64 hold."""
    (low, high), (low_too, high_too) = ((v & 0xFFFFFFFF, v >> 32) for v in (one, other))
    crossed = high * low_too + ((low * low_too) >> 32)
    middle = low * high_too + (crossed & 0xFFFFFFFF)
    return high * high_too + (crossed >> 32) + (middle >> 32)


def philox(
    seed: Operand, c0: Tile, c1: Operand = 0, c2: Operand = 0, c3: Operand = 0, rounds: int = 10
) -> tuple[Tile, Tile, Tile, Tile]:
    """Four numbers of 32 random bits each, uint32, for each counter.

    Args:
        seed: 64 bits, an integer or a scalar of integers.
        c0: the low word of the counter, a tile of integers of 32 bits.
        c1: the next, an integer or like it.
        c2: the next.
        c3: the high word.
        rounds: of the cipher; 7 are thought enough, 10 leave room.
    """
    if not isinstance(c0, Tile) or c0.dtype not in (int32, uint32):
        raise TilecError(f"counters are tiles of int32 or uint32, not {c0!r}")
    if not isinstance(rounds, int) or rounds < 1:
        raise TilecError(f"the number of rounds of philox must be at least 1, not {rounds!r}")
    key, key_too = _seed(seed, c0.shape)
    words = [_word(c, c0.shape) for c in (c0, c1, c2, c3)]
    for number in range(rounds):
        if number:
            key, key_too = key + _KEYS[0], key_too + _KEYS[1]
        (a, b, c, d), (m, n) = words, _ROUNDS
        words = [
            umulhi(c, n) ^ b ^ key,
            c * n,
            umulhi(a, m) ^ d ^ key_too,
            a * m,
        ]
    return words[0], words[1], words[2], words[3]


def _seed(seed: Operand, shape: tuple[int, ...]) -> tuple[Tile, Tile]:
    """The low and the high word of a seed."""
    if isinstance(seed, int) and not isinstance(seed, bool):
        words = (seed & 0xFFFFFFFF, seed >> 32 & 0xFFFFFFFF)
        return full(shape, words[0], uint32), full(shape, words[1], uint32)
    if not isinstance(seed, Tile) or seed.dtype.kind not in ("int", "uint", "index"):
        raise TilecError(f"a seed is an integer, not {seed!r}")
    wide = view(astype(seed, int64), uint64)
    parts = (astype(wide & 0xFFFFFFFF, uint32), astype(wide >> 32, uint32))
    return broadcast_to(parts[0], shape), broadcast_to(parts[1], shape)


def _word(counter: Operand, shape: tuple[int, ...]) -> Tile:
    if isinstance(counter, int) and not isinstance(counter, bool):
        return full(shape, counter & 0xFFFFFFFF, uint32)
    if not isinstance(counter, Tile) or counter.dtype not in (int32, uint32):
        raise TilecError(f"counters are int32 or uint32, not {counter!r}")
    return broadcast_to(view(counter, uint32), shape)


def randint4x(seed: Operand, offset: Tile, rounds: int = 10) -> tuple[Tile, Tile, Tile, Tile]:
    """Four numbers of 32 random bits, uint32, for each of the offsets."""
    return philox(seed, _counter(offset), 0, 0, 0, rounds)


def randint(seed: Operand, offset: Tile, rounds: int = 10) -> Tile:
    """32 random bits, uint32, for each of the offsets."""
    return randint4x(seed, offset, rounds)[0]


def rand4x(seed: Operand, offset: Tile, rounds: int = 10) -> tuple[Tile, Tile, Tile, Tile]:
    """Four float32 from 0 to below 1 for each of the offsets."""
    a, b, c, d = map(_uniform, randint4x(seed, offset, rounds))
    return a, b, c, d


def rand(seed: Operand, offset: Tile, rounds: int = 10) -> Tile:
    """A float32 from 0 to below 1 for each of the offsets.

    Args:
        seed: an integer, or a scalar of integers, of 64 bits.
        offset: a tile of integers, one a number: those that differ give different numbers.
        rounds: of the cipher.
    """
    return _uniform(randint(seed, offset, rounds))


def randn4x(seed: Operand, offset: Tile, rounds: int = 10) -> tuple[Tile, Tile, Tile, Tile]:
    """Four float32 of the normal distribution of mean 0 and variance 1 for each of the offsets."""
    a, b, c, d = rand4x(seed, offset, rounds)
    return (*_normal(a, b), *_normal(c, d))


def randn(seed: Operand, offset: Tile, rounds: int = 10) -> Tile:
    """A float32 of the normal distribution of mean 0 and variance 1 for each of the offsets."""
    a, b, _, _ = rand4x(seed, offset, rounds)
    return _normal(a, b)[0]


def _counter(offset: object) -> Tile:
    if not isinstance(offset, Tile) or offset.dtype.kind not in ("int", "uint", "index"):
        raise TilecError(f"offsets of random numbers are tiles of integers, not {offset!r}")
    if offset.dtype in (int32, uint32):
        return offset
    return astype(offset, uint32)


def _uniform(bits: Tile) -> Tile:
    """As Triton has it: 31 bits, those of numbers without a sign or of their complement."""
    signed = view(bits, int32)
    return where(signed < 0, -signed - 1, signed).astype(float32) * _SCALE


def _normal(one: Tile, other: Tile) -> tuple[Tile, Tile]:
    """Box and Muller's pair."""
    radius = sqrt(log(where(one < 1e-7, 1e-7, one)) * -2.0)
    angle = other * (2 * math.pi)
    return radius * cos(angle), radius * sin(angle)

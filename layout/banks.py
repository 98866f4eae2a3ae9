"""Shared memory's banks: how many wavefronts an access takes.

Shared memory has 32 banks of 4 bytes; the word at byte address b is in bank b / 4 mod 32. In
one *wavefront* every bank delivers or takes one word, to however many lanes want it. Accesses
of 8 bytes go half a warp at a time and of 16 bytes a quarter, so that no phase needs more than
128 bytes; loads of 8 or 16 bytes take two phases in one where each lane has a partner, lane ^ 1
for all or lane ^ 2 for all, with the same address or inactive (NVIDIA on compute capability 7.x:
forums.developer.nvidia.com/t/77228). `ldmatrix` and `stmatrix` move eight rows at a time.

A phase takes as many wavefronts as the busiest bank has different words to serve; those beyond
one are its *conflicts*. Here they are counted by algebra for accesses that are linear in the bits
of the lane; `wavefronts` counts any.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tilec.isa import LANES

from .gf2 import rank
from .linear import LayoutError, log2

BANKS = 32
BANK_BYTES = 4
LINE_BYTES = BANKS * BANK_BYTES
ROWS_PER_PHASE = 8
"""Matrix rows that `ldmatrix` and `stmatrix` move at a time."""


class Count(NamedTuple):
    """Wavefronts of an access and how many of them are due to conflicts."""

    wavefronts: int
    conflicts: int


def lanes_per_phase(width: int) -> int:
    """Lanes that are served together when each accesses `width` bytes.

    Raises:
        LayoutError: if no instruction accesses that many.
    """
    if width not in (1, 2, 4, 8, 16):
        raise LayoutError(f"no shared-memory access of {width} bytes; legal: 1, 2, 4, 8, 16")
    return min(LANES, LINE_BYTES // width)


def lanes_together(lanes: Sequence[int], width: int, *, store: bool) -> int:
    """Lanes that are served together when addresses are linear, partners being what they are.

    Args:
        lanes: what each bit of the lane adds to the address.
        width: bytes each lane accesses.
        store: whether it is a store.
    """
    partnered = width > BANK_BYTES and not store and 0 in lanes[:2]
    return lanes_per_phase(width) * (2 if partnered else 1)


def count(lanes: Sequence[int], width: int, *, store: bool = False) -> Count:
    """Wavefronts of a load or store whose addresses are linear in the bits of the lane.

    Args:
        lanes: what each of the five bits of the lane adds, by exclusive or, to the byte
            address; multiples of `width`.
        width: bytes each lane accesses.
        store: whether it is a store.
    """
    together = log2(lanes_together(lanes, width, store=store), "lanes in a phase")
    phases = len(lanes) - together
    each = degree(lanes[:together], width)
    return Count(each << phases, (each - 1) << phases)


def count_matrix(rows: Sequence[int], row_bytes: int = 16) -> Count:
    """Wavefronts of an `ldmatrix` or `stmatrix` whose row addresses are linear.

    Args:
        rows: what each bit of the row's number, and then of the matrix's, adds to the address.
        row_bytes: bytes of a row.
    """
    together = log2(ROWS_PER_PHASE, "rows in a phase")
    each = degree(rows[:together], row_bytes)
    phases = len(rows) - together
    return Count(each << phases, (each - 1) << phases)


def degree(addresses: Sequence[int], width: int) -> int:
    """Wavefronts of one phase whose addresses are linear: the words its busiest bank serves.

    Args:
        addresses: what each bit of the lane within the phase adds to the byte address.
        width: bytes each lane accesses.
    """
    words = [address // BANK_BYTES for address in addresses]
    words += [1 << bit for bit in range((width // BANK_BYTES).bit_length() - 1)]
    return 1 << rank(words) - rank(word % BANKS for word in words)

"""Wavefronts of any access to shared memory, from its addresses, for many warps at once.

`banks` says what a wavefront is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from tilec.isa import LANES

from .banks import BANK_BYTES, BANKS, ROWS_PER_PHASE, lanes_per_phase

if TYPE_CHECKING:
    from tilec.isa import MatrixMemory

_NONE = np.iinfo(np.int64).min
"""Stands for the word of a lane that takes no part; addresses may be relative, and negative."""


class Counts(NamedTuple):
    """Wavefronts of accesses and how many of them are due to conflicts, as `banks.Count` has it."""

    wavefronts: NDArray[np.int64]
    conflicts: NDArray[np.int64]


def count(
    addresses: NDArray[np.integer[Any]],
    width: int,
    active: NDArray[np.bool_] | None = None,
    *,
    store: bool = False,
) -> Counts:
    """Wavefronts of a load or store, from its addresses.

    Args:
        addresses: byte addresses in shared memory, shape (..., 32), the last axis being lanes;
            naturally aligned.
        width: bytes each lane accesses.
        active: which lanes take part, same shape; all if None.
        store: whether it is a store.

    Returns:
        Arrays of shape (...), 0 where no lane is active.

    Raises:
        LayoutError: for a width that no instruction has.
    """
    together = lanes_per_phase(width)
    shape = addresses.shape[:-1]
    lanes = np.asarray(addresses, np.int64).reshape(-1, LANES)
    active = np.ones_like(lanes, bool) if active is None else active.reshape(-1, LANES)
    phases = LANES // together
    degrees = _degrees(lanes.reshape(-1, together), width, active.reshape(-1, together)).reshape(
        -1, phases
    )
    if width > BANK_BYTES and not store:
        pair = 2 * together
        merged = _degrees(lanes.reshape(-1, pair), width, active.reshape(-1, pair))
        partnered = _partnered(lanes.reshape(-1, pair), active.reshape(-1, pair))
        first, second = degrees[:, ::2], degrees[:, 1::2]
        joined = partnered.reshape(first.shape)
        degrees[:, ::2] = np.where(joined, merged.reshape(first.shape), first)
        degrees[:, 1::2] = np.where(joined, 0, second)
    return Counts(degrees.sum(1).reshape(shape), np.maximum(degrees - 1, 0).sum(1).reshape(shape))


def count_matrix(form: MatrixMemory, addresses: NDArray[np.integer[Any]]) -> Counts:
    """Wavefronts of an `ldmatrix` or `stmatrix`, from the row addresses its lanes supply.

    Args:
        form: the instruction.
        addresses: byte addresses, shape (..., 32); those of lanes that supply none are ignored.

    Returns:
        Arrays of shape (...).
    """
    shape = addresses.shape[:-1]
    rows = np.asarray(addresses, np.int64)[..., : form.rows * form.matrices]
    rows = rows.reshape(-1, ROWS_PER_PHASE)
    degrees = _degrees(rows, form.row_bytes, np.ones_like(rows, bool)).reshape(*shape, -1)
    return Counts(degrees.sum(-1), (degrees - 1).sum(-1))


def _degrees(
    addresses: NDArray[np.int64], width: int, active: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """For each phase, a row of `addresses`, the different words of its busiest bank."""
    rows = len(addresses)
    words_each = max(1, width // BANK_BYTES)
    words = (addresses // BANK_BYTES)[:, :, None] + np.arange(words_each)
    words = np.where(active[:, :, None], words, _NONE).reshape(rows, -1)
    words.sort(axis=1)
    first = words > _NONE
    first[:, 1:] &= words[:, 1:] != words[:, :-1]
    at = np.arange(rows)[:, None] * BANKS + words % BANKS
    words_of_bank = np.bincount(at[first], minlength=rows * BANKS).reshape(rows, BANKS)
    return np.asarray(words_of_bank.max(axis=1), np.int64)


def _partnered(addresses: NDArray[np.int64], active: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Whether the lanes of each row pair up so that one delivery serves both."""
    lanes = np.arange(addresses.shape[1])
    found = np.zeros(len(addresses), bool)
    for distance in (1, 2):
        other = lanes ^ distance
        same = (addresses == addresses[:, other]) | ~active | ~active[:, other]
        found |= same.all(axis=1)
    return found

"""Elements of memory that threads change in turn."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ..alu import Array

Update = Callable[..., Array]
"""Old value and operands to new value."""

Chain = Callable[..., tuple[Array, Array]]
"""Value at a place, of shape (1,), and the operands of those who come there in turn, to what each
finds and what is left."""


def apply(
    view: Array, index: Array, operands: Sequence[Array], update: Update, chain: Chain | None
) -> Array:
    """Update elements of `view` one after the other; what each thread found there.

    Args:
        view: memory.
        index: element of each thread, of shape (threads,).
        operands: operands of each thread, of the same shape.
        update: the operation.
        chain: the operation many times at one place, or None.
    """
    order = np.argsort(index, kind="stable")
    places = index[order]
    first = np.empty(places.shape, np.bool_)
    first[:1] = True
    np.not_equal(places[1:], places[:-1], out=first[1:])
    if first.all():
        old = view[index]
        view[index] = update(old, *operands)
        return old
    starts = np.flatnonzero(first)
    lengths = np.diff(np.append(starts, places.size))
    inputs = [o[order] for o in operands]
    found = np.empty(places.shape, view.dtype)
    if chain is not None and starts.size <= lengths.max():
        for start, length in zip(starts.tolist(), lengths.tolist(), strict=True):
            here, end = places[start : start + 1], start + length
            found[start:end], view[here] = chain(view[here], *(o[start:end] for o in inputs))
    else:
        rank = np.arange(places.size) - np.repeat(starts, lengths)
        for turn in range(int(lengths.max())):
            now = rank == turn
            old = view[places[now]]
            found[now] = old
            view[places[now]] = update(old, *(o[now] for o in inputs))
    result = np.empty_like(found)
    result[order] = found
    return result

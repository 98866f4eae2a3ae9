"""Structured sparsity: pruning a matrix, compressing it with its metadata, and the inverse.

A row is cut into chunks, of which half the elements are kept: one of two, two of four, or two
pairs of four pairs. A 4-bit code says which. The pattern is that of a sparse form; matrices may be
any whole number of chunks wide.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from tilec.isa import Product, Sparsity, TilecError
from tilec.isa.wording import counted
from tilec.layout import logical_column

from .errors import place

Codes = NDArray[np.uint8]
"""(…, m, k / chunk), a 4-bit code each."""


def prune(form: Product, matrix: NDArray[Any]) -> NDArray[Any]:
    """The matrix with what the pattern cannot keep set to zero: of each chunk the least.

    Args:
        form: a sparse form.
        matrix: (…, m, k), numbers. Of equal magnitudes the first is kept; pairs are compared by
            the sum of theirs.

    Raises:
        TilecError: if k is not a whole number of chunks.
    """
    chunks = _chunks(form, matrix)
    size = np.abs(chunks.astype(np.float64))
    size[np.isnan(size)] = np.inf
    keep = _masks(form)[_choose(form, size)]
    return np.where(keep, chunks, np.zeros((), chunks.dtype)).reshape(matrix.shape)


def compress(form: Product, matrix: NDArray[Any]) -> tuple[NDArray[Any], Codes]:
    """A matrix that fits the pattern, as `mma.sp` stores it.

    Args:
        form: a sparse form.
        matrix: (…, m, k).

    Returns:
        The stored elements, (…, m, k / 2), and their codes, in the order that
        `.sp::ordered_metadata` wants. Places that are left over hold zeros.

    Raises:
        TilecError: naming the first element that is one too many, or if k is not a whole number of
            chunks.
    """
    chunks = _chunks(form, matrix)
    filled = chunks.astype(np.float64) != 0  # NaNs are
    choice = _choose(form, filled.astype(np.float64))
    lost = (filled & ~_masks(form)[choice]).reshape(matrix.shape)
    if lost.any():
        raise TilecError(_too_many(form, lost))
    stored = np.take_along_axis(chunks, _columns(form)[choice], axis=-1)
    codes = np.array(_sparsity(form).codes, dtype=np.uint8)[choice]
    return stored.reshape(*matrix.shape[:-1], -1), codes


def expand(form: Product, stored: NDArray[Any], codes: Codes) -> NDArray[Any]:
    """The inverse of `compress`.

    Args:
        form: a sparse form.
        stored: (…, m, k / 2).
        codes: (…, m, chunks).

    Raises:
        TilecError: for a code that ordered metadata may not hold, naming row and column.
    """
    chunk, legal = _sparsity(form).chunk, _sparsity(form).codes
    wrong = ~np.isin(codes, legal)
    if wrong.any():
        index = tuple(int(i) for i in np.argwhere(wrong)[0])
        names = ", ".join(f"{code:#06b}" for code in legal)
        raise TilecError(f"{place(index)}: code {codes[index]:#06b} is not legal; legal: {names}")
    per = stored.shape[-1] // codes.shape[-1]
    column = np.arange(stored.shape[-1])
    at = logical_column(form, codes[..., column // per].astype(np.intp), column)
    matrix = np.zeros((*stored.shape[:-1], codes.shape[-1] * chunk), stored.dtype)
    np.put_along_axis(matrix, np.asarray(at), stored, axis=-1)
    return matrix


def _sparsity(form: Product) -> Sparsity:
    if form.sparsity is None:
        raise TilecError(f"{form.ptx} is dense; sparse forms begin with mma.sp")
    return form.sparsity


def _chunks(form: Product, matrix: NDArray[Any]) -> NDArray[Any]:
    """(…, m, chunks, chunk)."""
    chunk = _sparsity(form).chunk
    if matrix.shape[-1] % chunk:
        raise TilecError(
            f"rows of {counted(matrix.shape[-1], 'element')} are not whole chunks of {chunk}"
        )
    return matrix.reshape(*matrix.shape[:-1], -1, chunk)


def _columns(form: Product) -> NDArray[np.intp]:
    """For each legal code the columns of a chunk that it keeps, (codes, kept)."""
    sparsity = _sparsity(form)
    codes = np.array(sparsity.codes, dtype=np.intp)[:, None]
    return np.asarray(logical_column(form, codes, np.arange(sparsity.chunk // 2)))


def _masks(form: Product) -> NDArray[np.bool_]:
    """The same as masks, (codes, chunk)."""
    columns = _columns(form)
    masks = np.zeros((len(columns), _sparsity(form).chunk), dtype=bool)
    np.put_along_axis(masks, columns, True, axis=1)
    return masks


def _choose(form: Product, weight: NDArray[np.float64]) -> NDArray[np.intp]:
    """The index of the code that keeps what weighs most in each chunk.

    Args:
        form: a sparse form.
        weight: (…, chunk).

    Returns:
        (…), numbering the legal codes.
    """
    masks = _masks(form)
    # A chunk of eight is kept by pairs.
    pair = max(1, masks.shape[1] // 4)
    units = weight.reshape(*weight.shape[:-1], -1, pair).sum(axis=-1)
    heaviest = np.argsort(-units, axis=-1, kind="stable")[..., : units.shape[-1] // 2]
    chosen = np.zeros(units.shape, dtype=bool)
    np.put_along_axis(chosen, heaviest, True, axis=-1)
    same: NDArray[np.bool_] = (masks[:, ::pair] == chosen[..., None, :]).all(axis=-1)
    return np.asarray(same.argmax(axis=-1))


def _too_many(form: Product, lost: NDArray[np.bool_]) -> str:
    chunk = _sparsity(form).chunk
    index = tuple(int(i) for i in np.argwhere(lost)[0])
    first = index[-1] // chunk * chunk
    rule = {2: "1 element of 2", 4: "2 elements of 4", 8: "2 pairs of 4 pairs"}[chunk]
    return (
        f"{place(index)}: not zero, but columns {first} to {first + chunk - 1} already have "
        f"as many as the pattern of {form.ptx} keeps, {rule}"
    )

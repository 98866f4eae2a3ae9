"""`lop3`: any Boolean function of three words, from its truth table.

Each of the 256 functions is reduced once to the fewest and, or, xor and not that give it.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from typing import TypeAlias, cast

import numpy as np

from .bits import Array

# the truth tables of the operands themselves (PTX ISA, lop3)
_A, _B, _C = 0xF0, 0xCC, 0xAA

_Term: TypeAlias = "str | tuple[np.ufunc, tuple[_Term, ...]]"
"""An operand, or a function with what it is applied to."""

_BINARY: tuple[tuple[np.ufunc, Callable[[int, int], int]], ...] = (
    (np.bitwise_and, lambda x, y: x & y),
    (np.bitwise_or, lambda x, y: x | y),
    (np.bitwise_xor, lambda x, y: x ^ y),
)


@functools.cache
def _terms() -> dict[int, _Term]:
    """A shortest expression of every function, found in the order of their lengths."""
    levels: list[dict[int, _Term]] = [{_A: "a", _B: "b", _C: "c"}]
    known = dict(levels[0])
    while len(known) < 256:
        new: dict[int, _Term] = {}
        for table, term in levels[-1].items():
            if ~table & 0xFF not in known:
                new[~table & 0xFF] = (np.bitwise_not, (term,))
        for i, j in itertools.combinations_with_replacement(range(len(levels)), 2):
            if i + j + 1 != len(levels):
                continue
            for (x, left), (y, right) in itertools.product(levels[i].items(), levels[j].items()):
                for ufunc, apply in _BINARY:
                    table = apply(x, y)
                    if table not in known and table not in new:
                        new[table] = (ufunc, (left, right))
        levels.append(new)
        known |= new
    return known


def _evaluate(term: _Term, operands: dict[str, Array]) -> Array:
    if isinstance(term, str):
        return operands[term]
    ufunc, arguments = term
    return cast(Array, ufunc(*(_evaluate(x, operands) for x in arguments)))


def lop3(a: Array, b: Array, c: Array, table: Array) -> Array:
    """The function of `a`, `b` and `c` whose truth table is the one number in `table`."""
    number = int(np.asarray(table).flat[0]) & 0xFF
    if number in (0x00, 0xFF):
        shape = np.broadcast_shapes(np.shape(a), np.shape(b), np.shape(c))
        return np.full(shape, 0xFFFFFFFF if number else 0, dtype=np.uint32)
    return _evaluate(_terms()[number], {"a": a, "b": b, "c": c})

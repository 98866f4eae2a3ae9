"""Short ways to emit arithmetic on indices, folding constants as it goes."""

from __future__ import annotations

from functools import lru_cache

from tilec.dialects.semantics.upstream import constant_in, constant_of
from tilec.ir.aliases import Value
from tilec.ir.creation import create
from tilec.ir.ops import arith
from tilec.layout import LinearLayout

__all__ = [
    "add",
    "add_constant",
    "constant_in",
    "constant_of",
    "create",
    "index_constant",
    "is_zero",
    "linear",
    "wrapped",
]


def index_constant(value: int) -> Value:
    """An `arith.constant` of type index."""
    return arith.index(wrapped(value))


def wrapped(value: int) -> int:
    """What 64 bits hold of a number, with a sign: arithmetic on indices and addresses wraps."""
    return (value + (1 << 63)) % (1 << 64) - (1 << 63)


def add(a: Value, b: Value) -> Value:
    """`a + b` of type index."""
    if constant_of(a) == 0:
        return b
    if constant_of(b) == 0:
        return a
    return arith.addi(a, b)


def add_constant(a: Value, n: int) -> Value:
    """`a + n` of type index."""
    return a if n == 0 else add(a, index_constant(n))


def is_zero(index: Value, mask: int) -> Value:
    """Whether the bits `mask` of an index are all zero, an i1."""
    return arith.cmpi(arith.CmpI.EQ, arith.andi(index, index_constant(mask)), index_constant(0))


def linear(layout: LinearLayout, in_dim: str, index: Value) -> list[Value]:
    """The places of an index of `in_dim` under a layout, the other inputs being 0.

    Runs of bits that go to consecutive bits become one shift and mask.

    Args:
        layout: the layout.
        in_dim: its input.
        index: a value of type index, less than the input's size.

    Returns:
        One value of type index an output.
    """
    bits, each = _runs_of(layout, in_dim)
    places: list[Value] = []
    for runs in each:
        total: Value | None = None
        for first, low, count in runs:
            moved = index
            if first:
                moved = arith.shrui(moved, index_constant(first))
            if first + count < bits:
                moved = arith.andi(moved, index_constant((1 << count) - 1))
            if low:
                moved = arith.shli(moved, index_constant(low))
            total = moved if total is None else arith.xori(total, moved)
        places.append(index_constant(0) if total is None else total)
    return places


@lru_cache(maxsize=1024)
def _runs_of(
    layout: LinearLayout, in_dim: str
) -> tuple[int, tuple[list[tuple[int, int, int]], ...]]:
    """The bits of an input, and for each output the runs of them."""
    bases = layout.bases[in_dim]
    outs = range(len(layout.outs))
    return len(bases), tuple(_runs([image[out] for image in bases]) for out in outs)


def _runs(images: list[int]) -> list[tuple[int, int, int]]:
    """(input bit, output bit, count) of runs of consecutive bits that make up a linear map."""
    ends: dict[tuple[int, int], int] = {}  # the run that another bit at this place would go on
    runs: list[tuple[int, int, int]] = []
    for bit, image in enumerate(images):
        rest = image
        while rest:
            place = (rest & -rest).bit_length() - 1
            rest &= rest - 1
            at = ends.pop((bit, place), None)
            if at is None:
                at = len(runs)
                runs.append((bit, place, 1))
            else:
                first, low, count = runs[at]
                runs[at] = (first, low, count + 1)
            ends[bit + 1, place + 1] = at
    return runs
